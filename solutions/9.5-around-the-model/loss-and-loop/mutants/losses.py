"""What `log_softmax` and `cross_entropy` get wrong.

The largest score of each row becomes 0 before exp; a mean is divided by what counts, and is 0 where nothing does.
"""

mistake(
    "not-shifted",
    "your log_softmax takes exp of the scores as they are, so large ones overflow; subtract the largest first",
    log_softmax="x - x.amax(dim, keepdim=True) -> x",
)

mistake(
    "largest-of-all",
    "your shift is the largest score of the whole tensor, so rows far below it underflow; take each row's own",
    log_softmax="x.amax(dim, keepdim=True) -> x.max()",
)

mistake(
    "last-axis-always",
    "your log_softmax always runs along the last axis; it should run along dim",
    log_softmax="""
        + dim = -1
          shifted = x - x.amax(dim, keepdim=True)
    """,
)

mistake(
    "log-forgotten",
    "your log_softmax returns probabilities, so every loss is too small; it should return their logarithms",
    log_softmax="shifted - shifted.exp().sum(dim, keepdim=True).log() -> "
    "shifted.exp() / shifted.exp().sum(dim, keepdim=True)",
)

mistake(
    "log-of-zero",
    "your logarithm is taken of probabilities, of which small ones are rounded to 0; subtract the log of the sum",
    log_softmax="shifted - shifted.exp().sum(dim, keepdim=True).log() -> "
    "(shifted.exp() / shifted.exp().sum(dim, keepdim=True)).log()",
)

mistake(
    "quotient-of-powers",
    "your exp overflows on large scores, and inf / inf is NaN; subtract the largest score, then the log of the sum",
    log_softmax="""
        - shifted = x - x.amax(dim, keepdim=True)
        - return shifted - shifted.exp().sum(dim, keepdim=True).log()
        + return (x.exp() / x.exp().sum(dim, keepdim=True)).log()
    """,
)

mistake(
    "small-number-added",
    "your probabilities have a small number added, so large losses come out too small; subtract the log of the sum",
    log_softmax="shifted - shifted.exp().sum(dim, keepdim=True).log() -> "
    "(shifted.exp() / shifted.exp().sum(dim, keepdim=True) + 1e-9).log()",
)

mistake(
    "sum-of-losses",
    "your loss is a sum, so it grows with the batch; divide by the number of targets that count",
    cross_entropy="/ counts.sum().clamp(min=1) ->",
)

mistake(
    "divided-by-all",
    "your mean divides by all places, so padding makes it smaller; divide by the number of those that count",
    cross_entropy="counts.sum().clamp(min=1) -> counts.numel()",
)

mistake(
    "row-by-row",
    "your mean is that of the rows' means, so targets next to padding weigh more; divide one sum by one count",
    cross_entropy="-found.masked_fill(~counts, 0).sum() / counts.sum().clamp(min=1) -> "
    "-(found.masked_fill(~counts, 0).sum(-1) / counts.sum(-1).clamp(min=1)).mean()",
)

mistake(
    "sign-forgotten",
    "your loss is the mean of log p, so training makes the right words rarer; it should be that of -log p",
    cross_entropy="-found -> found",
)

mistake(
    "nan-where-nothing-counts",
    "your loss divides 0 by 0 where nothing counts, so it is NaN; it should be 0 there",
    cross_entropy=".clamp(min=1) ->",
)

mistake(
    "ignore-not-looked-at",
    "your loss leaves out -100 whatever `ignore` is; it should leave out the targets that are `ignore`",
    cross_entropy="targets != ignore -> targets != IGNORED",
)

mistake(
    "negative-ignored",
    "your loss leaves out every negative target, so wrong ones pass; only `ignore` should be left out",
    cross_entropy="targets != ignore -> (targets != ignore) & (targets >= 0)",
)

mistake(
    "ignored-as-word-0",
    "your loss counts ignored places as if word 0 were right there; what was picked for them should become 0",
    cross_entropy="found.masked_fill(~counts, 0).sum() -> found.sum()",
)

mistake(
    "targets-unrefused",
    "your targets are not examined, so a wrong one raises something else; raise ValueError",
    cross_entropy="if outside.numel(): -> if False:",
)

mistake(
    "one-past-the-end",
    "your limit lets the target V pass, which is one past the end; the largest should be V - 1",
    cross_entropy="targets >= words -> targets > words",
)

mistake(
    "loss-detached",
    "your loss is cut off from its graph, so nothing is learned; compute it from the logits themselves",
    cross_entropy="log_softmax(logits) -> log_softmax(logits.detach())",
)

mistake(
    "through-float32",
    "your loss is computed in float32 whatever comes in; it should have the logits' dtype",
    cross_entropy="log_softmax(logits) -> log_softmax(logits.float())",
)

mistake(
    "torchs-own",
    "your log_softmax is torch's, which is what you are building; write it with maximum, exp, sum and log",
    log_softmax="shifted - shifted.exp().sum(dim, keepdim=True).log() -> torch.log_softmax(x, dim)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
