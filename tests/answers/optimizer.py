"""Answers to optimizer."""

# ==== right ====
"""Clipping, AdamW and schedules as public code has them and other people write them."""


@answer("flattened", "One vector of all gradients, and views back into it.")
def clip_gradients(parameters, max_norm):
    owners = [p for p in parameters if p.grad is not None]
    if not owners:
        return 0.0
    flat = torch.cat([p.grad.reshape(-1) for p in owners])
    norm = float(flat.norm())
    if norm > max_norm:
        flat = flat / norm * max_norm
        for p, part in zip(owners, flat.split([p.grad.numel() for p in owners]), strict=True):
            p.grad.copy_(part.view_as(p.grad))
    return norm


@answer(
    "hugging-face-adamw", "The step size is corrected, not the moments, and the decay comes before the step."
)
class AdamW:
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                grad = p.grad.data
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p.data)
                    state["exp_avg_sq"] = torch.zeros_like(p.data)
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                beta1, beta2 = group["betas"]
                state["step"] += 1
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                exp_avg.mul_(beta1).add_(grad, alpha=(1.0 - beta1))
                exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1.0 - beta2)
                bias_correction1 = 1.0 - beta1 ** state["step"]
                bias_correction2 = 1.0 - beta2 ** state["step"]
                denom = (exp_avg_sq.sqrt() / math.sqrt(bias_correction2)).add_(group["eps"])
                p.data.addcdiv_(exp_avg, denom, value=-group["lr"] / bias_correction1)


@answer("nano-schedule", "Early returns, a ratio and a coefficient, as a small training script has them.")
def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
    if step < warmup:
        return peak * step / warmup
    if step > total:
        return floor
    decay_ratio = (step - warmup) / (total - warmup)
    assert 0 <= decay_ratio <= 1
    coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
    return floor + coeff * (peak - floor)


# ==== wrong ====
"""Clipping, AdamW and schedules as other people get them wrong."""


@answer("always-normalised", "Every gradient is brought to max_norm.", named=["scaled-up"])
def clip_gradients(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = math.sqrt(sum(float((g * g).sum()) for g in grads))
    for g in grads:
        g *= max_norm / (norm + 1e-12)
    return norm


answer(
    "empty-crashes",
    "Without any gradient a stack of nothing is made.",
    clip_gradients="""
        - if not gradients:
        -     return 0.0
    """,
    named=["nothing-stacked"],
)


@answer("share-of-everything", "The cosine runs over all steps.", named=["cosine-from-step-zero"])
def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
    if step < warmup:
        return step / warmup * peak
    if step >= total:
        return floor
    return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * step / total))


answer(
    "guarded-quotient",
    "An epsilon keeps the quotient finite; tiny gradients become shorter than max_norm.",
    clip_gradients="max_norm / norm -> max_norm / (norm + 1e-6)",
    named=["epsilon-in-the-factor"],
)

answer(
    "nearly-too-long",
    "A norm just below max_norm is brought to it.",
    clip_gradients="norm > max_norm -> norm > 0.99 * max_norm",
)


@answer("recording-switched-on", "Gradients are recorded after a step, although they were not before it.")
class AdamW:
    def step(self):
        torch.set_grad_enabled(False)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                s = self.state[p]
                if not s:
                    s.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                s["t"] += 1
                s["m"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                s["v"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                m, v = s["m"] / (1 - beta1 ** s["t"]), s["v"] / (1 - beta2 ** s["t"])
                p.sub_(group["lr"] * (m / (v.sqrt() + group["eps"]) + group["weight_decay"] * p))
        torch.set_grad_enabled(True)


answer(
    "single-moments",
    "Moments are float32, for float64 parameters as well.",
    AdamW="""
        - state["first"] = torch.zeros_like(parameter)
        - state["second"] = torch.zeros_like(parameter)
        + state["first"] = torch.zeros_like(parameter, dtype=torch.float32)
        + state["second"] = torch.zeros_like(parameter, dtype=torch.float32)
    """,
)

answer(
    "other-memory",
    "The parameter gets new memory instead of being moved in place: what shares the old one stays behind.",
    AdamW="""
        - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
        + parameter.data = parameter - lr * (first / (1 - beta1**t)) / size
    """,
)

answer(
    "frozen-stands-still",
    "What needs no gradient any more is not moved by the one that it has.",
    AdamW="parameter.grad is None -> parameter.grad is None or not parameter.requires_grad",
)

answer(
    "frozen-has-no-norm",
    "The gradient of what needs none any more is passed over.",
    clip_gradients="""
        - gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        + gradients = [one.grad for one in parameters if one.grad is not None and one.requires_grad]
    """,
)
