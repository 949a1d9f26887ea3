"""How decay, groups and what is remembered go wrong.

Decay is next to the moments; options are those of the group, now; what is remembered is each parameter's own.
"""


class decay_in_the_gradient:
    """your decay goes through the moments: that is Adam with L2; here it is next to them

    Fails: test_decay_alone
    """

    class AdamW:
        step = """
            - gradient, state = parameter.grad, self.state[parameter]
            + gradient, state = parameter.grad + group["weight_decay"] * parameter, self.state[parameter]

            - parameter.mul_(1 - lr * group["weight_decay"])
        """


class decay_in_place_of_the_gradient:
    """your decay is written into parameter.grad, which is not yours, and goes through the moments

    Fails: test_left, test_decoupled
    """

    class AdamW:
        step = """
            - gradient, state = parameter.grad, self.state[parameter]
            + gradient, state = parameter.grad.add_(group["weight_decay"] * parameter), self.state[parameter]

            - parameter.mul_(1 - lr * group["weight_decay"])
        """


class decay_without_lr:
    """your decay takes weight_decay of the parameter at each step: lr times that is asked for

    Fails: test_decay_alone, test_decoupled
    """

    class AdamW:
        step = """
            - parameter.mul_(1 - lr * group["weight_decay"])
            + parameter.mul_(1 - group["weight_decay"])
        """


class decay_after_the_step:
    """your decay takes its share of the parameter after the update: it is a share of the parameter before the step

    Fails: test_decoupled
    """

    class AdamW:
        step = """
            - parameter.mul_(1 - lr * group["weight_decay"])
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.mul_(1 - lr * group["weight_decay"])
        """


class no_decay:
    """your parameters do not decay

    Fails: test_decay_alone, test_decoupled
    """

    class AdamW:
        step = """
            - parameter.mul_(1 - lr * group["weight_decay"])
        """


class missing_as_zeros:
    """your missing gradients are taken for zeros: such a parameter stays as it is and is not counted

    Fails: test_late_gradient
    """

    class AdamW:
        step = """
            - if parameter.grad is None:
            -     continue
            - gradient, state = parameter.grad, self.state[parameter]
            + gradient, state = parameter.grad, self.state[parameter]
            + if gradient is None:
            +     gradient = torch.zeros_like(parameter)
        """


class stops_at_a_missing_gradient:
    """your step ends at the first parameter without a gradient: those after it have to be updated too

    Fails: test_late_gradient
    """

    class AdamW:
        step = """
              if parameter.grad is None:
            -     continue
            +     return
        """


class one_count_for_all:
    """your steps are counted for all parameters together: each has its own, from its first gradient on

    Fails: test_late_gradient
    """

    class AdamW:
        step = """
            + self.__dict__["count"] = self.__dict__.get("count", 0) + 1
              for group in self.param_groups:

            - first, second, t = state["first"], state["second"], state["t"]
            + first, second, t = state["first"], state["second"], self.count
        """


class groups_ignored:
    """your options are those of the constructor: a group may have its own, and a schedule changes them

    Fails: test_groups, test_schedule
    """

    class AdamW:
        step = """
            - for group in self.param_groups:
            + for group in ({**one, **self.defaults} for one in self.param_groups):
        """


class lr_of_the_beginning:
    """your lr is that of the first step: a schedule changes group["lr"] between steps

    Fails: test_schedule
    """

    class AdamW:
        step = """
            - lr, (beta1, beta2) = group["lr"], group["betas"]
            + lr, (beta1, beta2) = group.setdefault("begun", group["lr"]), group["betas"]
        """


class books_of_its_own:
    """your moments are outside self.state: state_dict does not hold them

    Fails: test_state_dict
    """

    class AdamW:
        __init__ = """
              super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
            + self.books = {}
        """

        step = """
            - gradient, state = parameter.grad, self.state[parameter]
            + gradient, state = parameter.grad, self.books.setdefault(parameter, {})
        """


class moments_kept_by_shape:
    """your moments are kept by shape: parameters of one shape share them, and each needs its own

    Fails: test_first_step
    Costs: of two parameters of one shape the second one is wrong from its first step on
    """

    class AdamW:
        step = """
            - gradient, state = parameter.grad, self.state[parameter]
            + gradient, state = parameter.grad, self.state.setdefault(tuple(parameter.shape), {})
        """


class torchs_own:
    """your steps are torch's AdamW: write them from the formulas

    Fails: test_scratch
    Costs: what rests on excluded code earns nothing
    """

    class AdamW:
        step = """
            + torch.optim.AdamW([torch.zeros(1)])
              for group in self.param_groups:
        """


class other_defaults:
    """your defaults are Adam's, without decay: weight_decay is 0.01 by default

    Fails: test_defaults
    """

    class AdamW:
        def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
            super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


class other_default_betas:
    """your betas are 0.9 and 0.99 by default: they should be 0.9 and 0.999

    Fails: test_defaults
    """

    class AdamW:
        def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.01):
            super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


class other_default_lr:
    """your lr is 1e-2 by default: it should be 1e-3

    Fails: test_defaults
    """

    class AdamW:
        def __init__(self, params, lr=1e-2, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
            super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


class other_default_eps:
    """your eps is 1e-6 by default: it should be 1e-8

    Fails: test_defaults
    """

    class AdamW:
        def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
            super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})


class decays_without_a_gradient:
    """your parameters decay even when they have no gradient: such a parameter stays as it is

    Fails: test_late_gradient
    """

    class AdamW:
        step = """
            - if parameter.grad is None:
            + parameter.mul_(1 - lr * group["weight_decay"])
            + if parameter.grad is None:

            - parameter.mul_(1 - lr * group["weight_decay"])
        """
