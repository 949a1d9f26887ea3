"""AdamW in the short form: eps comes after the correction, and decay after the step. Turned into the kata's form."""


def AdamW(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    class Turned(theirs.AdamW):
        """A group for each parameter: eps · √(1 - β₂ᵗ), and (p - u / s) · s = p · s - u with s = 1 - lr · decay."""

        def step(self, closure=None):
            groups = self.param_groups
            self.param_groups = [one for group in groups for one in _turned(group)]
            try:
                return super().step(closure)
            finally:
                self.param_groups = groups

    return Turned(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)


def _turned(group):
    steps = group.setdefault("steps_taken", [0] * len(group["params"]))
    for place, parameter in enumerate(group["params"]):
        if parameter.grad is not None:
            steps[place] += 1
            eps = group["eps"] * (1 - group["betas"][1] ** steps[place]) ** 0.5
            shrink = 1 - group["lr"] * group["weight_decay"]
            rates = {"lr": group["lr"] / shrink, "weight_decay": group["weight_decay"] * shrink}
            yield {**group, "params": [parameter], "eps": eps, **rates}
