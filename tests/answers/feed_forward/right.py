"""Feed-forward networks as other people write them."""


# --- gelu ---


class root_of_two_by_its_reciprocal:
    """The root is a constant that is multiplied, as kernels have it."""

    M_SQRT1_2 = 0.70710678118654752440

    def gelu(x):
        return 0.5 * x * (1 + torch.erf(x * M_SQRT1_2))


class early_return_for_the_gate:
    """The gated branch returns first; the others share a line."""

    class FeedForward:
        def forward(self, x):
            h = self.linear1(x)
            if self.activation == "swiglu":
                return self.linear2(self.dropout(h * F.silu(self.gate(x))))
            act = gelu if self.activation == "gelu" else torch.relu
            return self.linear2(self.dropout(act(h)))


class the_normal_distribution_by_name:
    """Φ has a name of its own."""

    def normal_cdf(x):
        return (1 + torch.erf(x / 2**0.5)) / 2

    def gelu(x):
        return x * normal_cdf(x)


class ndtr:
    """torch.special knows Φ."""

    def gelu(x):
        return x * torch.special.ndtr(x)


class complementary_error_function:
    """Φ from erfc, which keeps small shares exact."""

    def gelu(x):
        return 0.5 * x * torch.special.erfc(-x / math.sqrt(2))


class gelu_by_its_methods:
    """A chain of methods, none of them in place on x."""

    def gelu(x):
        share = x.div(math.sqrt(2.0)).erf().add(1.0).mul(0.5)
        return x.mul(share)


class in_place_on_its_own:
    """The intermediate tensor is changed in place; x is not."""

    def gelu(x):
        share = torch.erf(x / math.sqrt(2.0))
        return share.add(1.0).mul(x) * 0.5


class gelu_in_float32:
    """Half precision is computed in float32 and cast back."""

    def gelu(x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        return (0.5 * y * (1.0 + torch.erf(y / math.sqrt(2.0)))).to(x.dtype)


# --- the network ---


class position_wise_of_the_annotated:
    """One line for what is plain, the options beside it."""

    class FeedForward:
        def forward(self, x):
            if self.activation == "swiglu":
                hidden = F.silu(self.gate(x)) * self.linear1(x)
            else:
                hidden = {"relu": F.relu, "gelu": gelu}[self.activation](self.linear1(x))
            return self.linear2(self.dropout(hidden))


class table_of_functions:
    """A table of functions; what is not in it is refused."""

    ACT2FN = {"relu": torch.relu, "gelu": gelu, "swiglu": F.silu}

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation not in ACT2FN:
                raise ValueError(f"function {activation} not found in {list(ACT2FN)}")
            self.act = ACT2FN[activation]
            self.linear1 = nn.Linear(d_model, d_ff)
            self.gate = nn.Linear(d_model, d_ff) if activation == "swiglu" else None
            self.linear2 = nn.Linear(d_ff, d_model)
            self.dropout = nn.Dropout(p=dropout)

        def forward(self, x):
            h = self.linear1(x)
            h = self.act(h) if self.gate is None else self.act(self.gate(x)) * h
            return self.linear2(self.dropout(h))


class activation_modules:
    """The activations are modules, torch's GELU among them, which the network may use."""

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation == "relu":
                self.act = nn.ReLU()
            elif activation == "gelu":
                self.act = nn.GELU()
            elif activation == "swiglu":
                self.act = nn.SiLU()
                self.gate = nn.Linear(d_model, d_ff)
            else:
                raise ValueError(f"unknown activation: {activation}")
            self.linear1 = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)
            self.linear2 = nn.Linear(d_ff, d_model)

        def forward(self, x):
            if hasattr(self, "gate"):
                return self.linear2(self.dropout(self.act(self.gate(x)) * self.linear1(x)))
            return self.linear2(self.dropout(self.act(self.linear1(x))))


class functional_dropout:
    """F.dropout, told whether it is training."""

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.p = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + return self.linear2(F.dropout(h, p=self.p, training=self.training))
        """


class dropout_by_hand:
    """A coin for each hidden number, and what is kept is scaled up."""

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.keep = 1.0 - dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + if self.training and self.keep < 1.0:
            +     coins = torch.rand(h.shape, device=h.device) < self.keep
            +     h = torch.where(coins, h / self.keep, torch.zeros_like(h))
            + return self.linear2(h)
        """


class bernoulli_by_hand:
    """The mask is drawn by bernoulli and multiplied."""

    class FeedForward:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.drop = dropout
        """

        forward = """
            - return self.linear2(self.dropout(h))
            + if self.training and self.drop > 0:
            +     mask = torch.bernoulli(torch.full_like(h, 1 - self.drop))
            +     h = h * mask / (1 - self.drop)
            + return self.linear2(h)
        """


class gate_and_linear_in_one_product:
    """Gate and linear1 are one product of joined weights, cut into two."""

    class FeedForward:
        def forward(self, x):
            if self.activation == "swiglu":
                weight = torch.cat((self.gate.weight, self.linear1.weight))
                bias = torch.cat((self.gate.bias, self.linear1.bias))
                gate, up = F.linear(x, weight, bias).chunk(2, dim=-1)
                h = F.silu(gate) * up
            elif self.activation == "gelu":
                h = gelu(self.linear1(x))
            else:
                h = self.linear1(x).clamp(min=0)
            return self.linear2(self.dropout(h))


class silu_by_hand:
    """silu and relu are written out."""

    def silu(z):
        return z * torch.sigmoid(z)

    def relu(z):
        return torch.maximum(z, torch.zeros_like(z))

    class FeedForward:
        def forward(self, x):
            up = self.linear1(x)
            if self.activation == "relu":
                h = relu(up)
            elif self.activation == "gelu":
                h = gelu(up)
            else:
                h = silu(self.gate(x)) * up
            h = self.dropout(h)
            return self.linear2(h)


class relu_in_place_on_its_own:
    """The activations of relu and silu are taken in place on fresh tensors."""

    class FeedForward:
        forward = """
            - h = F.relu(h)
            + h = F.relu(h, inplace=True)

            - h = F.silu(self.gate(x)) * h
            + h = F.silu(self.gate(x), inplace=True).mul(h)
        """


class method_for_each_activation:
    """Each activation is a method, found in a table."""

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            methods = {"relu": self._relu, "gelu": self._gelu, "swiglu": self._swiglu}
            if activation not in methods:
                raise ValueError(f"{activation!r}: expected one of {', '.join(methods)}")
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
            self.dropout = nn.Dropout(dropout)
            if activation == "swiglu":
                self.gate = nn.Linear(d_model, d_ff)
            self.hidden = methods[activation]

        def _relu(self, x):
            return F.relu(self.linear1(x))

        def _gelu(self, x):
            return gelu(self.linear1(x))

        def _swiglu(self, x):
            return self.linear1(x) * F.silu(self.gate(x))

        def forward(self, x):
            return self.linear2(self.dropout(self.hidden(x)))


class flattened_positions:
    """Positions are laid out in one axis, and folded again at the end."""

    class FeedForward:
        def forward(self, x):
            B, T, D = x.shape
            rows = x.reshape(-1, D)
            h = self.linear1(rows)
            if self.activation == "relu":
                h = torch.where(h > 0, h, torch.zeros_like(h))
            elif self.activation == "gelu":
                h = gelu(h)
            else:
                h = h * F.silu(self.gate(rows))
            return self.linear2(self.dropout(h)).view(B, T, D)


class einsum_from_the_weights:
    """The products are sums over named axes."""

    def apply(layer, x):
        return torch.einsum("btd,fd->btf", x, layer.weight) + layer.bias

    class FeedForward:
        def forward(self, x):
            h = apply(self.linear1, x)
            if self.activation == "swiglu":
                h = F.silu(apply(self.gate, x)) * h
            else:
                h = gelu(h) if self.activation == "gelu" else h.relu()
            return apply(self.linear2, self.dropout(h))


class initialised_like_gpt2:
    """Small normal weights and biases of zero."""

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            if activation.lower() not in {"relu", "gelu", "swiglu"}:
                raise ValueError("activation")
            self.activation = activation.lower()
            self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
            if self.activation == "swiglu":
                self.gate = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)
            self.apply(self._init_weights)

        @staticmethod
        def _init_weights(module):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)


class match_statement:
    """match and case, and a function that is kept."""

    class FeedForward:
        def __init__(self, d_model, d_ff, activation="relu", dropout=0.0):
            super().__init__()
            match activation:
                case "relu":
                    self.bend = torch.relu
                case "gelu":
                    self.bend = gelu
                case "swiglu":
                    self.bend = None
                    self.gate = nn.Linear(d_model, d_ff)
                case _:
                    raise ValueError(f"no such activation: {activation}")
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            h = self.linear1(x)
            h = self.bend(h) if self.bend is not None else F.silu(self.gate(x)) * h
            return self.linear2(self.dropout(h))


class names_in_an_enum:
    """An Enum of what there is, which refuses the rest with a ValueError."""

    import enum

    class Activation(enum.Enum):
        """What can stand between the layers."""

        RELU = "relu"
        GELU = "gelu"
        SWIGLU = "swiglu"

    class FeedForward:
        def __init__(self, d_model: int, d_ff: int, activation: str = "relu", dropout: float = 0.0) -> None:
            super().__init__()
            self.kind = Activation(activation)
            self.linear1 = nn.Linear(d_model, d_ff)
            self.linear2 = nn.Linear(d_ff, d_model)
            if self.kind is Activation.SWIGLU:
                self.gate = nn.Linear(d_model, d_ff)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            h = self.linear1(x)
            if self.kind is Activation.RELU:
                h = F.relu(h)
            elif self.kind is Activation.GELU:
                h = gelu(h)
            else:
                h = F.silu(self.gate(x)) * h
            return self.linear2(self.dropout(h))


class sequential_in_forward:
    """The layers run as one sequence that is made for the call."""

    class Gated(nn.Module):
        """silu of a gate, times a product."""

        def __init__(self, owner):
            super().__init__()
            self.gate, self.up = owner.gate, owner.linear1

        def forward(self, x):
            return F.silu(self.gate(x)) * self.up(x)

    class Gelu(nn.Module):
        """gelu as a module."""

        def forward(self, x):
            return gelu(x)

    class FeedForward:
        def forward(self, x):
            if self.activation == "swiglu":
                first = [Gated(self)]
            else:
                first = [self.linear1, nn.ReLU() if self.activation == "relu" else Gelu()]
            return nn.Sequential(*first, self.dropout, self.linear2)(x)
