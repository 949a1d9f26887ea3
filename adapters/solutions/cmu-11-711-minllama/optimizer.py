"""AdamW as in Kingma and Ba's efficient form."""

import math

import torch
from torch.optim import Optimizer


class AdamW(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.0, correct_bias=True):
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, correct_bias=correct_bias)
        super().__init__(params, defaults)

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["m"] = torch.zeros_like(p.data)
                    state["v"] = torch.zeros_like(p.data)
                state["step"] += 1
                state["m"].mul_(b1).add_(g, alpha=1 - b1)
                state["v"].mul_(b2).addcmul_(g, g, value=1 - b2)
                alpha = group["lr"]
                if group["correct_bias"]:
                    alpha *= math.sqrt(1 - b2 ** state["step"]) / (1 - b1 ** state["step"])
                p.data.addcdiv_(state["m"], state["v"].sqrt() + group["eps"], value=-alpha)
                p.data.add_(p.data, alpha=-group["lr"] * group["weight_decay"])
        return loss
