"""Self-attention as other people get it wrong."""


class named_in_capitals:
    """The layers are called W_q, W_k and W_v.

    Named: other_names
    """

    class SelfAttention:
        def __init__(self, d_model, d_k):
            super().__init__()
            self.W_q = nn.Linear(d_model, d_k, bias=False)
            self.W_k = nn.Linear(d_model, d_k, bias=False)
            self.W_v = nn.Linear(d_model, d_k, bias=False)

        def forward(self, x):
            w = (torch.bmm(self.W_q(x), self.W_k(x).transpose(1, 2)) / self.W_q.out_features**0.5).softmax(-1)
            return torch.bmm(w, self.W_v(x)), w


class values_as_wide_as_the_input:
    """Only the values go from d_model to d_model, so that a residual would fit.

    Named: values_as_wide_as_x
    """

    class SelfAttention:
        __init__ = """
            - self.w_v = nn.Linear(d_model, d_k, bias=False)
            + self.w_v = nn.Linear(d_model, d_model, bias=False)
        """


class output_as_data:
    """The output leaves its graph behind.

    Named: output_detached
    """

    class SelfAttention:
        def forward(self, x):
            q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
            weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
            return torch.matmul(weights, v).data, weights
