"""What the two layers and what stands between them get wrong.

linear2(activation(linear1(x))), for each position by itself.
"""


class no_activation:
    """your network has no activation: two linear layers in a row are one

    Fails: test_relu_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + pass
        """


class activation_at_the_end:
    """your activation comes after linear2: it belongs between the two layers

    Fails: test_relu_values, test_gelu_network_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + return F.relu(self.linear2(self.dropout(h)))

            - h = gelu(h)
            + return gelu(self.linear2(self.dropout(h)))
        """


class activation_ignored:
    """your network always takes relu, whatever activation was asked for

    Fails: test_gelu_network_values
    """

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            h = F.silu(self.gate(x)) * h if self.activation == "swiglu" else F.relu(h)
            return self.linear2(self.dropout(h))


class network_gelu_tanh:
    """your network takes an approximate GELU with tanh, not your exact gelu

    Fails: test_gelu_network_values
    """

    class FeedForward:
        forward = """
            - h = gelu(h)
            + h = F.gelu(h, approximate="tanh")
        """


class gelu_by_default:
    """your default activation is gelu, not relu

    Fails: test_relu_values
    """

    class FeedForward:
        __init__ = """
            - def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
            + def __init__(self, d_model: int, d_ff: int, activation: str = "gelu", dropout: float = 0.0) -> None:
        """


class unknown_accepted:
    """your module is made without complaint whatever the activation is called: raise the ValueError in __init__

    Fails: test_unknown_activation
    """

    class FeedForward:
        __init__ = """
            - if activation not in ("relu", "gelu", "swiglu"):
            -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
        """


class unknown_assert:
    """your module asserts: that is an AssertionError, and nothing at all under python -O

    Fails: test_unknown_activation
    """

    class FeedForward:
        __init__ = """
            - if activation not in ("relu", "gelu", "swiglu"):
            -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
            + assert activation in ("relu", "gelu", "swiglu")
        """


class unknown_key_error:
    """your module raises a KeyError for an unknown activation: make it a ValueError

    Fails: test_unknown_activation
    """

    class FeedForward:
        __init__ = """
            - if activation not in ("relu", "gelu", "swiglu"):
            -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
            + self.kind = {"relu": 0, "gelu": 1, "swiglu": 2}[activation]
        """


class positions_mixed:
    """your network takes the mean over time before linear2: positions must not meet here

    Fails: test_relu_values, test_positions_are_independent
    """

    class FeedForward:
        forward = """
                  h = F.silu(self.gate(x)) * h
            + h = h - h.mean(dim=-2, keepdim=True) + h.mean(dim=(-3, -2), keepdim=True)
        """


class residual_added:
    """your network adds x to its result: that is the layer around it

    Fails: test_relu_values, test_gelu_network_values, test_swiglu_values
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return x + self.linear2(self.dropout(h))
        """


class no_biases:
    """your linear layers have no biases

    Fails: test_parameters
    """

    class FeedForward:
        __init__ = """
            - self.linear1 = nn.Linear(d_model, d_ff)
            - self.linear2 = nn.Linear(d_ff, d_model)
            + self.linear1 = nn.Linear(d_model, d_ff, bias=False)
            + self.linear2 = nn.Linear(d_ff, d_model, bias=False)
        """


class other_names:
    """your layers are called fc1 and fc2: here they are linear1 and linear2

    Fails: test_parameters
    Costs: no weights can be loaded into layers of other names, so no value can be compared
    """

    class FeedForward:
        __init__ = """
            - self.linear1 = nn.Linear(d_model, d_ff)
            - self.linear2 = nn.Linear(d_ff, d_model)
            + self.fc1 = nn.Linear(d_model, d_ff)
            + self.fc2 = nn.Linear(d_ff, d_model)
        """

        forward = """
            - h = self.linear1(x)
            + h = self.fc1(x)

            - return self.linear2(self.dropout(h))
            + return self.fc2(self.dropout(h))
        """
