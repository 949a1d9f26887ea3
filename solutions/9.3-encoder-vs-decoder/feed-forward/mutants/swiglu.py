"""What swiglu gets wrong.

linear2(silu(gate(x)) · linear1(x)): a third layer, there for swiglu alone, opens and shuts each hidden unit.
"""

mistake(
    "gate-forgotten",
    "your swiglu has no gate: it applies silu to linear1",
    FeedForward="""
        - if activation == "swiglu":
        -     self.gate = nn.Linear(d_model, d_ff)

        - h = F.silu(self.gate(x)) * h
        + h = F.silu(h)
    """,
)

mistake(
    "gate-alone",
    "your swiglu passes silu of the gate on, without multiplying it by linear1",
    FeedForward="F.silu(self.gate(x)) * h -> F.silu(self.gate(x))",
)

mistake(
    "gate-added",
    "your swiglu adds the gate to linear1: it multiplies",
    FeedForward="F.silu(self.gate(x)) * h -> F.silu(self.gate(x)) + h",
)

mistake(
    "gate-swapped",
    "your swiglu applies silu to linear1 and leaves the gate linear: it is the gate that is bent",
    FeedForward="F.silu(self.gate(x)) * h -> self.gate(x) * F.silu(h)",
)

mistake(
    "gate-sigmoid",
    "your gate is a plain sigmoid (GLU): swiglu takes silu, z · sigmoid(z)",
    FeedForward="F.silu(self.gate(x)) -> torch.sigmoid(self.gate(x))",
)

mistake(
    "gate-gelu",
    "your gate takes gelu (GEGLU): swiglu takes silu",
    FeedForward="F.silu(self.gate(x)) -> gelu(self.gate(x))",
)

mistake(
    "gate-detached",
    "your gate is cut from the graph: it never learns",
    FeedForward="F.silu(self.gate(x)) -> F.silu(self.gate(x)).detach()",
)

mistake(
    "gate-without-bias",
    "your gate has no bias",
    FeedForward="self.gate = nn.Linear(d_model, d_ff) -> self.gate = nn.Linear(d_model, d_ff, bias=False)",
)

mistake(
    "gate-always",
    "your gate is there for every activation: only swiglu has one",
    FeedForward="""
        - if activation == "swiglu":
        -     self.gate = nn.Linear(d_model, d_ff)
        + self.gate = nn.Linear(d_model, d_ff)
    """,
)

mistake(
    "gate-narrowed",
    "your swiglu takes two thirds of d_ff: the caller has chosen d_ff already",
    FeedForward="""
          self.activation = activation
        + d_ff = 2 * d_ff // 3 if activation == "swiglu" else d_ff
    """,
)

mistake(
    "gate-linear",
    "your gate is multiplied as it is: silu of it comes first",
    FeedForward="F.silu(self.gate(x)) -> self.gate(x)",
)

mistake(
    "silu-of-product",
    "your swiglu takes silu of the product: it is silu of the gate, and then the product",
    FeedForward="F.silu(self.gate(x)) * h -> F.silu(self.gate(x) * h)",
)

mistake(
    "gate-of-hidden",
    "your gate is given what linear1 made: like linear1 it takes x",
    FeedForward="self.gate(x) -> self.gate(h)",
)

mistake(
    "gate-in-linear1",
    "your gate is a half of linear1, which is twice as wide for swiglu: it is a layer of its own",
    FeedForward="""
        - self.linear1 = nn.Linear(d_model, d_ff)
        + self.linear1 = nn.Linear(d_model, 2 * d_ff if activation == "swiglu" else d_ff)

        - if activation == "swiglu":
        -     self.gate = nn.Linear(d_model, d_ff)

        - h = F.silu(self.gate(x)) * h
        + g, h = h.chunk(2, dim=-1)
        + h = F.silu(g) * h
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
