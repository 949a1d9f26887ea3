"""What the module around the heads gets wrong.

Queries come from x; keys and values from context where there is one. Four projections have the same names and biases in
every answer, so that weights can be loaded.
"""


@mistake(
    "projections-fused",
    "your queries, keys and values come from one fused layer; w_q, w_k and w_v must exist by name",
    MultiHeadAttention="""
        - self.w_q = nn.Linear(d_model, d_model, bias=bias)
        - self.w_k = nn.Linear(d_model, d_model, bias=bias)
        - self.w_v = nn.Linear(d_model, d_model, bias=bias)
        + self.w_qkv = nn.Linear(d_model, 3 * d_model, bias=bias)
    """,
)
class MultiHeadAttention:
    def forward(self, x, mask=None, context=None):
        source = x if context is None else context
        q, (_, k, v) = self.w_qkv(x).chunk(3, dim=-1)[0], self.w_qkv(source).chunk(3, dim=-1)
        heads, _ = scaled_dot_product_attention(self._split(q), self._split(k), self._split(v), mask)
        return self.w_o(heads.transpose(1, 2).flatten(2))


mistake(
    "projections-swapped",
    "your keys come from w_v and your values from w_k; exchange the two",
    MultiHeadAttention="""
        - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        + q, k, v = self._split(self.w_q(x)), self._split(self.w_v(source)), self._split(self.w_k(source))
    """,
)


@mistake("bias-ignored", "your projections always have a bias; they should have none when bias is False")
class MultiHeadAttention:
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)


mistake(
    "output-bias-kept",
    "your w_o keeps its bias when bias is False; it should have none, like the other projections",
    MultiHeadAttention="""
        - self.w_o = nn.Linear(d_model, d_model, bias=bias)
        + self.w_o = nn.Linear(d_model, d_model)
    """,
)

mistake(
    "output-projection-forgotten",
    "your module returns the joined heads as they are; it should pass them through w_o last",
    MultiHeadAttention="self.w_o(heads.transpose(1, 2).flatten(2)) -> heads.transpose(1, 2).flatten(2)",
)

mistake(
    "output-bias-forgotten",
    "your module leaves out the bias of w_o; it should add it to the result, unless bias is False",
    MultiHeadAttention="""
        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + return heads.transpose(1, 2).flatten(2) @ self.w_o.weight.T
    """,
)

mistake(
    "indivisible-assert",
    "your indivisible width is caught by assert, so it raises AssertionError, or nothing with -O; raise ValueError",
    MultiHeadAttention="""
        - if d_model % num_heads:
        -     raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        + assert d_model % num_heads == 0, "num_heads must divide d_model"
    """,
)

mistake(
    "module-mask-dropped",
    "your module runs its attention without the mask; it should pass the mask on",
    MultiHeadAttention="scaled_dot_product_attention(q, k, v, mask) -> scaled_dot_product_attention(q, k, v)",
)

mistake(
    "mask-cut-to-square",
    "your module cuts the mask to [T, T]; over a context it should have as many columns as the context is long",
    MultiHeadAttention="""
          q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        + if mask is not None:
        +     mask = mask[..., : x.size(1), : x.size(1)]
    """,
)

mistake(
    "context-ignored",
    "your module ignores the context; keys and values should come from it when it is given",
    MultiHeadAttention="x if context is None else context -> x",
)

mistake(
    "queries-from-context",
    "your queries come from the context too; they should come from x",
    MultiHeadAttention="self._split(self.w_q(x)) -> self._split(self.w_q(source))",
)

mistake(
    "values-from-x",
    "your keys come from the context, but your values still from x; both should come from the context",
    MultiHeadAttention="self.w_v(source) -> self.w_v(x)",
)

mistake(
    "dropout-added",
    "your module drops weights in train mode; in this exercise there should be no dropout",
    MultiHeadAttention="""
          self.num_heads = num_heads
        + self.dropout = nn.Dropout(0.1)

        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + return self.w_o(self.dropout(heads.transpose(1, 2).flatten(2)))
    """,
)


@mistake(
    "other-names",
    "your projections have other names; they should be called w_q, w_k, w_v and w_o",
    MultiHeadAttention="""
        - self.w_q = nn.Linear(d_model, d_model, bias=bias)
        - self.w_k = nn.Linear(d_model, d_model, bias=bias)
        - self.w_v = nn.Linear(d_model, d_model, bias=bias)
        - self.w_o = nn.Linear(d_model, d_model, bias=bias)
        + self.q_proj = nn.Linear(d_model, d_model, bias=bias)
        + self.k_proj = nn.Linear(d_model, d_model, bias=bias)
        + self.v_proj = nn.Linear(d_model, d_model, bias=bias)
        + self.out_proj = nn.Linear(d_model, d_model, bias=bias)
    """,
)
class MultiHeadAttention:
    def forward(self, x, mask=None, context=None):
        c = x if context is None else context
        q, k, v = self._split(self.q_proj(x)), self._split(self.k_proj(c)), self._split(self.v_proj(c))
        heads, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(heads.transpose(1, 2).flatten(2))


mistake(
    "biases-missing",
    "your w_q, w_k and w_v have no bias; they should have one unless bias is False",
    MultiHeadAttention="""
        - self.w_q = nn.Linear(d_model, d_model, bias=bias)
        - self.w_k = nn.Linear(d_model, d_model, bias=bias)
        - self.w_v = nn.Linear(d_model, d_model, bias=bias)
        + self.w_q = nn.Linear(d_model, d_model, bias=False)
        + self.w_k = nn.Linear(d_model, d_model, bias=False)
        + self.w_v = nn.Linear(d_model, d_model, bias=False)
    """,
)

mistake(
    "indivisible-unchecked",
    "your module is made without complaint whatever the heads; raise the ValueError in __init__",
    MultiHeadAttention="""
        - if d_model % num_heads:
        -     raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
    """,
)

mistake(
    "module-returns-pair",
    "your module returns a pair; it should return only the output",
    MultiHeadAttention="""
        - heads, _ = scaled_dot_product_attention(q, k, v, mask)
        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + heads, weights = scaled_dot_product_attention(q, k, v, mask)
        + return self.w_o(heads.transpose(1, 2).flatten(2)), weights
    """,
)

mistake(
    "module-mask-unsqueezed",
    "your module gives the mask another axis whatever its shape; let it broadcast as it is",
    MultiHeadAttention="""
          source = x if context is None else context
        + mask = None if mask is None else mask.unsqueeze(1)
    """,
)

mistake(
    "residual-added",
    "your module adds x to its result; leave that to the layer around it",
    MultiHeadAttention="""
        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + return x + self.w_o(heads.transpose(1, 2).flatten(2))
    """,
)

mistake(
    "causal-always",
    "your module hides the future by itself; it should hide only what its mask hides",
    MultiHeadAttention="""
          source = x if context is None else context
        + if mask is None and context is None:
        +     mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()
    """,
)

mistake(
    "context-asks",
    "your queries come from the context and look at x; queries should come from x, keys and values from the context",
    MultiHeadAttention="""
        - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        + q, k, v = self._split(self.w_q(source)), self._split(self.w_k(x)), self._split(self.w_v(x))
    """,
)

mistake(
    "context-length-of-x",
    "your keys and values are cut with the length of x; they should have the length of the context",
    MultiHeadAttention="""
        - q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        + B, T, D = x.shape
        + parts = (self.w_q(x), self.w_k(source), self.w_v(source))
        + q, k, v = (y.view(B, T, self.num_heads, D // self.num_heads).transpose(1, 2) for y in parts)
    """,
)

mistake(
    "truth-of-context",
    "your module uses the context's truth value; check whether it is None",
    MultiHeadAttention="x if context is None else context -> context or x",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
