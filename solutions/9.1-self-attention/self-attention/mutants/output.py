"""What comes out wrong.

The output averages the values with the weights, row by row, and both are returned, in the dtype of x, which
stays as it was.
"""


class scores_used_for_output:
    """your output is made with the scores: average the values with the weights

    Fails: test_output
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return scores @ v, weights
        """


class output_by_columns:
    """your output uses the weights transposed: each query needs its row, not its column

    Fails: test_output
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return weights.transpose(-2, -1) @ v, weights
        """


class output_alone:
    """your forward returns the output alone: the weights belong to it

    Fails: test_weights_shape, test_output_shape
    Costs: the weights, which most of this kata is about, are not there to be looked at
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return weights @ v
        """


class pair_swapped:
    """your pair is the wrong way round: the output comes first, then the weights

    Fails: test_weights_shape, test_output_shape
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return weights, weights @ v
        """


class scores_returned:
    """your second result is the scores: return the weights that the softmax makes of them

    Fails: test_weights_sum_to_one, test_weights
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return weights @ v, scores
        """


class dropout_added:
    """your module drops weights in train mode: this exercise has no dropout

    Fails: test_modes
    """

    class SelfAttention:
        __init__ = """
              self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.dropout = nn.Dropout(0.1)
        """

        forward = """
            - return weights @ v, weights
            + return self.dropout(weights) @ v, weights
        """


class float32_result:
    """your results are float32 whatever x is: cast them back to the dtype of x

    Fails: test_dtypes
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.float().softmax(dim=-1)
            return weights @ v.float(), weights


class input_changed:
    """your scaling is written into x itself, which belongs to the caller: scale the scores

    Fails: test_arguments, test_modes
    """

    class SelfAttention:
        def forward(self, x):
            v = self.w_v(x)
            x *= v.size(-1) ** -0.25
            q, k = self.w_q(x), self.w_k(x)
            scores = q @ k.transpose(-2, -1)
            weights = scores.softmax(dim=-1)
            return weights @ v, weights


class torch_attention:
    """your output comes from torch's own attention operator

    Fails: test_from_scratch
    Costs: all of it rests on what the kata excludes
    """

    import torch.nn.functional as F

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return F.scaled_dot_product_attention(q, k, v), weights
        """
