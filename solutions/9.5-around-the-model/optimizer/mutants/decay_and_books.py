"""How decay, groups and what is remembered go wrong.

Decay is next to the moments; options are those of the group, now; what is remembered is each parameter's own.
"""

mistake(
    "decay-in-the-gradient",
    "your decay goes through the moments, which is Adam with L2; it should go next to them",
    AdamW="""
        - gradient, state = parameter.grad, self.state[parameter]
        + gradient, state = parameter.grad + group["weight_decay"] * parameter, self.state[parameter]

        - parameter.mul_(1 - lr * group["weight_decay"])
    """,
)

mistake(
    "decay-in-place-of-the-gradient",
    "your decay is written into parameter.grad and goes through the moments; it should change only the parameter",
    AdamW="""
        - gradient, state = parameter.grad, self.state[parameter]
        + gradient, state = parameter.grad.add_(group["weight_decay"] * parameter), self.state[parameter]

        - parameter.mul_(1 - lr * group["weight_decay"])
    """,
)

mistake(
    "decay-without-lr",
    "your decay takes weight_decay of the parameter at each step; it should take lr times that",
    AdamW='lr * group["weight_decay"] -> group["weight_decay"]',
)

mistake(
    "decay-after-the-step",
    "your decay takes its share of the parameter after the update; it should take it of the parameter before the "
    "step",
    AdamW="""
        - parameter.mul_(1 - lr * group["weight_decay"])
        - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + parameter.mul_(1 - lr * group["weight_decay"])
    """,
    convention="CS224N and 11-711 decay after the step, as Kingma and Ba's short form is extended",
)

mistake(
    "short-form",
    "your AdamW is the short form, with eps before the correction and decay after the step; use the long one here",
    AdamW="""
        - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
        - parameter.mul_(1 - lr * group["weight_decay"])
        - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + size = (second.sqrt() + group["eps"]) / (1 - beta2**t) ** 0.5
        + parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + parameter.mul_(1 - lr * group["weight_decay"])
    """,
    convention="CS336, CS224N and 11-711 teach it",
)

mistake(
    "no-decay",
    "your parameters do not decay; at each step they should lose the share lr times weight_decay",
    AdamW='- parameter.mul_(1 - lr * group["weight_decay"])',
)

mistake(
    "missing-as-zeros",
    "your missing gradients are taken for zeros; such a parameter should stay as it is and not be counted",
    AdamW="""
        - if parameter.grad is None:
        -     continue
        - gradient, state = parameter.grad, self.state[parameter]
        + gradient, state = parameter.grad, self.state[parameter]
        + if gradient is None:
        +     gradient = torch.zeros_like(parameter)
    """,
)

mistake(
    "stops-at-a-missing-gradient",
    "your step ends at the first parameter without a gradient; it should update those after it too",
    AdamW="continue -> return",
)

mistake(
    "one-count-for-all",
    "your steps are counted for all parameters together; each should have its own count, from its first gradient on",
    AdamW="""
        + self.__dict__["count"] = self.__dict__.get("count", 0) + 1
          for group in self.param_groups:

        - first, second, t = state["first"], state["second"], state["t"]
        + first, second, t = state["first"], state["second"], self.count
    """,
)

mistake(
    "groups-ignored",
    "your options are those of the constructor; take the group's own, which a schedule may change",
    AdamW="self.param_groups -> ({**one, **self.defaults} for one in self.param_groups)",
)

mistake(
    "lr-of-the-beginning",
    'your lr is that of the first step; read group["lr"] at each step, as a schedule changes it',
    AdamW='group["lr"], group["betas"] -> group.setdefault("begun", group["lr"]), group["betas"]',
)

mistake(
    "books-of-its-own",
    "your moments are outside self.state, so state_dict does not hold them; keep them in self.state",
    AdamW="""
          super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        + self.books = {}

        - gradient, state = parameter.grad, self.state[parameter]
        + gradient, state = parameter.grad, self.books.setdefault(parameter, {})
    """,
)

mistake(
    "moments-kept-by-shape",
    "your moments are stored by shape, so parameters of one shape share them; each should have its own",
    AdamW="self.state[parameter] -> self.state.setdefault(tuple(parameter.shape), {})",
    costs="of two parameters of one shape the second one is wrong from its first step on",
)

mistake(
    "torchs-own",
    "your steps are torch's AdamW; write them from the formulas",
    AdamW="""
        + torch.optim.AdamW([torch.zeros(1)])
          for group in self.param_groups:
    """,
    costs="what rests on excluded code earns nothing",
)


@mistake("other-defaults", "your defaults are Adam's, without decay; weight_decay should be 0.01 by default")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


@mistake("other-default-betas", "your betas are 0.9 and 0.99 by default; they should be 0.9 and 0.999")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


@mistake("other-default-lr", "your lr is 1e-2 by default; it should be 1e-3")
class AdamW:
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


@mistake("other-default-eps", "your eps is 1e-6 by default; it should be 1e-8")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


mistake(
    "decays-without-a-gradient",
    "your parameters decay even when they have no gradient; such a parameter should stay as it is",
    AdamW="""
        - if parameter.grad is None:
        + parameter.mul_(1 - lr * group["weight_decay"])
        + if parameter.grad is None:

        - parameter.mul_(1 - lr * group["weight_decay"])
    """,
)

mistake(
    "decay-by-the-corrected-rate",
    "your decay is a share by the corrected rate, so it differs from step to step; it should be lr times weight_decay",
    AdamW="""
        - parameter.mul_(1 - lr * group["weight_decay"])
        + rate = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        + parameter.mul_(1 - rate * group["weight_decay"])
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
