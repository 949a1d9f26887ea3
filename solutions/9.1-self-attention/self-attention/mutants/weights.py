"""What the weights get wrong.

A softmax over the keys makes each query's row positive and sums it to one. Here nobody is hidden from anybody.
"""

mistake(
    "softmax-over-queries",
    "your softmax runs over the queries: the weights of one key sum to one, not those of one query",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=-2)",
)

mistake(
    "softmax-over-batch",
    "your softmax runs over the sequences of the batch: without dim, softmax takes axis 0 of three",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=0)",
)

mistake(
    "normalised-without-exp",
    "your weights are the scores divided by their sum: exponentials make them positive first",
    SelfAttention="scores.softmax(dim=-1) -> scores / scores.sum(dim=-1, keepdim=True)",
)

mistake(
    "exp-overflow",
    "your softmax takes exp of large scores: subtract each row's maximum first",
    SelfAttention="""
        - weights = scores.softmax(dim=-1)
        + powers = scores.exp()
        + weights = powers / powers.sum(dim=-1, keepdim=True)
    """,
)

mistake(
    "causal",
    "your attention hides the future: in this exercise every position sees every other",
    SelfAttention="""
        - weights = scores.softmax(dim=-1)
        + future = torch.ones_like(scores, dtype=torch.bool).triu(1)
        + weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
    """,
)

mistake(
    "self-hidden",
    "your positions cannot see themselves: the diagonal is allowed too",
    SelfAttention="""
        - weights = scores.softmax(dim=-1)
        + itself = torch.eye(scores.size(-1), dtype=torch.bool, device=scores.device)
        + weights = scores.masked_fill(itself, float("-inf")).softmax(dim=-1)
    """,
)

mistake(
    "weights-detached",
    "your weights are cut from the graph: w_q and w_k learn nothing",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=-1).detach()",
)

mistake(
    "normalised-over-everything",
    "your exponentials are divided by the sum of the whole table: each query's row has a sum of its own",
    SelfAttention="scores.softmax(dim=-1) -> scores.flatten().softmax(dim=0).view_as(scores)",
)

mistake(
    "sigmoid-weights",
    "your weights are sigmoids: a softmax makes those of a row sum to one",
    SelfAttention="scores.softmax(dim=-1) -> scores.sigmoid()",
)

mistake(
    "log-weights",
    "your weights are logarithms: log_softmax is for losses, here it is softmax",
    SelfAttention="scores.softmax(dim=-1) -> scores.log_softmax(dim=-1)",
)

mistake(
    "softmax-twice",
    "your weights go through a softmax twice: the second makes them nearly equal",
    SelfAttention="scores.softmax(dim=-1) -> scores.softmax(dim=-1).softmax(dim=-1)",
)

mistake(
    "output-detached",
    "your output is cut from the graph: nothing before it learns",
    SelfAttention="return weights @ v -> return (weights @ v).detach()",
)

mistake(
    "returned-weights-detached",
    "your second result is cut from the graph: return the weights themselves, a plot can detach them",
    SelfAttention="weights @ v, weights -> weights @ v, weights.detach()",
)

mistake(
    "uniform-weights",
    "your weights are the same for every key: queries and keys are not compared at all",
    SelfAttention="scores.softmax(dim=-1) -> torch.full_like(scores, 1 / scores.size(-1))",
    idle="nothing is compared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
