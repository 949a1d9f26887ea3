"""Attention for long sequences as other people write it."""


class by_the_papers_code:
    """The published way: feature maps, einsum, and a denominator turned around; causal by a running sum."""

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


class projections_as_layers:
    """Linear layers without biases along the time, whose weights are cut to the length."""

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


class heads_first:
    """Heads are split before the mixing, and the operator of torch attends."""

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
