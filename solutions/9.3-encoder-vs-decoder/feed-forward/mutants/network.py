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
    """your layers have other names: here they are linear1 and linear2

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


class no_activation_at_all:
    """your network never applies its activation, nor the gate: two linear layers in a row are one

    Fails: test_relu_values, test_gelu_network_values, test_swiglu_values
    """

    class FeedForward:
        def forward(self, x):
            return self.linear2(self.dropout(self.linear1(x)))


class activation_twice:
    """your activation is applied once more after linear2: it belongs between the two layers alone

    Fails: test_relu_values, test_gelu_network_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + return F.relu(self.linear2(self.dropout(F.relu(h))))

            - h = gelu(h)
            + return gelu(self.linear2(self.dropout(gelu(h))))
        """


class activations_swapped:
    """your network takes gelu for "relu", and relu for "gelu"

    Fails: test_relu_values, test_gelu_network_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = gelu(h)

            - h = gelu(h)
            + h = F.relu(h)
        """


class leaky_relu:
    """your relu lets a little of what is negative through, as leaky_relu does: relu makes zeros of it

    Fails: test_relu_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = F.leaky_relu(h)
        """


class softmax_activation:
    """your activation is a softmax over the hidden units: relu looks at each by itself

    Fails: test_relu_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = h.softmax(dim=-1)
        """


class relu_on_input:
    """your relu is applied to x, before linear1: it belongs between the two layers

    Fails: test_relu_values
    """

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = self.linear1(F.relu(x))
        """


class norm_added:
    """your network has a layer norm: that is the layer around it

    Fails: test_parameters, test_gate_parameters
    """

    class FeedForward:
        __init__ = """
              super().__init__()
            + self.norm = nn.LayerNorm(d_model)
        """

        forward = """
            + x = self.norm(x)
              h = self.linear1(x)
        """


class widths_swapped:
    """your linear1 leads from F to D and linear2 from D to F: nn.Linear takes the width that comes in first

    Fails: test_parameters
    Costs: layers that do not take x compute nothing that could be right
    """

    class FeedForward:
        __init__ = """
            - self.linear1 = nn.Linear(d_model, d_ff)
            - self.linear2 = nn.Linear(d_ff, d_model)
            + self.linear1 = nn.Linear(d_ff, d_model)
            + self.linear2 = nn.Linear(d_model, d_ff)
        """


class inner_width_fixed:
    """your network is 4·D wide inside: it is as wide as d_ff says

    Fails: test_parameters
    Costs: no weights can be loaded into layers of another shape, so no value can be compared
    """

    class FeedForward:
        __init__ = """
              super().__init__()
            + d_ff = 4 * d_model
        """


class output_float32:
    """your output is written into a tensor of zeros, which is float32 whatever x is: return what linear2 gives

    Fails: test_network_promises
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + y = torch.zeros(x.shape)
            + y[:] = self.linear2(self.dropout(h))
            + return y
        """


class positions_flattened:
    """your output has its positions in one axis: it has the shape of x, [B, T, D]

    Fails: test_relu_values
    Costs: with an axis too few no check of the network sees a value
    """

    class FeedForward:
        forward = """
            + x = x.flatten(0, 1)
              h = self.linear1(x)
        """


class view_of_x:
    """your network takes a view of x, which need not be contiguous in memory: reshape takes any, and nn.Linear all axes

    Fails: test_network_promises
    """

    class FeedForward:
        forward = """
            + B, T, D = x.shape
            + x = x.view(B * T, D)
              h = self.linear1(x)

            - return self.linear2(self.dropout(h))
            + return self.linear2(self.dropout(h)).view(B, T, D)
        """


class super_forgotten:
    """your __init__ does not begin with super().__init__(): a module takes no layers before that

    Fails: test_parameters
    Costs: no module is made that anything could be asked of
    """

    class FeedForward:
        __init__ = """
            - super().__init__()
            + pass
        """


class pair_returned:
    """your forward returns more than the output: one tensor [B, T, D] is asked for

    Fails: test_relu_values
    Costs: what is not a tensor is not looked into
    """

    class FeedForward:
        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(self.dropout(h)), h
        """


class unknown_other_error:
    """your module raises another error for an unknown activation: make it a ValueError

    Fails: test_unknown_activation
    """

    class FeedForward:
        __init__ = """
            - raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
            + raise RuntimeError(f"activation must be relu, gelu or swiglu, not {activation!r}")
        """
