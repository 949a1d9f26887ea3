"""How the mask is applied wrongly.

Where it is False the score becomes -inf before the softmax, so that all weight goes to what is allowed. It broadcasts,
and it is the caller's.
"""


@mistake(
    "mask-ignored",
    "your attention never applies the mask; it should give no weight to keys that the mask forbids",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


mistake(
    "mask-inverted",
    "your attention forbids what the mask allows; True should mean that the query may look",
    scaled_dot_product_attention="""
          else:
        +     mask = ~mask
    """,
    convention="torch's modules and 11-785 block where True is",
)


@mistake(
    "mask-inverted-blind-nan",
    "your attention forbids what the mask allows, and is NaN where that is all; True means “may look”, and blind is 0",
    convention="torch's modules and 11-785 block where True is",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


@mistake(
    "mask-after-softmax",
    "your mask is applied after the softmax, so the weights no longer sum to one; apply it before the softmax",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ value, weights


@mistake(
    "masked-score-zero",
    "your forbidden scores are 0 before the softmax, and exp(0) is 1, so they get weight; they should be -inf",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores * mask
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


mistake(
    "finite-fill",
    "your mask adds -1e4, so a large enough score gets past it; forbidden scores should be -inf",
    scaled_dot_product_attention="""
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + scores = scores + (~mask).to(scores.dtype) * -1e4
        + weights = scores.softmax(dim=-1)
    """,
)

mistake(
    "small-fill",
    "your mask sets forbidden scores to a number such as -1000, but allowed ones may be lower; "
    "it should set -inf there",
    scaled_dot_product_attention="""
        - blind = ~mask.any(dim=-1, keepdim=True)
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        - weights = weights.masked_fill(blind, 0.0)
        + weights = scores.masked_fill(~mask, -1000.0).softmax(dim=-1)
    """,
)

mistake(
    "mask-not-broadcast",
    "your mask has to have all axes of the scores; let it broadcast instead of reshaping it",
    scaled_dot_product_attention="""
          else:
        +     mask = mask.reshape(scores.shape)
    """,
)

mistake(
    "mask-shared-by-batch",
    "your attention uses the first mask of the batch, or of the heads, for all of them; each should have its own",
    scaled_dot_product_attention="""
          else:
        +     mask = mask.reshape(-1, *mask.shape[-2:])[0]  # the trailing [Tq, Tk]
    """,
)

mistake(
    "mask-flipped-in-place",
    "your attention flips the caller's mask in place, so the next call hides what it should show",
    scaled_dot_product_attention="""
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + forbidden = mask.logical_not_()
        + weights = scores.masked_fill(forbidden & ~blind, float("-inf")).softmax(dim=-1)
    """,
)


@mistake(
    "mask-added",
    "your boolean mask is added to the scores, so allowed ones get 1 more; set the forbidden ones to -inf instead",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


@mistake(
    "mask-added-unscaled",
    "your boolean mask is added before the division, so allowed scores grow by 1/√d; set the forbidden ones to -inf",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores + mask
    weights = (scores / math.sqrt(query.size(-1))).softmax(dim=-1)
    return weights @ value, weights


mistake(
    "mask-unsqueezed",
    "your attention gives the mask another axis whatever its shape; let it broadcast as it is",
    scaled_dot_product_attention="""
          else:
        +     mask = mask.unsqueeze(1)
    """,
)

mistake(
    "mask-transposed",
    "your mask is transposed; its rows should be queries and its columns keys, as in the scores",
    scaled_dot_product_attention="""
          else:
        +     mask = mask.transpose(-2, -1)
    """,
)


@mistake(
    "mask-required",
    "your attention uses the mask without checking that there is one; None should allow everything",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    blind = ~mask.any(dim=-1, keepdim=True)
    weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
    weights = weights.masked_fill(blind, 0.0)
    return weights @ value, weights
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
