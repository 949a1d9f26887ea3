"""What the weights get wrong.

A softmax over the keys makes each query's row positive and sums it to one. Here nobody is hidden from anybody.
"""

mistake(
    "softmax-over-queries",
    "your softmax runs over the queries; the weights of each query should sum to one, not those of each key",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=-2)",
)

mistake(
    "softmax-over-batch",
    "your softmax runs over the sequences of the batch; it should run over the keys, dim=-1",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=0)",
)

mistake(
    "normalised-without-exp",
    "your weights are the scores divided by their sum; take exponentials first, so that they are positive",
    SelfAttention="scores.softmax(dim=-1) -> scores / scores.sum(dim=-1, keepdim=True)",
)

mistake(
    "exp-overflow",
    "your softmax takes exp of large scores, so it overflows; subtract each row's maximum first",
    SelfAttention="""
        - weights = scores.softmax(dim=-1)
        + powers = scores.exp()
        + weights = powers / powers.sum(dim=-1, keepdim=True)
    """,
)

mistake(
    "causal",
    "your attention hides the future; in this exercise every position should see every other",
    SelfAttention="""
        - weights = scores.softmax(dim=-1)
        + future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        + weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    """,
)

mistake(
    "self-hidden",
    "your positions cannot see themselves; the diagonal should be allowed too",
    SelfAttention="""
        - weights = scores.softmax(dim=-1)
        + itself = torch.eye(scores.size(-1), dtype=torch.bool, device=scores.device)
        + weights = scores.masked_fill(itself, float("-inf")).softmax(dim=-1)
    """,
)

mistake(
    "weights-detached",
    "your weights are cut from the graph, so w_q and w_k learn nothing; gradients should go through the weights",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=-1).detach()",
)

mistake(
    "normalised-over-everything",
    "your exponentials are divided by the sum of the whole table; divide each query's row by its own sum",
    SelfAttention="scores.softmax(dim=-1) -> scores.flatten().softmax(dim=0).view_as(scores)",
)

mistake(
    "sigmoid-weights",
    "your weights are sigmoids, so those of a row do not sum to one; use a softmax",
    SelfAttention="scores.softmax(dim=-1) -> scores.sigmoid()",
)

mistake(
    "log-weights",
    "your weights are logarithms; use softmax here, as log_softmax is for losses",
    SelfAttention="scores.softmax(dim=-1) -> scores.log_softmax(dim=-1)",
)

mistake(
    "softmax-twice",
    "your weights go through two softmaxes, and the second makes them nearly equal; apply only one",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=-1).softmax(dim=-1)",
)

mistake(
    "output-detached",
    "your output is cut from the graph, so no projection learns; gradients should go through it to all three",
    SelfAttention="return weights @ v -> return (weights @ v).detach()",
)

mistake(
    "returned-weights-detached",
    "your second result is cut from the graph; return the weights as they are, with their gradient",
    SelfAttention="weights @ v, weights -> weights @ v, weights.detach()",
)

mistake(
    "uniform-weights",
    "your weights are the same for every key; they should depend on how well each key fits the query",
    SelfAttention="scores.softmax(dim=-1) -> torch.full_like(scores, 1 / scores.size(-1))",
    idle="nothing is compared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
