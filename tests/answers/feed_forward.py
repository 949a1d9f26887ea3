"""Answers to feed-forward."""

# ==== right ====
"""Feed-forward networks as other people write them."""


@answer("gelu-by-its-methods", "A chain of methods, none of them in place on x.")
def gelu(x):
    share = x.div(math.sqrt(2.0)).erf().add(1.0).mul(0.5)
    return x.mul(share)


answer("silu-by-hand", "silu and relu are written out.")


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


answer("names-in-an-enum", "An Enum of what there is, which refuses the rest with a ValueError.")

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


# ==== wrong ====
"""Feed-forward networks as other people get them wrong."""

# --- gelu ---


@answer("tanh-of-gpt2", "The approximation with tanh, as in small GPTs.", named=["gelu-tanh"])
def gelu(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


answer(
    "no-large-gate",
    "The gate is kept between -50 and 50 against an overflow that silu does not have.",
    FeedForward="self.gate(x) -> self.gate(x).clamp(-50, 50)",
)


@answer(
    "root-in-seven-digits",
    "The root of 2 is a number from a table, which float32 does not tell from the right one.",
)
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x / 1.414214))
