"""Moments by lerp, one decay folded into the update; the norm of one long vector; the schedule by a clamped share."""

from __future__ import annotations

import math

import torch


def clip_gradients(parameters, max_norm):
    with_gradient = list(filter(lambda one: one.grad is not None, parameters))
    if len(with_gradient) == 0:
        return 0.0
    everything = torch.cat([one.grad.flatten().double() for one in with_gradient])
    norm = float(torch.linalg.vector_norm(everything))
    factor = min(1.0, max_norm / (norm + 1e-12))
    for one in with_gradient:
        one.grad.copy_(one.grad * factor)
    return norm


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    def step(self, closure=None):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(p.data)
                state["step"] += 1
                t = state["step"].item()
                m = state["exp_avg"].lerp_(p.grad, 1 - b1)
                v = state["exp_avg_sq"].lerp_(p.grad.square(), 1 - b2)
                step_size = group["lr"] / (1 - b1**t)
                denominator = v.sqrt() / math.sqrt(1 - b2**t) + group["eps"]
                p.data -= step_size * m / denominator + group["lr"] * group["weight_decay"] * p.data


def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
    rising = min(step / warmup, 1.0) if warmup > 0 else 1.0
    if rising < 1.0:
        return peak * rising
    share = min((step - warmup) / max(total - warmup, 1), 1.0)
    return floor + 0.5 * (peak - floor) * (1.0 + math.cos(math.pi * share))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
