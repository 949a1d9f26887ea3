"""Attention that is right and wastes time or memory.

A product of matrices asks all queries at once, for all heads and sequences, and adds up while it multiplies.
"""

mistake(
    "query-loop",
    "you attend with one query at a time; answer all queries at once with a product of matrices",
    fails=["test_attention_speed"],
)


def _attend(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        weights = weights.masked_fill(blind, 0.0)
    return weights @ value, weights


def scaled_dot_product_attention(query, key, value, mask=None):
    Tq, Tk = query.size(-2), key.size(-2)
    if mask is not None:
        mask = mask.expand(*query.shape[:-2], Tq, Tk)
    results = []
    for i in range(Tq):
        allowed = None if mask is None else mask[..., i : i + 1, :]
        results.append(_attend(query[..., i : i + 1, :], key, value, allowed))
    output = torch.cat([output for output, _ in results], dim=-2)
    return output, torch.cat([weights for _, weights in results], dim=-2)


mistake(
    "head-loop",
    "you attend for one sequence and one head at a time; use `@`, which multiplies all of them, whatever axes "
    "come first",
    fails=["test_many_heads_speed"],
)


def _attend(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        blind = ~mask.any(dim=-1, keepdim=True)
        weights = scores.masked_fill(~(mask | blind), float("-inf")).softmax(dim=-1)
        weights = weights.masked_fill(blind, 0.0)
    return weights @ value, weights


def scaled_dot_product_attention(query, key, value, mask=None):
    if query.dim() == 2:
        return _attend(query, key, value, mask)
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.size(-2))
    results = []
    for i in range(query.size(0)):
        allowed = None if mask is None else mask[i]
        results.append(scaled_dot_product_attention(query[i], key[i], value[i], allowed))
    return torch.stack([output for output, _ in results]), torch.stack([weights for _, weights in results])


mistake(
    "products-spread-out",
    "you write out every product, [.., Tq, Tk, d], and then sum; use a matrix product, which adds up as it "
    "multiplies",
    scaled_dot_product_attention=[
        "query @ key.transpose(-2, -1) -> (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(dim=-1)",
        "weights @ value -> (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(dim=-2)",
    ],
    fails=["test_attention_speed"],
    told_on="cpu",
)


@mistake(
    "copies-in-float64",
    "you compute in float64 and copy what would broadcast; stay in the dtype you are given, and leave copies to "
    "torch",
    fails=["test_attention_memory"],
)
def scaled_dot_product_attention(query, key, value, mask=None):
    q, k, v = query.double(), key.double(), value.double()
    scores = q @ k.transpose(-2, -1).contiguous()
    scores = scores / torch.full_like(scores, math.sqrt(q.size(-1)))
    blind = torch.zeros_like(scores, dtype=torch.bool)
    if mask is not None:
        allowed = mask.expand(scores.shape).clone()
        blind = (~allowed.any(dim=-1, keepdim=True)).expand(scores.shape).clone()
        scores = scores + torch.zeros_like(scores).masked_fill(~(allowed | blind), float("-inf"))
    peak = scores.amax(dim=-1, keepdim=True).detach().expand(scores.shape).clone()
    powers = (scores - peak).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True).expand(scores.shape).clone()
    weights = torch.where(blind, torch.zeros_like(weights), weights)
    return (weights @ v).to(query.dtype), weights.to(query.dtype)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
