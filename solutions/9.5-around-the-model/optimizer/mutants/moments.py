"""How moments and steps go wrong.

Both moments are running means that begin with 0, each divided by 1 - beta^t; eps is added to the root.

Costs: every step is made of both moments, and hardly any value of one is right without them
"""


class not_corrected:
    """your moments are not corrected for their beginning: divide them by 1 - beta ** t

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = second.sqrt() + group["eps"]

            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.sub_(lr * first / size)
        """


class first_not_corrected:
    """your first moment is not corrected for its beginning, while the second one is

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.sub_(lr * first / size)
        """


class second_not_corrected:
    """your second moment is not corrected for its beginning, while the first one is

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = second.sqrt() + group["eps"]
        """


class correction_kept:
    """your correction is written into the moment: the next step needs the uncorrected one

    Fails: test_steps
    """

    class AdamW:
        step = """
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.sub_(lr * first.div_(1 - beta1**t) / size)
        """


class t_from_zero:
    """your correction takes beta, not beta ** t: it is the same at every step

    Fails: test_steps
    """

    class AdamW:
        step = """
            - first, second, t = state["first"], state["second"], state["t"]
            + first, second, t = state["first"], state["second"], 1
        """


class t_one_too_small:
    """your correction's t is one too small from the second step on: the second step has t = 2

    Fails: test_steps
    """

    class AdamW:
        step = """
            - first, second, t = state["first"], state["second"], state["t"]
            + first, second, t = state["first"], state["second"], max(1, state["t"] - 1)
        """


class second_of_the_first:
    """your second moment is fed with the first one squared: the gradient's square is what it takes the mean of

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            + second.mul_(beta2).addcmul_(first, first, value=1 - beta2)
        """


class second_corrected_by_beta1:
    """your second moment is corrected with beta1: divide it by 1 - beta2 ** t

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = (second / (1 - beta1**t)).sqrt() + group["eps"]
        """


class first_corrected_by_beta2:
    """your first moment is corrected with beta2: divide it by 1 - beta1 ** t

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.sub_(lr * (first / (1 - beta2**t)) / size)
        """


class betas_exchanged:
    """your two betas are exchanged: the first is for the mean of g, the second for that of its square

    Fails: test_steps, test_betas
    """

    class AdamW:
        step = """
            - lr, (beta1, beta2) = group["lr"], group["betas"]
            + lr, (beta2, beta1) = group["lr"], group["betas"]
        """


class eps_under_the_root:
    """your eps is under the root: it is added to the root

    Fails: test_eps
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = (second / (1 - beta2**t) + group["eps"]).sqrt()
        """


class root_of_second_forgotten:
    """your step is divided by the second moment itself: its root is missing

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = second / (1 - beta2**t) + group["eps"]
        """


class square_forgotten:
    """your second moment is a mean of g: it has to be one of its square

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - second.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + second.mul_(beta2).add_(gradient, alpha=1 - beta2)
            + size = (second / (1 - beta2**t)).abs().sqrt() + group["eps"]
        """


class one_tensor_for_both:
    """your two moments are one and the same tensor: each needs zeros of its own

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - state["second"] = torch.zeros_like(parameter)
            + state["second"] = state["first"]
        """


class momentum_not_averaged:
    """your first moment is a sum, not a mean: the gradient comes in with the factor 1 - beta1

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - first.mul_(beta1).add_(gradient, alpha=1 - beta1)
            + first.mul_(beta1).add_(gradient)
        """


class uphill:
    """your steps go up: the update is subtracted

    Fails: test_first_step, test_steps
    """

    class AdamW:
        step = """
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter.add_(lr * (first / (1 - beta1**t)) / size)
        """


class counted_after_the_step:
    """your t is counted after the step: the first step has t = 1, and with 0 the correction divides by 0

    Fails: test_first_step
    """

    class AdamW:
        step = """
            - state["t"] += 1
              first, second, t = state["first"], state["second"], state["t"]
            + state["t"] += 1
        """


class eps_before_the_correction:
    """your eps is added before the second moment is corrected: correct v, take the root, then add eps

    Fails: test_eps
    """

    class AdamW:
        step = """
            - size = (second / (1 - beta2**t)).sqrt() + group["eps"]
            + size = (second.sqrt() + group["eps"]) / (1 - beta2**t) ** 0.5
        """


class parameter_not_moved:
    """your step makes new tensors, and the parameters stay where they were: change them in place

    Fails: test_first_step, test_decay_alone
    """

    class AdamW:
        step = """
            - parameter.mul_(1 - lr * group["weight_decay"])
            - parameter.sub_(lr * (first / (1 - beta1**t)) / size)
            + parameter = parameter * (1 - lr * group["weight_decay"])
            + parameter = parameter - lr * (first / (1 - beta1**t)) / size
        """


class betas_fixed:
    """your betas are 0.9 and 0.999 whatever the group says

    Fails: test_betas
    """

    class AdamW:
        step = """
            - lr, (beta1, beta2) = group["lr"], group["betas"]
            + lr, (beta1, beta2) = group["lr"], (0.9, 0.999)
        """
