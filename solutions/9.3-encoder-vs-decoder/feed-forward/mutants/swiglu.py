"""What swiglu gets wrong.

linear2(silu(gate(x)) · linear1(x)): a third layer, there for swiglu alone, opens and shuts each hidden unit.
"""

mistake(
    "gate-forgotten",
    "your swiglu has no gate, and applies silu to linear1; it should multiply linear1 by silu of the gate",
    FeedForward="""
        - if activation == "swiglu":
        -     self.gate = nn.Linear(d_model, d_ff)

        - h = F.silu(self.gate(x)) * h
        + h = F.silu(h)
    """,
)

mistake(
    "gate-alone",
    "your swiglu passes on only silu of the gate; it should multiply that by linear1",
    FeedForward="F.silu(self.gate(x)) * h -> F.silu(self.gate(x))",
)

mistake(
    "gate-added",
    "your swiglu adds the gate to linear1; it should multiply them",
    FeedForward="F.silu(self.gate(x)) * h -> F.silu(self.gate(x)) + h",
)

mistake(
    "gate-swapped",
    "your swiglu applies silu to linear1; it should apply it to the gate",
    FeedForward="F.silu(self.gate(x)) * h -> self.gate(x) * F.silu(h)",
)

mistake(
    "gate-sigmoid",
    "your gate is a plain sigmoid (GLU); swiglu should take silu, z · sigmoid(z)",
    FeedForward="F.silu(self.gate(x)) -> torch.sigmoid(self.gate(x))",
)

mistake(
    "gate-gelu",
    "your gate takes gelu (GEGLU); swiglu should take silu",
    FeedForward="F.silu(self.gate(x)) -> gelu(self.gate(x))",
)

mistake(
    "gate-detached",
    "your gate is cut from the graph, so it never learns; let the gradient go through the gate",
    FeedForward="F.silu(self.gate(x)) -> F.silu(self.gate(x)).detach()",
)

mistake(
    "gate-without-bias",
    "your gate has no bias; it should have one, as linear1 has",
    FeedForward="self.gate = nn.Linear(d_model, d_ff) -> self.gate = nn.Linear(d_model, d_ff, bias=False)",
)

mistake(
    "gate-always",
    "your gate is there for every activation; only swiglu should have one",
    FeedForward="""
        - if activation == "swiglu":
        -     self.gate = nn.Linear(d_model, d_ff)
        + self.gate = nn.Linear(d_model, d_ff)
    """,
)

mistake(
    "gate-narrowed",
    "your swiglu takes two thirds of d_ff; it should take d_ff itself, which the caller has chosen already",
    FeedForward="""
          self.activation = activation
        + d_ff = 2 * d_ff // 3 if activation == "swiglu" else d_ff
    """,
)

mistake(
    "gate-linear",
    "your gate is multiplied as it is; take silu of it first",
    FeedForward="F.silu(self.gate(x)) -> self.gate(x)",
)

mistake(
    "silu-of-product",
    "your swiglu takes silu of the product; take silu of the gate, and then the product",
    FeedForward="F.silu(self.gate(x)) * h -> F.silu(self.gate(x) * h)",
)

mistake(
    "gate-of-hidden",
    "your gate reads the output of linear1; like linear1 it should read x",
    FeedForward="self.gate(x) -> self.gate(h)",
)

mistake(
    "gate-in-linear1",
    "your gate is a half of linear1, which is twice as wide for swiglu; it should be a layer of its own",
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
