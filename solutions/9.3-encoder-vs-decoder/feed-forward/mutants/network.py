"""What the two layers and what stands between them get wrong.

linear2(activation(linear1(x))), for each position by itself.
"""

mistake(
    "no-activation",
    "your network has no activation, so its two linear layers in a row are one; apply the activation between them",
    FeedForward="h = F.relu(h) -> pass",
)

mistake(
    "activation-at-the-end",
    "your activation comes after linear2; it should come between the two layers",
    FeedForward=[
        "h = F.relu(h) -> return F.relu(self.linear2(self.dropout(h)))",
        "h = gelu(h) -> return gelu(self.linear2(self.dropout(h)))",
    ],
)


@mistake(
    "activation-ignored",
    "your network always uses relu, whatever activation says; it should use the one that activation names",
)
class FeedForward:
    def forward(self, x):
        h = self.linear1(x)
        h = F.silu(self.gate(x)) * h if self.activation == "swiglu" else F.relu(h)
        return self.linear2(self.dropout(h))


mistake(
    "network-gelu-tanh",
    "your network uses an approximate GELU with tanh; it should use your exact gelu",
    FeedForward='h = gelu(h) -> h = F.gelu(h, approximate="tanh")',
)

mistake(
    "gelu-by-default",
    "your default activation is gelu; it should be relu",
    FeedForward='activation: str = "relu" -> activation: str = "gelu"',
)

mistake(
    "unknown-accepted",
    "your module is made without complaint whatever the activation is called; raise the ValueError in __init__",
    FeedForward="""
        - if activation not in ("relu", "gelu", "swiglu"):
        -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
    """,
)

mistake(
    "unknown-assert",
    "your module asserts, so it raises AssertionError, and nothing at all under python -O; raise ValueError",
    FeedForward="""
        - if activation not in ("relu", "gelu", "swiglu"):
        -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
        + assert activation in ("relu", "gelu", "swiglu")
    """,
)

mistake(
    "unknown-key-error",
    "your module raises a KeyError for an unknown activation; make it a ValueError",
    FeedForward="""
        - if activation not in ("relu", "gelu", "swiglu"):
        -     raise ValueError(f"activation must be relu, gelu or swiglu, not {activation!r}")
        + self.kind = {"relu": 0, "gelu": 1, "swiglu": 2}[activation]
    """,
)

mistake(
    "positions-mixed",
    "your network takes the mean over time before linear2; positions must not meet here",
    FeedForward="""
              h = F.silu(self.gate(x)) * h
        + h = h - h.mean(dim=-2, keepdim=True) + h.mean(dim=(-3, -2), keepdim=True)
    """,
)

mistake(
    "residual-added",
    "your network adds x to its result; leave that to the layer around it",
    FeedForward="self.linear2(self.dropout(h)) -> x + self.linear2(self.dropout(h))",
)

mistake(
    "no-biases",
    "your linear layers have no biases; they should have one each",
    FeedForward=[
        "self.linear1 = nn.Linear(d_model, d_ff) -> self.linear1 = nn.Linear(d_model, d_ff, bias=False)",
        "nn.Linear(d_ff, d_model) -> nn.Linear(d_ff, d_model, bias=False)",
    ],
)

mistake(
    "other-names",
    "your layers have other names; they should be called linear1 and linear2",
    FeedForward=[
        "self.linear1 = nn.Linear(d_model, d_ff) -> self.fc1 = nn.Linear(d_model, d_ff)",
        "self.linear2 = nn.Linear(d_ff, d_model) -> self.fc2 = nn.Linear(d_ff, d_model)",
        "self.linear1(x) -> self.fc1(x)",
        "self.linear2(self.dropout(h)) -> self.fc2(self.dropout(h))",
    ],
    costs="no weights can be loaded into layers of other names, so no value can be compared",
)


@mistake(
    "no-activation-at-all",
    "your network never applies its activation, nor the gate; apply them between linear1 and linear2",
)
class FeedForward:
    def forward(self, x):
        return self.linear2(self.dropout(self.linear1(x)))


mistake(
    "activation-twice",
    "your activation is applied once more after linear2; it should be applied only between the two layers",
    FeedForward=[
        "h = F.relu(h) -> return F.relu(self.linear2(self.dropout(F.relu(h))))",
        "h = gelu(h) -> return gelu(self.linear2(self.dropout(gelu(h))))",
    ],
)

mistake(
    "activations-swapped",
    'your network uses gelu for "relu", and relu for "gelu"; exchange the two',
    FeedForward=[
        "h = F.relu(h) -> h = gelu(h)",
        "h = gelu(h) -> h = F.relu(h)",
    ],
)

mistake(
    "leaky-relu",
    "your relu lets a little of each negative number through, as leaky_relu does; it should return zero for them",
    FeedForward="h = F.relu(h) -> h = F.leaky_relu(h)",
)

mistake(
    "softmax-activation",
    "your activation is a softmax over the hidden units; relu should look at each by itself",
    FeedForward="h = F.relu(h) -> h = h.softmax(dim=-1)",
)

mistake(
    "relu-on-input",
    "your relu is applied to x, before linear1; it should be applied between the two layers",
    FeedForward="h = F.relu(h) -> h = self.linear1(F.relu(x))",
)

mistake(
    "norm-added",
    "your network has a layer norm; leave that to the layer around it",
    FeedForward="""
          super().__init__()
        + self.norm = nn.LayerNorm(d_model)

        + x = self.norm(x)
          h = self.linear1(x)
    """,
)

mistake(
    "widths-swapped",
    "your linear1 leads from F to D and linear2 from D to F; give nn.Linear the width that comes in first",
    FeedForward=[
        "self.linear1 = nn.Linear(d_model, d_ff) -> self.linear1 = nn.Linear(d_ff, d_model)",
        "d_ff, d_model -> d_model, d_ff",
    ],
    costs="layers that do not take x compute nothing that could be right",
)

mistake(
    "inner-width-fixed",
    "your network is 4·D wide inside; it should be as wide as d_ff says",
    FeedForward="""
          super().__init__()
        + d_ff = 4 * d_model
    """,
    costs="no weights can be loaded into layers of another shape, so no value can be compared",
)

mistake(
    "output-float32",
    "your output is written into a tensor of zeros, which is float32 whatever x is; return linear2's own output",
    FeedForward="""
        - return self.linear2(self.dropout(h))
        + y = torch.zeros(x.shape)
        + y[:] = self.linear2(self.dropout(h))
        + return y
    """,
)

mistake(
    "positions-flattened",
    "your output has its positions in one axis; it should have the shape of x, [B, T, D]",
    FeedForward="""
        + x = x.flatten(0, 1)
          h = self.linear1(x)
    """,
    costs="with an axis too few no check of the network sees a value",
)

mistake(
    "view-of-x",
    "your network takes a view of x, which need not be contiguous in memory; give nn.Linear x with all its axes",
    FeedForward="""
        + B, T, D = x.shape
        + x = x.view(B * T, D)
          h = self.linear1(x)

        - return self.linear2(self.dropout(h))
        + return self.linear2(self.dropout(h)).view(B, T, D)
    """,
)

mistake(
    "super-forgotten",
    "your __init__ does not begin with super().__init__(), so the module cannot hold layers; call it first",
    FeedForward="super().__init__() -> pass",
    costs="no module is made that anything could be asked of",
)

mistake(
    "pair-returned",
    "your forward returns more than the output; it should return one tensor [B, T, D]",
    FeedForward="self.linear2(self.dropout(h)) -> self.linear2(self.dropout(h)), h",
    costs="what is not a tensor is not looked into",
)

mistake(
    "unknown-other-error",
    "your module raises another error for an unknown activation; make it a ValueError",
    FeedForward="ValueError -> RuntimeError",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
