"""Answers to long-attention."""

# ==== right ====
"""Attention for long sequences as other people write it."""


@answer(
    "by-the-papers-code",
    "The published way: feature maps, einsum, and a denominator turned around; causal by a running sum.",
)
def linear_attention(query, key, value, causal=False):
    kind = query.dtype
    Q = F.elu(query.to(torch.promote_types(kind, torch.float32))) + 1
    K = F.elu(key.to(torch.promote_types(kind, torch.float32))) + 1
    V = value.to(Q.dtype)
    if causal:
        KV = torch.einsum("...nd,...nm->...ndm", K, V).cumsum(-3)
        Z = 1 / torch.einsum("...nd,...nd->...n", Q, K.cumsum(-2))
        return torch.einsum("...nd,...ndm,...n->...nm", Q, KV, Z).to(kind)
    KV = torch.einsum("...sd,...sm->...md", K, V)
    Z = 1 / torch.einsum("...ld,...d->...l", Q, K.sum(-2))
    return torch.einsum("...ld,...md,...l->...lm", Q, KV, Z).to(kind)


@answer(
    "projections-as-layers",
    "Linear layers without biases along the time, whose weights are cut to the length.",
)
class Linformer(nn.Module):
    def __init__(self, d_model, num_heads, max_len, k):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.key_projection = nn.Linear(max_len, k, bias=False)
        self.value_projection = nn.Linear(max_len, k, bias=False)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        keys, values = self.w_k(x), self.w_v(x)
        if mask is not None:
            keys = keys.masked_fill(mask.logical_not()[:, :, None], 0)
            values = values.masked_fill(mask.logical_not()[:, :, None], 0)
        keys = F.linear(keys.transpose(1, 2), self.key_projection.weight[:, :n])  # [B, D, k]
        values = F.linear(values.transpose(1, 2), self.value_projection.weight[:, :n])
        q = self.w_q(x).reshape(b, n, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        keys = keys.reshape(b, self.num_heads, self.head_dim, -1)
        values = values.reshape(b, self.num_heads, self.head_dim, -1)
        attention = torch.softmax(q @ keys / self.head_dim**0.5, dim=-1)
        out = attention @ values.transpose(-1, -2)
        return self.w_o(out.permute(0, 2, 1, 3).reshape(b, n, -1))


@answer("heads-first", "Heads are split before the mixing, and the operator of torch attends.")
class Linformer:
    def forward(self, x, mask=None):
        n = x.size(1)
        q, k, v = (
            f(x).unflatten(2, (self.num_heads, -1)).permute(0, 2, 1, 3)
            for f in (self.w_q, self.w_k, self.w_v)
        )
        if mask is not None:
            k, v = k * mask[:, None, :, None], v * mask[:, None, :, None]
        k = torch.einsum("kn,bhnd->bhkd", self.key_projection[:, :n], k)
        v = torch.einsum("kn,bhnd->bhkd", self.value_projection[:, :n], v)
        return self.w_o(F.scaled_dot_product_attention(q, k, v).permute(0, 2, 1, 3).flatten(2))


# ==== wrong ====
"""Attention for long sequences as it goes wrong for other people."""


@answer(
    "numerator-only",
    "No denominator: the products as they are.",
    named=["not-divided", "causal-not-divided"],
)
def linear_attention(query, key, value, causal=False):
    q, k = F.elu(query) + 1, F.elu(key) + 1
    if causal:
        return (q @ k.mT).tril() @ value
    return q @ (k.mT @ value)


@answer("summed-over-the-wrong-axis", "cumsum over the features, one axis too far to the right.")
def linear_attention(query, key, value, causal=False):
    wide = torch.promote_types(query.dtype, torch.float32)
    q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
    if causal:
        state = torch.einsum("...nd,...nm->...ndm", k, v).cumsum(-2)
        return ((q[..., None, :] @ state)[..., 0, :] / (q * k.cumsum(-2)).sum(-1, keepdim=True)).to(
            query.dtype
        )
    return (q @ (k.mT @ v) / (q @ k.sum(-2)[..., None])).to(query.dtype)


@answer(
    "mixed-before-the-projections",
    "x is mixed first, then w_k and w_v: their biases are added once to a mixture, not summed in it.",
)
class Linformer:
    def forward(self, x, mask=None):
        n = x.shape[1]
        source = x if mask is None else x * mask[..., None]
        q = self.w_q(x)
        k, v = (
            self.w_k(self.key_projection[:, :n] @ source),
            self.w_v(self.value_projection[:, :n] @ source),
        )
        q, k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (q, k, v))
        return self.w_o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


@answer("two-hundred-columns", "What comes after two hundred positions is in no mixture.")
class Linformer:
    def forward(self, x, mask=None):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        if mask is not None:
            k, v = k * mask[..., None], v * mask[..., None]
        k, v = k[:, :200], v[:, :200]
        k = self.key_projection[:, : k.shape[1]] @ k
        v = self.value_projection[:, : v.shape[1]] @ v
        q, k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in (q, k, v))
        return self.w_o(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


answer(
    "queries-bounded",
    "Large queries are cut at 10, against an overflow that cannot be.",
    linear_attention="F.elu(x.to(wide)) -> F.elu(x.to(wide).clamp(-10, 10))",
)


@answer("lenient", "It loads whatever fits, whether the caller is strict or not.")
class Linformer:
    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict(state_dict, strict=False, assign=assign)
