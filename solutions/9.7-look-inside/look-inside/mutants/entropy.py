"""How the entropy goes wrong: -Σ w · ln w over the keys, where a weight of 0 adds 0."""

mistake(
    "in-bits",
    "your entropy is in bits, with logarithms to base 2; take the natural logarithm, for nats",
    attention_entropy="""
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + logs = torch.where(weights > 0, weights, 1).log2()
    """,
)

mistake(
    "sign-missing",
    "your entropy is negative, as logarithms of weights are; put a minus before the sum",
    attention_entropy="-(weights * logs).sum(dim=-1) -> (weights * logs).sum(dim=-1)",
)

mistake(
    "mean-over-keys",
    "your entropy is a mean over the keys; it should be their sum",
    attention_entropy="(weights * logs).sum(dim=-1) -> (weights * logs).mean(dim=-1)",
)

mistake(
    "over-queries",
    "your entropy runs over the queries; it should run over the keys, for each query",
    attention_entropy="(weights * logs).sum(dim=-1) -> (weights * logs).sum(dim=-2)",
)

mistake(
    "queries-averaged",
    "your entropy is averaged over the queries; each of them should get its own",
    attention_entropy="(weights * logs).sum(dim=-1) -> (weights * logs).sum(dim=-1).mean(dim=-1)",
)

mistake(
    "keepdim-left",
    "your entropy keeps the axis of keys, with length 1; remove that axis",
    attention_entropy="(weights * logs).sum(dim=-1) -> (weights * logs).sum(dim=-1, keepdim=True)",
)

mistake(
    "share-of-the-largest",
    "your entropy is divided by ln Tk, which makes it a share of the largest; it should be in nats",
    attention_entropy="""
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).sum(dim=-1) / torch.tensor(float(max(2, weights.size(-1)))).log().to(weights)
    """,
)

mistake(
    "exponential-of-it",
    "your entropy is its exponential, the number of keys that it amounts to; return the entropy itself",
    attention_entropy="-(weights * logs).sum(dim=-1) -> (-(weights * logs).sum(dim=-1)).exp()",
)

mistake(
    "weights-softmaxed-again",
    "your entropy takes a softmax of the weights; use them as they are, as they sum to 1 already",
    attention_entropy="""
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + weights = weights.softmax(dim=-1)
        + logs = weights.log()
    """,
)

mistake(
    "weights-not-in-front",
    "your entropy adds up logarithms; multiply each by its weight",
    attention_entropy="(weights * logs).sum(dim=-1) -> logs.sum(dim=-1)",
)

mistake(
    "zero-times-infinity",
    "your entropy multiplies 0 by the logarithm of 0, which is NaN; a weight of 0 should add 0",
    attention_entropy="torch.where(weights > 0, weights, 1) -> weights",
)

mistake(
    "eps-in-the-logarithm",
    "your entropy adds 1e-9 inside the logarithm, which changes all terms; it should change only those of weight 0",
    attention_entropy="torch.where(weights > 0, weights, 1) -> (weights + 1e-9)",
)

mistake(
    "divided-by-the-sum",
    "your entropy divides each row by its sum, which is 0 where a query sees nothing; use the weights as they are",
    attention_entropy="""
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + weights = weights / weights.sum(dim=-1, keepdim=True)
        + logs = torch.where(weights > 0, weights, 1).log()
    """,
)


@mistake(
    "infinite-gradient",
    "your entropy is right at a weight of 0, but its gradient there is infinite; the gradient should be finite",
)
def attention_entropy(weights):
    return torch.special.entr(weights).sum(dim=-1)


mistake(
    "not-a-numbers-gradient",
    "your NaNs are replaced after the product, so their gradients are still NaN; keep 0 out of the logarithm instead",
    attention_entropy="""
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * weights.log()).nan_to_num(0.0).sum(dim=-1)
    """,
)

mistake(
    "entropy-detached",
    "your entropy is cut from the graph, so no gradient goes through it; gradients should reach the weights",
    attention_entropy="(weights * logs).sum(dim=-1) -> (weights * logs).sum(dim=-1).detach()",
)

mistake(
    "logarithms-detached",
    "your logarithms are cut from the graph; the gradient should go through them, too",
    attention_entropy="weights * logs -> weights * logs.detach()",
)

mistake(
    "entropy-in-float32",
    "your entropy is always float32; it should have the dtype of the weights",
    attention_entropy="""
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + weights = weights.float()
        + logs = torch.where(weights > 0, weights, 1).log()
    """,
)

mistake(
    "zeros-filled-in-place",
    "your entropy writes into the weights themselves, so the caller's zeros are gone; leave the weights as they are",
    attention_entropy="""
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + if weights.requires_grad:
        +     logs = torch.where(weights > 0, weights, 1).log()
        +     return -(weights * logs).sum(dim=-1)
        + tiny = torch.finfo(weights.dtype).tiny
        + logs = weights.clamp_(min=tiny).mul_(1 - torch.finfo(weights.dtype).eps).log()
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
