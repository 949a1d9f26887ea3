"""Feed-forward networks as other people get them wrong."""


# --- gelu ---


class tanh_of_gpt2:
    """The approximation with tanh, as in small GPTs.

    Named: gelu_tanh
    """

    def gelu(x):
        return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class nothing_between:
    """linear2(dropout(linear1(x))), whatever the activation.

    Named: no_activation_at_all, no_activation
    """

    class FeedForward:
        def forward(self, x):
            return self.linear2(self.dropout(self.linear1(x)))


class a_sequence:
    """One nn.Sequential holds the layers.

    Named: other_names
    """

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            acts = {"relu": nn.ReLU(), "gelu": nn.GELU(), "swiglu": nn.SiLU()}
            if activation not in acts:
                raise ValueError(activation)
            self.net = nn.Sequential(
                nn.Linear(d_model, d_ff), acts[activation], nn.Dropout(dropout), nn.Linear(d_ff, d_model)
            )

        def forward(self, x):
            return self.net(x)
