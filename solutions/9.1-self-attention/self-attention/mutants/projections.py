"""What the three projections get wrong.

Each position asks with a query, offers a key and hands over a value: three linear layers without bias, each used once.
"""


@mistake(
    "plain-matrices",
    "your projections are bare matrices; w_q, w_k and w_v should be nn.Linear layers with weights of [d_k, d_model]",
    SelfAttention="self.w_q(x), self.w_k(x), self.w_v(x) -> x @ self.w_q, x @ self.w_k, x @ self.w_v",
    costs="no weights can be loaded into projections that are not there, so no value can be compared",
)
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_q = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)
        self.w_k = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)
        self.w_v = nn.Parameter(torch.randn(d_model, d_k) * d_model**-0.5)


@mistake("bias-kept", "your projections have a bias; pass bias=False to all three")
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_k)
        self.w_k = nn.Linear(d_model, d_k)
        self.w_v = nn.Linear(d_model, d_k)


mistake(
    "value-bias-kept",
    "your w_v has a bias; like w_q and w_k it should have none",
    SelfAttention="self.w_v = nn.Linear(d_model, d_k, bias=False) -> self.w_v = nn.Linear(d_model, d_k)",
)

mistake(
    "output-projection-added",
    "your module has an output projection; leave it out, it comes with several heads in a later exercise",
    SelfAttention="""
          self.w_v = nn.Linear(d_model, d_k, bias=False)
        + self.w_o = nn.Linear(d_k, d_k, bias=False)

        - return weights @ v, weights
        + return self.w_o(weights @ v), weights
    """,
)

mistake(
    "keys-from-queries",
    "your keys are made by w_q; they should be made by w_k",
    SelfAttention="self.w_q(x), self.w_k(x), self.w_v(x) -> self.w_q(x), self.w_q(x), self.w_v(x)",
)

mistake(
    "values-from-keys",
    "your values are made by w_k; they should be made by w_v",
    SelfAttention="self.w_q(x), self.w_k(x), self.w_v(x) -> self.w_q(x), self.w_k(x), self.w_k(x)",
)


@mistake("values-not-projected", "your output averages x itself; it should average the values, w_v(x)")
class SelfAttention:
    def forward(self, x):
        q, k = self.w_q(x), self.w_k(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = scores.softmax(dim=-1)
        return weights @ x, weights


@mistake(
    "other-names",
    "your projections have other names; they should be called w_q, w_k and w_v",
    SelfAttention="self.w_q(x), self.w_k(x), self.w_v(x) -> self.query(x), self.key(x), self.value(x)",
    costs="no weights can be loaded into layers of other names, so no value can be compared",
)
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.query = nn.Linear(d_model, d_k, bias=False)
        self.key = nn.Linear(d_model, d_k, bias=False)
        self.value = nn.Linear(d_model, d_k, bias=False)


@mistake(
    "projections-fused",
    "your queries, keys and values come from one fused layer; w_q, w_k and w_v must exist by name",
    SelfAttention="self.w_q(x), self.w_k(x), self.w_v(x) -> self.w_qkv(x).chunk(3, dim=-1)",
    costs="no weights can be loaded into projections that are not there, so no value can be compared",
)
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_qkv = nn.Linear(d_model, 3 * d_k, bias=False)


@mistake(
    "projections-as-wide-as-x",
    "your projections are d_model wide; w_q, w_k and w_v should lead from d_model to d_k",
    costs="no weights can be loaded into layers of another shape, so no value can be compared",
)
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)


mistake(
    "values-as-wide-as-x",
    "your w_v is d_model wide; like w_q and w_k it should lead from d_model to d_k",
    SelfAttention="""
        - self.w_v = nn.Linear(d_model, d_k, bias=False)
        + self.w_v = nn.Linear(d_model, d_model, bias=False)
    """,
    costs="no weights can be loaded into a layer of another shape, so no value can be compared",
)


@mistake(
    "widths-swapped",
    "your projections lead from d_k to d_model; give nn.Linear the width that comes in first",
    costs="layers that do not take x compute nothing that could be right",
)
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.w_q = nn.Linear(d_k, d_model, bias=False)
        self.w_k = nn.Linear(d_k, d_model, bias=False)
        self.w_v = nn.Linear(d_k, d_model, bias=False)


mistake(
    "weight-untransposed",
    "your x is multiplied by a layer's weight as it is, [d_k, d_model]; call the layer, or transpose the weight",
    SelfAttention="""
        - q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        + q, k, v = x @ self.w_q.weight, x @ self.w_k.weight, x @ self.w_v.weight
    """,
    costs="products that do not fit compute nothing that could be right",
)

mistake(
    "queries-from-keys",
    "your queries are made by w_k; they should be made by w_q",
    SelfAttention="v = self.w_q(x) -> v = self.w_k(x)",
)

mistake(
    "scale-learned",
    "your module learns the divisor of its scores; it should be √d_k, without a parameter",
    SelfAttention="""
          self.w_v = nn.Linear(d_model, d_k, bias=False)
        + self.scale = nn.Parameter(torch.tensor(d_k**0.5))

        - scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        + scores = q @ k.transpose(-2, -1) / self.scale
    """,
)

mistake(
    "super-forgotten",
    "your __init__ does not begin with super().__init__(), so the module cannot hold layers; call it first",
    SelfAttention="super().__init__() -> pass",
    costs="no module is made that anything could be asked of",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
