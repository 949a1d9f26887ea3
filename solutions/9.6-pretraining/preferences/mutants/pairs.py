"""What goes wrong in DPO: the margin is chosen minus rejected, each relative to the reference, and beta scales it."""

mistake(
    "reference-left-out",
    "your margin leaves out the reference, so nothing holds the model near it; subtract its preference",
    dpo_loss="(chosen - reference_chosen.detach()) - (rejected - reference_rejected.detach()) -> chosen - rejected",
)

mistake(
    "margin-reversed",
    "your margin is rejected minus chosen, so the model learns the wrong answers; subtract rejected from chosen",
    dpo_loss="beta * margin -> -beta * margin",
)

mistake(
    "beta-left-out",
    "your loss leaves out beta; it should multiply the margin",
    dpo_loss="beta * margin -> margin",
)

mistake(
    "beta-outside",
    "your beta multiplies the loss, so it is a learning rate; it should multiply the margin",
    dpo_loss="-F.logsigmoid(beta * margin) -> -beta * F.logsigmoid(margin)",
)

mistake(
    "mean-of-margins",
    "your mean is taken of the margins, so all pairs get one gradient; it should be the mean of their losses",
    dpo_loss="-F.logsigmoid(beta * margin).mean() -> -F.logsigmoid((beta * margin).mean())",
)

mistake(
    "log-of-sigmoid",
    "your sigmoid becomes 0 for large negative margins, so its logarithm is -∞; use logsigmoid or softplus",
    dpo_loss="-F.logsigmoid(beta * margin) -> -torch.sigmoid(beta * margin).log()",
)

mistake(
    "exp-overflows",
    "your exp overflows for large negative margins, so the loss is infinite; use logsigmoid or softplus",
    dpo_loss="-F.logsigmoid(beta * margin) -> (-beta * margin).exp().log1p()",
)

mistake(
    "kink-at-zero",
    "your form of -log sigmoid has a kink at 0, so the gradient there is wrong; use logsigmoid or softplus",
    dpo_loss="-F.logsigmoid(beta * margin) -> "
    "((-beta * margin).clamp(min=0) + (-(beta * margin).abs()).exp().log1p())",
)

mistake(
    "reference-learns",
    "your gradient reaches the reference's numbers; it should reach only the model's",
    dpo_loss="""
        - margin = (chosen - reference_chosen.detach()) - (rejected - reference_rejected.detach())
        + margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    """,
)

mistake(
    "beta-unrefused",
    "your beta may be 0 or negative; raise ValueError",
    dpo_loss="if not beta > 0: -> if False:",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
