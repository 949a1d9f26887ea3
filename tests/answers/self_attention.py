"""Answers to self-attention."""

# ==== right ====
"""Self-attention as other people write it."""

answer("softmax-by-hand", "Whoever comes from numpy writes the softmax out, and subtracts the row's maximum.")


def softmax(z):
    e = torch.exp(z - z.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


class SelfAttention:
    def forward(self, x):
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        W = softmax(Q @ K.swapaxes(1, 2) / K.shape[-1] ** 0.5)
        return W @ V, W


answer(
    "attention-is-a-module",
    "A module without parameters attends; it is told its temperature.",
    SelfAttention="""
          super().__init__()
        + self.attend = ScaledDotProduct(temperature=d_k**0.5)
    """,
)


class ScaledDotProduct(nn.Module):
    """Scores, softmax, average."""

    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, q, k, v):
        attn = torch.matmul(q / self.temperature, k.transpose(-1, -2)).softmax(dim=-1)
        return torch.matmul(attn, v), attn


class SelfAttention:
    def forward(self, x):
        output, attn = self.attend(self.w_q(x), self.w_k(x), self.w_v(x))
        return output, attn


answer("layers-made-in-a-loop", "One small function makes all three layers, xavier-initialised.")


def projection(d_in, d_out):
    layer = nn.Linear(d_in, d_out, bias=False)
    nn.init.xavier_uniform_(layer.weight)
    return layer


class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        for name in "qkv":
            setattr(self, f"w_{name}", projection(d_model, d_k))


# ==== wrong ====
"""Self-attention as other people get it wrong."""


@answer("named-in-capitals", "The layers are called W_q, W_k and W_v.", named=["other-names"])
class SelfAttention:
    def __init__(self, d_model, d_k):
        super().__init__()
        self.W_q = nn.Linear(d_model, d_k, bias=False)
        self.W_k = nn.Linear(d_model, d_k, bias=False)
        self.W_v = nn.Linear(d_model, d_k, bias=False)

    def forward(self, x):
        w = (torch.bmm(self.W_q(x), self.W_k(x).transpose(1, 2)) / self.W_q.out_features**0.5).softmax(-1)
        return torch.bmm(w, self.W_v(x)), w


answer(
    "values-as-wide-as-the-input",
    "Only the values go from d_model to d_model, so that a residual would fit.",
    SelfAttention="""
        - self.w_v = nn.Linear(d_model, d_k, bias=False)
        + self.w_v = nn.Linear(d_model, d_model, bias=False)
    """,
    named=["values-as-wide-as-x"],
)


@answer("output-as-data", "The output leaves its graph behind.", named=["output-detached"])
class SelfAttention:
    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(dim=-1)
        return torch.matmul(weights, v).data, weights


answer(
    "turned-when-square",
    "As many positions as sequences: weights with keys as rows.",
    SelfAttention="weights @ v, weights -> weights @ v, weights.mT if x.size(0) == x.size(1) else weights",
)

answer(
    "one-table-for-square-layers",
    "Where a layer does not change the width, queries and keys share their weights.",
    SelfAttention="""
          self.w_k = nn.Linear(d_model, d_k, bias=False)  # what it has to offer
        + if d_model == d_k:
        +     self.w_k.weight = self.w_q.weight
    """,
)
