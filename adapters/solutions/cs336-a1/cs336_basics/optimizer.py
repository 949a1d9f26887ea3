"""Training: AdamW, gradient clipping, the learning rate."""

import math

import torch


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            first, second = group["betas"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                memory = self.state[weight]
                if not memory:
                    memory.update(t=0, mean=torch.zeros_like(weight), square=torch.zeros_like(weight))
                memory["t"] += 1
                t, mean, square = memory["t"], memory["mean"], memory["square"]
                mean.mul_(first).add_(weight.grad, alpha=1 - first)
                square.mul_(second).addcmul_(weight.grad, weight.grad, value=1 - second)
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                root = (square / (1 - second**t)).sqrt().add_(group["eps"])
                weight.addcdiv_(mean, root, value=-group["lr"] / (1 - first**t))
        return loss


def clip(parameters, limit):
    gradients = [p.grad for p in parameters if p.grad is not None]
    length = math.sqrt(sum(float(g.double().pow(2).sum()) for g in gradients))
    if length > limit:
        for g in gradients:
            g.mul_(limit / length)


def cosine_schedule(t, highest, lowest, warm, end):
    if t < warm:
        return highest * t / warm
    if t > end:
        return lowest
    share = (t - warm) / max(end - warm, 1)
    return lowest + (highest - lowest) * (1 + math.cos(math.pi * share)) / 2
