"""What scaled dot-product attention gets wrong before there is a mask.

Scores are divided by the root of the keys' width; each query's weights sum to one; any axes may come first.
"""

mistake(
    "unscaled",
    "your scores are not scaled; they should be divided by √d",
    scaled_dot_product_attention="""
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1)
    """,
)

mistake(
    "scaled-by-width",
    "your scores are divided by d; they should be divided by its square root",
    scaled_dot_product_attention="math.sqrt(query.size(-1)) -> query.size(-1)",
)

mistake(
    "scaled-by-a-constant",
    "your scores are divided by 8; it should be √d, whatever the width d",
    scaled_dot_product_attention="math.sqrt(query.size(-1)) -> 8.0",
)

mistake(
    "softmax-over-queries",
    "your softmax runs over the queries; the weights of each query should sum to one, not those of each key",
    scaled_dot_product_attention="""
        - weights = scores.softmax(dim=-1)
        + weights = scores.softmax(dim=-2)

        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-2)
    """,
)


@mistake(
    "exp-overflow",
    "your softmax takes exp of large scores, so it overflows; subtract each row's maximum first",
)
def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    powers = scores.exp() if mask is None else scores.exp() * mask
    total = powers.sum(dim=-1, keepdim=True)
    weights = powers / total.masked_fill(total == 0, 1.0)
    return weights @ value, weights


mistake(
    "gradient-detached",
    "your weights are cut from the graph, so query and key get no gradient; let the gradient go through the weights",
    scaled_dot_product_attention="""
              weights = weights.masked_fill(blind, 0.0)
        + weights = weights.detach()
    """,
)

mistake(
    "float32-result",
    "your results are float32 whatever the inputs are; cast them back to the dtype of the query",
    scaled_dot_product_attention="""
        + dtype = torch.float32
        + query, key, value = query.to(dtype), key.to(dtype), value.to(dtype)
          scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    """,
)

mistake(
    "four-axes-only",
    "your function unpacks four axes; it must take any number of leading axes, also none",
    scaled_dot_product_attention="""
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + B, H, Tq, d = query.shape
        + scores = (query @ key.transpose(-2, -1) / math.sqrt(d)).view(B, H, Tq, key.size(2))
    """,
)

mistake(
    "weights-missing",
    "your function returns only the output; it should return the weights with it",
    scaled_dot_product_attention="weights @ value, weights -> weights @ value",
    MultiHeadAttention="heads, _ -> heads",
    costs="the weights, which most checks of the function look at, are not there",
)

mistake(
    "torch-attention",
    "your output comes from torch's own attention operator; write it with a product, a softmax and a product",
    scaled_dot_product_attention="""
        - return weights @ value, weights
        + return F.scaled_dot_product_attention(query, key, value, attn_mask=mask), weights
    """,
    costs="all of it rests on what the kata excludes",
)

import torch.nn.functional as F

mistake(
    "scores-multiplied",
    "your scores are multiplied by √d; they should be divided by it",
    scaled_dot_product_attention="""
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))
    """,
)

mistake(
    "scaled-by-length",
    "your scores are divided by the root of how many keys there are; it should be √d, the width of a key",
    scaled_dot_product_attention="query.size(-1) -> key.size(-2)",
)

mistake(
    "scaled-by-value-width",
    "your scores are divided by the root of the values' width; it should be √d, the width of a key",
    scaled_dot_product_attention="query.size(-1) -> value.size(-1)",
)

mistake(
    "softmax-without-dim",
    "your softmax has no dim, so it runs over axis 1 of four, the heads; it should run over the keys, dim=-1",
    scaled_dot_product_attention="""
        - weights = scores.softmax(dim=-1)
        + weights = F.softmax(scores)

        - weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        + weights = F.softmax(scores.masked_fill(~(mask | blind), float("-inf")))
    """,
)

import torch.nn.functional as F

mistake(
    "axes-counted-from-the-front",
    "your axes are counted from the front; count the last two as -2 and -1, however many come before them",
    scaled_dot_product_attention="key.transpose(-2, -1) -> key.transpose(2, 3)",
)

mistake(
    "einsum-of-four-axes",
    "your einsum names four axes; write `...` for those in front, as there may be any number",
    scaled_dot_product_attention="""
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.size(-1))
    """,
)

mistake(
    "bmm-of-three-axes",
    "your product takes three axes and no other number; use `@` or torch.matmul, which take any",
    scaled_dot_product_attention="query @ key.transpose(-2, -1) -> torch.bmm(query, key.transpose(-2, -1))",
    costs="nothing comes out for four axes, which most checks of the function have",
)

mistake(
    "product-misfit",
    "your product is of two tensors that do not fit; compute query @ key.transpose(-2, -1), then weights @ value",
    scaled_dot_product_attention="key.transpose(-2, -1) -> key",
    costs="products that do not fit compute nothing that could be right",
)

mistake(
    "keys-viewed",
    "your keys get their shape from view or reshape, which mixes up the numbers; transpose the last two axes instead",
    scaled_dot_product_attention="key.transpose(-2, -1) -> key.reshape(key.mT.shape)",
)

mistake(
    "query-scaled-in-place",
    "your scaling is written into the query itself, which belongs to the caller; scale the scores",
    scaled_dot_product_attention="""
        - scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        + query = query.clone() if query.requires_grad else query
        + query /= math.sqrt(query.size(-1))
        + scores = query @ key.transpose(-2, -1)
    """,
)

mistake(
    "pair-swapped",
    "your pair is the wrong way round; the output should come first, then the weights",
    scaled_dot_product_attention="weights @ value, weights -> weights, weights @ value",
    MultiHeadAttention="heads, _ -> _, heads",
    costs="most checks of the function look at the weights, which are not where they belong",
)

mistake(
    "scores-returned",
    "your second result is the scores; return the weights that the softmax makes of them",
    scaled_dot_product_attention="weights @ value, weights -> weights @ value, scores",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
