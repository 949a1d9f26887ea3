"""New tensors at every step in place of changed ones, powers of beta carried along, squares summed one by one."""

from __future__ import annotations

from math import cos, pi, sqrt

import torch
from torch.optim import Optimizer


def clip_gradients(parameters, max_norm):
    total, found = 0.0, []
    for one in parameters:
        if one.grad is not None:
            found.append(one.grad)
            total += (one.grad.double() ** 2).sum().item()
    norm = sqrt(total)
    if norm <= max_norm:
        return norm
    for gradient in found:
        gradient /= norm / max_norm
    return norm


class AdamW(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    def step(self):
        with torch.no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._move(parameter, group)

    def _move(self, parameter, group):
        beta1, beta2 = group["betas"]
        memory = self.state[parameter]
        first = memory.get("first", 0.0) * beta1 + (1 - beta1) * parameter.grad
        second = memory.get("second", 0.0) * beta2 + (1 - beta2) * parameter.grad**2
        one, two = memory.get("one", 1.0) * beta1, memory.get("two", 1.0) * beta2
        memory.update(first=first, second=second, one=one, two=two)
        direction = (first / (1 - one)) / (torch.sqrt(second / (1 - two)) + group["eps"])
        decay = group["weight_decay"] * parameter
        parameter.copy_(parameter - group["lr"] * (direction + decay))


def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
    if warmup and step <= warmup:
        return step * (peak / warmup)
    if step > total:
        return floor * 1.0
    half = (total - warmup) / pi
    return floor + (peak - floor) / 2 + (peak - floor) / 2 * cos((step - warmup) / half)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
