"""What the scores get wrong.

Row i, column j is query i times key j. The sum has d_k terms, so its spread grows with √d_k: it is divided
by that.
"""


class queries_and_keys_swapped:
    """your rows are keys and your columns queries: it is query times key transposed

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = k @ q.transpose(-2, -1) / math.sqrt(q.size(-1))
        """


class keys_viewed:
    """your keys are turned by a view: it cuts up memory in its own order, where a transpose exchanges two axes

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.contiguous().view(k.size(0), k.size(2), k.size(1)) / math.sqrt(q.size(-1))
        """


class unscaled:
    """your scores are not divided by √d_k

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1)
        """


class scaled_by_width:
    """your scores are divided by d_k instead of its square root

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) / q.size(-1)
        """


class scaled_by_model_width:
    """your scores are divided by √d_model: it is √d_k, the width of the vectors that are multiplied

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
        """


class scaled_by_length:
    """your scores are divided by the root of T: size(1) is the length, the width is size(-1)

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(1))
        """


class scores_multiplied:
    """your scores are multiplied by √d_k instead of divided

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) * math.sqrt(q.size(-1))
        """


class scaled_by_a_constant:
    """your scores are divided by {VALUE}: it has to be √d_k, whatever the width d_k

    Fails: test_weights
    Value: 0.1 to 100, or a number of its own
    """

    VALUE = 8.0

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) / VALUE
        """
