"""Clipping, AdamW and schedules as other people get them wrong."""


class layer_by_layer:
    """Every parameter is clipped for itself.

    Named: each_by_itself
    """

    def clip_gradients(parameters, max_norm):
        total = 0.0
        for p in parameters:
            if p.grad is None:
                continue
            n = p.grad.norm()
            total += float(n) ** 2
            if n > max_norm:
                p.grad.mul_(max_norm / n)
        return total**0.5


class always_normalised:
    """Every gradient is brought to max_norm.

    Named: scaled_up
    """

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads))
        for g in grads:
            g *= max_norm / (norm + 1e-12)
        return norm


class clip_by_value:
    """Entries are clamped.

    Named: entries_clamped
    """

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        norm = math.sqrt(sum(float((g * g).sum()) for g in grads))
        for g in grads:
            torch.clamp_(g, min=-max_norm, max=max_norm)
        return norm


class largest_norm:
    """The largest of the norms decides.

    Named: largest_norm_alone
    """

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        if not grads:
            return 0.0
        norm = max(g.norm().item() for g in grads)
        for g in grads:
            g.mul_(min(1.0, max_norm / norm))
        return norm


class mean_of_squares:
    """The root of the mean square, not of the sum.

    Named: mean_for_sum
    """

    def clip_gradients(parameters, max_norm):
        grads = [p.grad for p in parameters if p.grad is not None]
        if not grads:
            return 0.0
        flat = torch.cat([g.flatten() for g in grads])
        norm = flat.square().mean().sqrt().item()
        if norm > max_norm:
            for g in grads:
                g.mul_(max_norm / norm)
        return norm


class assigned_gradients:
    """Scaled copies take the gradients' place.

    Named: gradients_replaced
    """

    def clip_gradients(parameters, max_norm):
        parameters = [p for p in parameters if p.grad is not None]
        norm = math.sqrt(sum(p.grad.pow(2).sum().item() for p in parameters))
        coefficient = min(1.0, max_norm / norm) if norm else 1.0
        for p in parameters:
            p.grad = p.grad.clone() * coefficient
        return norm


class data_of_none:
    """Every parameter is expected to have a gradient.

    Named: gradient_expected_everywhere
    """

    def clip_gradients(parameters, max_norm):
        grads = [p.grad.data for p in parameters]
        norm = math.sqrt(sum(g.norm().item() ** 2 for g in grads))
        if norm > max_norm:
            for g in grads:
                g.mul_(max_norm / norm)
        return norm


class empty_crashes:
    """Without any gradient a stack of nothing is made.

    Named: nothing_stacked
    """

    clip_gradients = """
        - if not gradients:
        -     return 0.0
    """


class classic_adam:
    """Adam with L2 in the gradient, as it was for years.

    Named: decay_in_the_gradient
    """

    class AdamW:
        def step(self):
            for group in self.param_groups:
                b1, b2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    g = p.grad.add(p.data, alpha=group["weight_decay"])
                    s = self.state[p]
                    t = s["t"] = s.get("t", 0) + 1
                    m = s["m"] = b1 * s.get("m", torch.zeros_like(p)) + (1 - b1) * g
                    v = s["v"] = b2 * s.get("v", torch.zeros_like(p)) + (1 - b2) * g * g
                    p.data -= group["lr"] * (m / (1 - b1**t)) / (torch.sqrt(v / (1 - b2**t)) + group["eps"])


class uncorrected:
    """No correction at all, as BERT's first optimizer had it.

    Named: not_corrected
    """

    class AdamW:
        def step(self):
            for group in self.param_groups:
                b1, b2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    s = self.state[p]
                    m = s["m"] = b1 * s.get("m", torch.zeros_like(p)) + (1 - b1) * p.grad
                    v = s["v"] = b2 * s.get("v", torch.zeros_like(p)) + (1 - b2) * p.grad**2
                    p.data -= group["lr"] * (m / (v.sqrt() + group["eps"]) + group["weight_decay"] * p.data)


class count_begins_with_zero:
    """The count rises after the step: the first correction divides by 0.

    Named: counted_after_the_step
    """

    class AdamW:
        step = """
            - state["t"] += 1
            - first, second, t = state["first"], state["second"], state["t"]
            + first, second, t = state["first"], state["second"], state["t"]
            + state["t"] += 1
        """


class epsilon_before_correction:
    """eps is added to the root of the second moment before it is corrected.

    Named: eps_before_the_correction
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = (second.sqrt() + group["eps"]) / (1 - beta2**t) ** 0.5
        """


class epsilon_within:
    """eps keeps the root from zero.

    Named: eps_under_the_root
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = torch.sqrt(group["eps"] + second / (1 - beta2**t))
        """


class global_count:
    """The optimizer counts its steps, not each parameter its own.

    Named: one_count_for_all
    """

    class AdamW:
        __init__ = """
              super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
            + self.steps = 0
        """

        step = """
            + self.steps += 1
              for group in self.param_groups:

            - first, second, t = state["first"], state["second"], state["t"]
            + first, second, t = state["first"], state["second"], self.steps
        """


class decay_for_all:
    """Parameters decay whether they have a gradient or not.

    Named: decays_without_a_gradient
    """

    class AdamW:
        step = """
            - if parameter.grad is None:
            + parameter.mul_(1 - lr * group["weight_decay"])
            + if parameter.grad is None:

            - parameter.mul_(1 - lr * group["weight_decay"])
        """


class absolute_decay:
    """The share of the decay is not multiplied by lr.

    Named: decay_without_lr
    """

    class AdamW:
        step = """
            - parameter.mul_(1 - lr * group["weight_decay"])
            + parameter.sub_(parameter, alpha=group["weight_decay"])
        """


class attributes_of_the_constructor:
    """The options are kept as attributes, and groups are not asked.

    Named: groups_ignored, lr_of_the_beginning
    """

    class AdamW:
        __init__ = """
              super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
            + self.lr, self.wd, self.eps_ = lr, weight_decay, eps
        """

        step = """
            - lr, (beta1, beta2) = group["lr"], group["betas"]
            + lr, (beta1, beta2) = self.lr, self.defaults["betas"]

            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = (second / (1 - beta2**t)).sqrt() + self.eps_

            - parameter.mul_(1 - lr * group["weight_decay"])
            + parameter.mul_(1 - lr * self.wd)
        """


class lists_of_moments:
    """Moments lie in dictionaries of the optimizer's own.

    Named: books_of_its_own
    """

    class AdamW:
        __init__ = """
              super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
            + self.m, self.v, self.t = {}, {}, {}
        """

        step = """
            - gradient, state = parameter.grad, self.state[parameter]
            - if not state:
            -     state["t"] = 0
            -     state["first"] = torch.zeros_like(parameter)
            -     state["second"] = torch.zeros_like(parameter)
            - state["t"] += 1
            - first, second, t = state["first"], state["second"], state["t"]
            + gradient = parameter.grad
            + first = self.m.setdefault(parameter, torch.zeros_like(parameter))
            + second = self.v.setdefault(parameter, torch.zeros_like(parameter))
            + t = self.t[parameter] = self.t.get(parameter, 0) + 1
        """


class a_new_tensor:
    """The local name gets a new tensor, and the parameter stays where it was.

    Named: parameter_not_moved
    """

    class AdamW:
        step = """
            - parameter.mul_(1 - lr * group["weight_decay"])
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter = parameter * (1 - lr * group["weight_decay"])
            + parameter = parameter - lr * (first / (1 - beta1**t)) / size
        """


class one_ahead:
    """The first rate is not 0: (step + 1) / warmup.

    Named: first_rate_not_zero
    """

    warmup_cosine = """
        - return peak * step / warmup
        + return peak * (step + 1) / warmup
    """


class share_of_everything:
    """The cosine runs over all steps.

    Named: cosine_from_step_zero
    """

    def warmup_cosine(step, *, warmup, total, peak, floor=0.0):
        if step < warmup:
            return step / warmup * peak
        if step >= total:
            return floor
        return floor + (peak - floor) * 0.5 * (1 + math.cos(math.pi * step / total))


class clamped_below_by_floor:
    """The cosine falls to 0 and is cut off at floor.

    Named: cut_off_at_floor
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return max(floor, peak * (1 + math.cos(math.pi * share)) / 2)
    """


class linear_decay:
    """A triangle.

    Named: straight_down
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return peak + (floor - peak) * share
    """


class zero_at_the_end:
    """After total the rate is 0, whatever the floor.

    Named: zero_after_total
    """

    warmup_cosine = """
        - return float(floor)
        + return 0.0
    """
