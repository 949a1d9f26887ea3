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

    Fails: test_promises
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.float().softmax(dim=-1)
            return weights @ v.float(), weights


class input_changed:
    """your scaling is written into x itself, which belongs to the caller: scale the scores

    Fails: test_promises
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


class nothing_returned:
    """your forward returns nothing: end it with return output, weights

    Fails: test_weights_shape, test_output_shape
    Costs: there is nothing to look at
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + output = weights @ v
        """


class list_returned:
    """your forward returns a list: the pair is a tuple, return output, weights

    Fails: test_weights_shape, test_output_shape
    Costs: what is not a pair is not looked into
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return [weights @ v, weights]
        """


class output_pooled:
    """your output is averaged over the positions: each position keeps its own, [B, T, d_k]

    Fails: test_output_shape
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return (weights @ v).mean(dim=1), weights
        """


class squeezed:
    """your results lose axes of length 1: a batch of one, or a text of one position, keeps all its axes

    Fails: test_sizes
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return (weights @ v).squeeze(), weights.squeeze()
        """


class residual_added:
    """your module adds x to its output: that is the layer around it, and d_k may be another width

    Fails: test_weights_shape, test_output_shape
    Costs: sums that do not fit compute nothing that could be right
    """

    class SelfAttention:
        forward = """
            - return weights @ v, weights
            + return x + weights @ v, weights
        """


class three_arguments:
    """your forward wants queries, keys and values from the caller: it takes x alone and projects it three times

    Fails: test_weights_shape, test_output_shape
    Costs: nothing can be called
    """

    class SelfAttention:
        def forward(self, query, key, value):
            q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.softmax(dim=-1)
            return weights @ v, weights


class keys_remembered:
    """your module looks at keys and values of earlier calls as well: nothing is kept from one call to the next

    Fails: test_modes
    """

    class SelfAttention:
        __init__ = """
              super().__init__()
            + self.past = None
        """

        forward = """
              q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            + if self.past is not None and self.past[0].shape == k.shape:
            +     k, v = torch.cat((self.past[0], k), dim=1), torch.cat((self.past[1], v), dim=1)
            + self.past = k.detach(), v.detach()
        """
