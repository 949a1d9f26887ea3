"""Clipping, AdamW and schedules as public code has them and other people write them."""


class torch_1_style_clip:
    """The norm of norms, and a coefficient that is clamped to 1, as torch's older code had it."""

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        if len(grads) == 0:
            return 0.0
        total_norm = torch.norm(torch.stack([torch.norm(g.detach(), 2.0) for g in grads]), 2.0)
        clip_coef_clamped = torch.clamp(max_norm / (total_norm + 1e-9), max=1.0)
        for g in grads:
            g.detach().mul_(clip_coef_clamped)
        return total_norm.item()


class squares_in_python:
    """Sums of squares as Python numbers."""

    def clip_gradients(parameters, max_norm):
        parameters = list(parameters)
        total = 0.0
        for p in parameters:
            if p.grad is not None:
                total += p.grad.data.norm(2).item() ** 2
        total = total**0.5
        if total > max_norm:
            scale = max_norm / total
            for p in parameters:
                if p.grad is not None:
                    p.grad.data *= scale
        return total


class flattened:
    """One vector of all gradients, and views back into it."""

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


class foreach_clip:
    """torch's operators on lists of tensors."""

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        if not grads:
            return 0.0
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads))).item()
        if norm > max_norm:
            torch._foreach_mul_(grads, max_norm / norm)
        return norm


class hugging_face_adamw:
    """The step size is corrected, not the moments, and the decay comes before the step."""

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


class steps_as_tensors:
    """The count is a tensor, as torch keeps it."""

    class AdamW:
        def step(self):
            for group in self.param_groups:
                beta1, beta2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if "step" not in state:
                        state.update(step=torch.zeros(()), m=torch.zeros_like(p), v=torch.zeros_like(p))
                    state["step"] += 1
                    step = float(state["step"])
                    state["m"].lerp_(p.grad, 1 - beta1)
                    state["v"].mul_(beta2).add_((1 - beta2) * p.grad.pow(2))
                    m_hat = state["m"].div(1 - beta1**step)
                    v_hat = state["v"].div(1 - beta2**step)
                    p.data.add_(
                        m_hat.div(v_hat.sqrt().add(group["eps"])).add(p.data, alpha=group["weight_decay"]),
                        alpha=-group["lr"],
                    )


class moments_prepared:
    """State is made in the constructor for every parameter."""

    class AdamW:
        def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
            super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p] = {"t": 0, "first": torch.zeros_like(p), "second": torch.zeros_like(p)}


class assigned_data:
    """New values are assigned to p.data."""

    class AdamW:
        def step(self):
            for g in self.param_groups:
                b1, b2 = g["betas"]
                for p in g["params"]:
                    if p.grad is not None:
                        s = self.state[p]
                        t = s["t"] = s.get("t", 0) + 1
                        m = s["m"] = b1 * s.get("m", torch.zeros_like(p)) + (1 - b1) * p.grad
                        v = s["v"] = b2 * s.get("v", torch.zeros_like(p)) + (1 - b2) * p.grad * p.grad
                        u = (m / (1 - b1**t)) / (torch.sqrt(v / (1 - b2**t)) + g["eps"])
                        p.data = p.data - g["lr"] * (u + g["weight_decay"] * p.data)


class nano_schedule:
    """Early returns, a ratio and a coefficient, as a small training script has them."""

    def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
        if step < warmup:
            return peak * step / warmup
        if step > total:
            return floor
        decay_ratio = (step - warmup) / (total - warmup)
        assert 0 <= decay_ratio <= 1
        coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
        return floor + coeff * (peak - floor)


class schedule_of_minima:
    """Both pieces are clamped, and the smaller one is taken."""

    def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
        if warmup and step < warmup:
            return peak * (step / warmup)
        progress = min(max((step - warmup) / max(1, total - warmup), 0.0), 1.0)
        return floor + (peak - floor) * math.cos(progress * math.pi / 2) ** 2
