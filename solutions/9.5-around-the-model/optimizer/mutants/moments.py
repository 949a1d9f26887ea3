"""How moments and steps go wrong.

Both moments are running means that begin with 0, each divided by 1 - beta^t; eps is added to the root.
"""

mistake(
    "not-corrected",
    "your moments are not corrected for their beginning; divide them by 1 - beta ** t",
    AdamW=[
        "(second / (1 - beta2**t)).sqrt() -> second.sqrt()",
        "lr * (first / (1 - beta1**t)) -> lr * first",
    ],
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "first-not-corrected",
    "your first moment is not corrected for its beginning, while the second one is; correct both",
    AdamW="lr * (first / (1 - beta1**t)) -> lr * first",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "second-not-corrected",
    "your second moment is not corrected for its beginning, while the first one is; correct both",
    AdamW="(second / (1 - beta2**t)).sqrt() -> second.sqrt()",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "correction-kept",
    "your correction is written into the moment; leave it uncorrected, as the next step needs it so",
    AdamW="lr * (first / (1 - beta1**t)) -> lr * first.div_(1 - beta1**t)",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "t-from-zero",
    "your correction is that of the first step at every step; it should use beta ** t, where t counts the steps",
    AdamW='state["first"], state["second"], state["t"] -> state["first"], state["second"], 1',
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "t-one-too-small",
    "your correction's t is one too small from the second step on; the second step should have t = 2",
    AdamW='state["second"], state["t"] -> state["second"], max(1, state["t"] - 1)',
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "second-of-the-first",
    "your second moment is fed with the first one squared; it should be the mean of the gradient's square",
    AdamW="gradient, gradient -> first, first",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "second-corrected-by-beta1",
    "your second moment is corrected with beta1; divide it by 1 - beta2 ** t",
    AdamW="1 - beta2**t -> 1 - beta1**t",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "first-corrected-by-beta2",
    "your first moment is corrected with beta2; divide it by 1 - beta1 ** t",
    AdamW="1 - beta1**t -> 1 - beta2**t",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "betas-exchanged",
    "your two betas are exchanged; the first should be for the mean of g, the second for that of its square",
    AdamW="beta1, beta2 -> beta2, beta1",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "eps-under-the-root",
    "your eps is under the root; add it to the root",
    AdamW="""
        - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
        + size = (second / (1 - beta2**t) + group["eps"]).sqrt()
    """,
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "root-of-second-forgotten",
    "your step is divided by the second moment itself; divide it by its root",
    AdamW="(second / (1 - beta2**t)).sqrt() -> second / (1 - beta2**t)",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "square-forgotten",
    "your second moment averages the gradient g; it should average the square of g",
    AdamW="""
        - second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
        + second.mul_(beta2).add_(gradient, alpha=1 - beta2)
        + size = (second / (1 - beta2**t)).abs().sqrt() + group["eps"]
    """,
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "one-tensor-for-both",
    "your two moments are one and the same tensor; each should have zeros of its own",
    AdamW='state["second"] = torch.zeros_like(parameter) -> state["second"] = state["first"]',
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "momentum-not-averaged",
    "your first moment is a sum, not a mean; add the gradient with the factor 1 - beta1",
    AdamW="gradient, alpha=1 - beta1 -> gradient",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "second-not-averaged",
    "your second moment is a sum, not a mean; add the gradient's square with the factor 1 - beta2",
    AdamW="gradient, gradient, value=1 - beta2 -> gradient, gradient",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "uphill",
    "your steps go up; subtract the update",
    AdamW="sub_ -> add_",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "counted-after-the-step",
    "your t is counted after the step, so the correction divides by 0 at first; the first step should have t = 1",
    AdamW=[
        'state["t"] += 1 -> first, second, t = state["first"], state["second"], state["t"]',
        'first, second, t = state["first"], state["second"], state["t"] -> state["t"] += 1',
    ],
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "eps-before-the-correction",
    "your eps is added before the second moment is corrected; correct v, take the root, then add eps",
    AdamW="""
        - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
        + size = (second.sqrt() + group["eps"]) / (1 - beta2**t) ** 0.5
    """,
    costs="every step is made of both moments, and hardly any value of one is right without them",
    convention="Kingma and Ba's short form leaves eps uncorrected",
)

mistake(
    "parameter-not-moved",
    "your step makes new tensors, and the parameters stay where they were; change them in place",
    AdamW="""
        - parameter.mul_(1 - lr * group["weight_decay"])
        - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + parameter = parameter * (1 - lr * group["weight_decay"])
        + parameter = parameter - lr * (first / (1 - beta1**t)) / size
    """,
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "betas-fixed",
    "your betas are always 0.9 and 0.999; they should be those of the group",
    AdamW='group["betas"] -> (0.9, 0.999)',
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "eps-on-the-quotient",
    "your eps is added to the quotient, so it moves every parameter and divides nothing; add it to the root",
    AdamW="""
        - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
        + size = (second / (1 - beta2**t)).sqrt()
          parameter.mul_(1 - lr * group["weight_decay"])
        - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + parameter.sub_(lr * ((first / (1 - beta1**t)) / size + group["eps"]))
    """,
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "second-corrected-after-the-root",
    "your second moment is corrected after its root, so steps are too small at first; correct it before the root",
    AdamW="(second / (1 - beta2**t)).sqrt() -> second.sqrt() / (1 - beta2**t)",
    costs="every step is made of both moments, and hardly any value of one is right without them",
)

mistake(
    "power-of-the-difference",
    "your correction is (1 - beta) ** t; it should be 1 - beta ** t",
    AdamW=[
        "(1 - beta2**t) -> (1 - beta2) ** t",
        "(1 - beta1**t) -> (1 - beta1) ** t",
    ],
)

mistake(
    "second-power-of-the-difference",
    "your second correction is (1 - beta2) ** t; it should be 1 - beta2 ** t",
    AdamW="(1 - beta2**t) -> (1 - beta2) ** t",
)

mistake(
    "first-begins-as-gradient",
    "your first moment begins as the gradient; it should begin with zeros",
    AdamW='state["first"] = torch.zeros_like(parameter) -> state["first"] = gradient.clone()',
)

mistake(
    "second-with-beta1",
    "your second moment takes the share 1 - beta1 of the square; it should take 1 - beta2",
    AdamW="value=1 - beta2 -> value=1 - beta1",
)

mistake(
    "first-with-beta2",
    "your first moment takes the share 1 - beta2 of the gradient; it should take 1 - beta1",
    AdamW="alpha=1 - beta1 -> alpha=1 - beta2",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
