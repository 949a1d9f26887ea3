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
    """your scores are divided by 8: it has to be √d_k, whatever the width d_k

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) / 8.0
        """


class scaled_after_softmax:
    """your scale comes after the softmax: divide the scores by √d_k before it, and the weights still sum to one

    Fails: test_weights_sum_to_one, test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            - weights = scores.softmax(dim=-1)
            + scores = q @ k.transpose(-2, -1)
            + weights = scores.softmax(dim=-1) / math.sqrt(q.size(-1))
        """


class scaled_by_the_fourth_root:
    """your scores are divided by the fourth root of d_k: with that on the queries, the keys need it as well

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.25
        """


class product_misfit:
    """your product is of two tensors that do not fit: scores are q @ k.transpose(-2, -1), the output is weights @ v

    Fails: test_weights_shape, test_output_shape
    Costs: products that do not fit compute nothing that could be right
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q @ k / math.sqrt(q.size(-1))
        """


class features_compared:
    """your scores compare features, [d_k, d_k]: every position is compared with every position, [T, T]

    Fails: test_weights_shape
    Costs: weights of features are not weights of positions, and most of this kata is about those
    """

    class SelfAttention:
        forward = """
            - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            + scores = q.transpose(-2, -1) @ k / math.sqrt(q.size(-1))

            - return weights @ v, weights
            + return v @ weights, weights
        """


class vectors_normalised:
    """your queries and keys are scaled to length one: take the dot product of the vectors as they are

    Fails: test_weights
    """

    class SelfAttention:
        forward = """
              q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            + q, k = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)
        """


class batch_as_one_sequence:
    """your sequences are joined to one, whose positions all look at each other: keep the batch axis

    Fails: test_weights_shape, test_sequences_are_alone
    Costs: weights across sequences are not weights of positions, and most of this kata is about those
    """

    class SelfAttention:
        def forward(self, x):
            one = x.reshape(-1, x.size(-1))
            q, k, v = self.w_q(one), self.w_k(one), self.w_v(one)
            weights = (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1)
            return (weights @ v).view(*x.shape[:2], -1), weights
