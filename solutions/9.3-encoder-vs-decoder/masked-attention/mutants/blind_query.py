"""What becomes of a query that may look at nothing.

A softmax over nothing but -inf is 0/0. Such a query gets zero weights and a zero output, and no NaN in the gradient.
"""


@mistake(
    "blind-query-nan",
    "your softmax gives NaN to a query that may attend to nothing; the weights and output of such a query should be 0",
    convention="most courses leave it open",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


mistake(
    "blind-query-nan-gradient",
    "your NaN is replaced in the output, not in the gradient; a row with no allowed key should have finite scores",
    scaled_dot_product_attention="""
        - blind = ~mask.any(dim=-1, keepdim=True)
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        - weights = weights.masked_fill(blind, 0.0)
        + additive = torch.zeros(mask.shape, dtype=scores.dtype, device=mask.device)
        + weights = (scores + additive.masked_fill(~mask, float("-inf"))).softmax(dim=-1).nan_to_num(0.0)
    """,
)

mistake(
    "blind-query-uniform",
    "your finite fill lets a query that may attend to nothing look at everything equally; its weights should be 0",
    scaled_dot_product_attention="""
        - blind = ~mask.any(dim=-1, keepdim=True)
        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        - weights = weights.masked_fill(blind, 0.0)
        + weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
    """,
    convention="most courses leave it open",
)

mistake(
    "module-blind-query-nan",
    "your module's query that may attend to nothing is NaN, as a softmax over nothing but -inf is 0/0",
    MultiHeadAttention="""
        - heads, _ = scaled_dot_product_attention(q, k, v, mask)  # [B, H, T, d]
        + scores = q @ k.mT / math.sqrt(q.size(-1))
        + if mask is not None:
        +     scores = scores.masked_fill(~mask, float("-inf"))
        + heads = scores.softmax(dim=-1) @ v
    """,
    convention="most courses leave it open",
)

mistake(
    "module-blind-query-uniform",
    "your module's query that may attend to nothing gets a finite fill, so it looks at everything equally",
    MultiHeadAttention="""
        - heads, _ = scaled_dot_product_attention(q, k, v, mask)  # [B, H, T, d]
        + scores = q @ k.mT / math.sqrt(q.size(-1))
        + if mask is not None:
        +     scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        + heads = scores.softmax(dim=-1) @ v
    """,
    convention="most courses leave it open",
)


@mistake(
    "blind-query-weights-nan",
    "your NaN is replaced in the output and left in the weights; make none, by finite scores before the softmax",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return (weights @ value).nan_to_num(0.0), weights
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
