"""What the three projections get wrong.

Each position asks with a query, offers a key and hands over a value: three linear layers without bias, each used once.
"""


class plain_matrices:
    """your projections are bare matrices of [d_model, d_k]: w_q, w_k and w_v are nn.Linear layers

    Fails: test_parameters
    Costs: no weights can be loaded into projections that are not there, so no value can be compared
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.w_q = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)
            self.w_k = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)
            self.w_v = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)

        forward = """
            - q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            + q, k, v = x @ self.w_q, x @ self.w_k, x @ self.w_v
        """


class bias_kept:
    """your projections have a bias: pass bias=False to all three

    Fails: test_no_bias
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.w_q = nn.Linear(d_model, d_k)
            self.w_k = nn.Linear(d_model, d_k)
            self.w_v = nn.Linear(d_model, d_k)


class value_bias_kept:
    """your w_v has a bias, though w_q and w_k have none

    Fails: test_no_bias
    """

    class SelfAttention:
        __init__ = """
            - self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.w_v = nn.Linear(d_model, d_k)
        """


class output_projection_added:
    """your module has an output projection: that comes with several heads, in a later exercise

    Fails: test_no_bias, test_output
    """

    class SelfAttention:
        __init__ = """
              self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.w_o = nn.Linear(d_k, d_k, bias=False)
        """

        forward = """
            - return weights @ v, weights
            + return self.w_o(weights @ v), weights
        """


class keys_from_queries:
    """your keys are made by w_q: w_k is never used

    Fails: test_weights, test_parameter_gradients
    """

    class SelfAttention:
        forward = """
            - q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            + q, k, v = self.w_q(x), self.w_q(x), self.w_v(x)
        """


class values_from_keys:
    """your values are made by w_k: w_v is never used

    Fails: test_output, test_parameter_gradients
    """

    class SelfAttention:
        forward = """
            - q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            + q, k, v = self.w_q(x), self.w_k(x), self.w_k(x)
        """


class values_not_projected:
    """your output averages x itself: the values are w_v(x)

    Fails: test_output_shape
    """

    class SelfAttention:
        def forward(self, x):
            q, k = self.w_q(x), self.w_k(x)
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
            weights = scores.softmax(dim=-1)
            return weights @ x, weights
