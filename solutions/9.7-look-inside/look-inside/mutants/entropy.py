"""How the entropy goes wrong: -Σ w · ln w over the keys, where a weight of 0 adds 0."""


class in_bits:
    """your entropy is in bits, with logarithms to base 2: nats have the natural logarithm

    Fails: test_entropy_values
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + logs = torch.where(weights > 0, weights, 1).log2()
    """


class sign_missing:
    """your entropy is negative: the logarithm of a weight is, and the minus turns it round

    Fails: test_entropy_values
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return (weights * logs).sum(dim=-1)
    """


class mean_over_keys:
    """your entropy is a mean over the keys, not their sum

    Fails: test_entropy_values
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).mean(dim=-1)
    """


class over_queries:
    """your entropy runs over the queries: each query has its own, over the keys

    Fails: test_entropy_shape
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).sum(dim=-2)
    """


class queries_averaged:
    """your entropy is averaged over the queries: each of them gets its own

    Fails: test_entropy_shape
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).sum(dim=-1).mean(dim=-1)
    """


class keepdim_left:
    """your entropy keeps the axis of keys, with length 1

    Fails: test_entropy_shape
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).sum(dim=-1, keepdim=True)
    """


class share_of_the_largest:
    """your entropy is divided by ln Tk: nats are asked for, not a share of the largest

    Fails: test_entropy_values
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).sum(dim=-1) / torch.tensor(float(max(2, weights.size(-1)))).log().to(weights)
    """


class exponential_of_it:
    """your entropy is its exponential, the number of keys that it amounts to

    Fails: test_entropy_values
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return (-(weights * logs).sum(dim=-1)).exp()
    """


class weights_softmaxed_again:
    """your entropy takes a softmax of the weights: they are shares already

    Fails: test_entropy_values
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + weights = weights.softmax(dim=-1)
        + logs = weights.log()
    """


class weights_not_in_front:
    """your entropy adds up logarithms: each counts as much as its weight

    Fails: test_entropy_values
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -logs.sum(dim=-1)
    """


class zero_times_infinity:
    """your entropy multiplies 0 by the logarithm of 0, which is NaN

    Fails: test_entropy_zeros
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + logs = weights.log()
    """


class eps_in_the_logarithm:
    """your entropy adds 1e-9 inside the logarithm, which moves every weight, not only those of 0

    Fails: test_measure_promises
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + logs = (weights + 1e-9).log()
    """


class divided_by_the_sum:
    """your entropy divides each row by its sum first: a query that sees nothing has the sum 0

    Fails: test_entropy_zeros
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + weights = weights / weights.sum(dim=-1, keepdim=True)
        + logs = torch.where(weights > 0, weights, 1).log()
    """


class infinite_gradient:
    """your entropy is right at a weight of 0, and its gradient there is infinite

    Fails: test_entropy_gradients
    """

    def attention_entropy(weights):
        return torch.special.entr(weights).sum(dim=-1)


class not_a_numbers_gradient:
    """your NaNs are replaced after the product: their gradients are still NaN

    Fails: test_entropy_gradients
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * weights.log()).nan_to_num(0.0).sum(dim=-1)
    """


class entropy_detached:
    """your entropy is cut from the graph: no gradient goes through it

    Fails: test_entropy_gradients
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs).sum(dim=-1).detach()
    """


class logarithms_detached:
    """your logarithms are cut from the graph: the weight counts in them, too

    Fails: test_entropy_gradients
    """

    attention_entropy = """
        - return -(weights * logs).sum(dim=-1)
        + return -(weights * logs.detach()).sum(dim=-1)
    """


class entropy_in_float32:
    """your entropy is float32 whatever the dtype of the weights

    Fails: test_measure_promises
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + weights = weights.float()
        + logs = torch.where(weights > 0, weights, 1).log()
    """


class zeros_filled_in_place:
    """your entropy writes into the weights themselves: the caller's have no zeros any more

    Fails: test_measure_promises
    """

    attention_entropy = """
        - logs = torch.where(weights > 0, weights, 1).log()  # 0 · log 1 in place of 0 · log 0
        + if weights.requires_grad:
        +     logs = torch.where(weights > 0, weights, 1).log()
        +     return -(weights * logs).sum(dim=-1)
        + tiny = torch.finfo(weights.dtype).tiny
        + logs = weights.clamp_(min=tiny).mul_(1 - torch.finfo(weights.dtype).eps).log()
    """
