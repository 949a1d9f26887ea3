"""How gradients are clipped wrongly.

One factor for all gradients, max_norm / norm, and only where their common norm is larger than that; in place.
"""


class each_by_itself:
    """your gradients are clipped one by one: all of them have one norm together, and one factor

    Fails: test_clipped
    """

    clip_gradients = """
        - if norm > max_norm:
        -     for gradient in gradients:
        -         gradient.mul_(max_norm / norm)
        + for gradient in gradients:
        +     own = gradient.norm().item()
        +     if own > max_norm:
        +         gradient.mul_(max_norm / own)
    """


class scaled_up:
    """your short gradients are scaled up to max_norm: below it they stay as they are

    Fails: test_not_clipped
    """

    clip_gradients = """
        - if norm > max_norm:
        -     for gradient in gradients:
        -         gradient.mul_(max_norm / norm)
        + for gradient in gradients:
        +     gradient.mul_(max_norm / norm)
    """


class root_forgotten:
    """your norm is the sum of squares: its root is missing

    Fails: test_norm, test_clipped
    """

    clip_gradients = """
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = sum(gradient.square().sum().item() for gradient in gradients)
    """


class norms_added:
    """your norm is the sum of the norms: squares are what is added, and the root comes last

    Fails: test_norm, test_clipped
    """

    clip_gradients = """
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = sum(gradient.norm().item() for gradient in gradients)
    """


class norm_after:
    """your result is the norm after clipping: the one before is asked for

    Fails: test_norm
    """

    clip_gradients = """
        - return norm
        + return min(norm, float(max_norm))
    """


class entries_clamped:
    """your entries are cut at max_norm one by one, which changes the direction

    Fails: test_clipped
    """

    clip_gradients = """
        - if norm > max_norm:
        -     for gradient in gradients:
        -         gradient.mul_(max_norm / norm)
        + for gradient in gradients:
        +     gradient.clamp_(-max_norm, max_norm)
    """


class epsilon_in_the_factor:
    """your factor divides by the norm plus an epsilon, so short gradients end shorter than max_norm; divide by the norm

    Fails: test_clipped
    """

    clip_gradients = """
        - gradient.mul_(max_norm / norm)
        + gradient.mul_(max_norm / (norm + 1e-6))
    """


class squares_overflow:
    """your norm squares gradients in their own dtype, and squares of float16 numbers overflow; it should be computed in
    float32 at least

    Fails: test_not_clipped
    """

    clip_gradients = """
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = sum(gradient.square().sum() for gradient in gradients).sqrt().item()
    """


class gradients_replaced:
    """your clipped gradients are new tensors: change those that are there, in place

    Fails: test_clipped
    """

    def clip_gradients(parameters, max_norm):
        some = [parameter for parameter in parameters if parameter.grad is not None]
        if not some:
            return 0.0
        norm = torch.stack([parameter.grad.norm() for parameter in some]).norm().item()
        if norm > max_norm:
            for parameter in some:
                parameter.grad = parameter.grad * (max_norm / norm)
        return norm


class norm_as_tensor:
    """your norm is a tensor: a Python float is asked for

    Fails: test_norm
    Costs: every check of clipping reads the norm as a number
    """

    clip_gradients = """
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm()
    """


class generator_walked_twice:
    """your parameters are iterated over twice: a generator is empty the second time

    Fails: test_generator
    """

    def clip_gradients(parameters, max_norm):
        norms = [parameter.grad.norm() for parameter in parameters if parameter.grad is not None]
        if not norms:
            return 0.0
        norm = torch.stack(norms).norm().item()
        for parameter in parameters:
            if parameter.grad is not None and norm > max_norm:
                parameter.grad.mul_(max_norm / norm)
        return norm


class gradient_expected_everywhere:
    """your code asks every parameter for its gradient: some have none

    Fails: test_without_gradients
    """

    clip_gradients = """
        - gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        + gradients = [parameter.grad for parameter in parameters]
    """


class ends_at_a_missing_gradient:
    """your gradients end at the first parameter without one: skip it and continue

    Fails: test_without_gradients
    """

    clip_gradients = """
        - gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        + gradients = []
        + for parameter in parameters:
        +     if parameter.grad is None:
        +         break
        +     gradients.append(parameter.grad)
    """


class largest_norm_alone:
    """your norm is the largest of the gradients' norms: squares of all of them are added

    Fails: test_norm
    """

    clip_gradients = """
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = max(gradient.norm().item() for gradient in gradients)
    """


class mean_for_sum:
    """your norm is the root of the mean square: squares are added, and not divided by how many there are

    Fails: test_norm
    """

    clip_gradients = """
        - norm = torch.stack([gradient.double().norm() for gradient in gradients]).norm().item()
        + norm = torch.cat([gradient.flatten() for gradient in gradients]).square().mean().sqrt().item()
    """


class nothing_stacked:
    """your norm is taken even when there is no gradient at all: it is 0.0 then

    Fails: test_without_gradients
    """

    clip_gradients = """
        - if not gradients:
        -     return 0.0
    """
