"""What the weights get wrong.

A softmax over the keys makes each query's row positive and sums it to one. Here nobody is hidden from anybody.
"""


class softmax_over_queries:
    """your softmax runs over the queries: the weights of one key sum to one, not those of one query

    Fails: test_weights_sum_to_one, test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.softmax(dim=-2)
        """


class softmax_over_batch:
    """your softmax runs over the sequences of the batch: without dim, softmax takes axis 0 of three

    Fails: test_weights_sum_to_one, test_sequences_are_alone, test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.softmax(dim=0)
        """


class normalised_without_exp:
    """your weights are the scores divided by their sum: exponentials make them positive first

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores / scores.sum(dim=-1, keepdim=True)
        """


class exp_overflow:
    """your softmax takes exp of large scores: subtract each row's maximum first

    Fails: test_large_scores
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + powers = scores.exp()
            + weights = powers / powers.sum(dim=-1, keepdim=True)
        """


class causal:
    """your attention hides the future: in this exercise every position sees every other

    Fails: test_both_directions, test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + future = torch.ones_like(scores, dtype=torch.bool).triu(1)
            + weights = scores.masked_fill(future, float("-inf")).softmax(dim=-1)
        """


class self_hidden:
    """your positions cannot see themselves: the diagonal is allowed too

    Fails: test_both_directions, test_sizes
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + itself = torch.eye(scores.size(-1), dtype=torch.bool, device=scores.device)
            + weights = scores.masked_fill(itself, float("-inf")).softmax(dim=-1)
        """


class weights_detached:
    """your weights are cut from the graph: w_q and w_k learn nothing

    Fails: test_gradients, test_parameter_gradients
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.softmax(dim=-1).detach()
        """


class normalised_over_everything:
    """your exponentials are divided by the sum of the whole table: each query's row has a sum of its own

    Fails: test_weights_sum_to_one, test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.flatten().softmax(dim=0).view_as(scores)
        """


class sigmoid_weights:
    """your weights are sigmoids: a softmax makes those of a row sum to one

    Fails: test_weights_sum_to_one, test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.sigmoid()
        """


class log_weights:
    """your weights are logarithms: log_softmax is for losses, here it is softmax

    Fails: test_weights_sum_to_one, test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.log_softmax(dim=-1)
        """


class softmax_twice:
    """your weights go through a softmax twice: the second makes them nearly equal

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = scores.softmax(dim=-1).softmax(dim=-1)
        """


class output_detached:
    """your output is cut from the graph: nothing before it learns

    Fails: test_gradients, test_parameter_gradients
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return (weights @ v).detach(), weights
        """


class returned_weights_detached:
    """your second result is cut from the graph: return the weights themselves, a plot can detach them

    Fails: test_gradients
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return weights @ v, weights.detach()
        """


class uniform_weights:
    """your weights are the same for every key: queries and keys are not compared at all

    Fails: test_weights
    Idle: nothing is compared
    """

    class SelfAttention:
        forward = """
            - weights = scores.softmax(dim=-1)
            + weights = torch.full_like(scores, 1 / scores.size(-1))
        """
