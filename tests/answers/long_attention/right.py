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


class in_double:
    """Everything in float64, and back at the end."""

    def linear_attention(query, key, value, causal=False):
        q, k, v = query.double(), key.double(), value.double()
        q, k = 1 + F.elu(q), 1 + F.elu(k)
        if not causal:
            return ((q @ (k.transpose(-2, -1) @ v)) / (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)).to(
                query.dtype
            )
        top = torch.cumsum(k[..., :, None] * v[..., None, :], dim=-3)
        return ((q[..., None, :] @ top)[..., 0, :] / (q * torch.cumsum(k, -2)).sum(-1, keepdim=True)).to(
            query.dtype
        )


class quadratic:
    """All pairs, a mask, a division: right, and as slow as what it replaces."""

    def linear_attention(query, key, value, causal=False):
        wide = torch.float64 if query.dtype == torch.float64 else torch.float32
        q, k = (torch.where(x > 0, x + 1, torch.exp(x)) for x in (query.to(wide), key.to(wide)))
        w = torch.matmul(q, k.transpose(-1, -2))
        if causal:
            w = w * torch.tril(torch.ones_like(w))
        return (w / w.sum(-1, keepdim=True)).matmul(value.to(wide)).to(query.dtype)


class a_row_at_a_time:
    """A loop over positions with a state, as a recurrent network."""

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        if not causal:
            return ((q @ (k.mT @ v)) / (q @ k.sum(-2)[..., None])).to(query.dtype)
        S = torch.zeros(*k.shape[:-2], k.shape[-1], v.shape[-1], dtype=wide, device=k.device)
        z = torch.zeros(*k.shape[:-2], k.shape[-1], dtype=wide, device=k.device)
        rows = []
        for t in range(q.shape[-2]):
            S = S + k[..., t, :, None] * v[..., t, None, :]
            z = z + k[..., t, :]
            top = (q[..., t, :, None] * S).sum(-2)
            rows.append(top / (q[..., t, :] * z).sum(-1, keepdim=True))
        return torch.stack(rows, -2).to(query.dtype)


class flattened_in_front:
    """All axes in front are made one, bmm, and made many again."""

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        front = query.shape[:-2]
        q, k, v = (x.to(wide).reshape(-1, *x.shape[-2:]) for x in (query, key, value))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        if causal:
            w = torch.bmm(q, k.mT).tril()
            y = torch.bmm(w, v) / w.sum(-1, keepdim=True)
        else:
            y = torch.bmm(q, torch.bmm(k.mT, v)) / torch.bmm(q, k.sum(1).unsqueeze(-1))
        return y.reshape(*front, *y.shape[-2:]).to(query.dtype)


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


class one_matrix_for_all_three:
    """Queries, keys and values from one product with stacked weights."""

    class Linformer:
        def forward(self, x, mask=None):
            weight = torch.cat((self.w_q.weight, self.w_k.weight, self.w_v.weight))
            bias = torch.cat((self.w_q.bias, self.w_k.bias, self.w_v.bias))
            q, k, v = F.linear(x, weight, bias).chunk(3, dim=-1)
            if mask is not None:
                k, v = torch.where(mask[..., None], k, 0), torch.where(mask[..., None], v, 0)
            k = torch.tensordot(k, self.key_projection[:, : x.shape[1]], dims=([1], [1])).transpose(1, 2)
            v = torch.tensordot(v, self.value_projection[:, : x.shape[1]], dims=([1], [1])).transpose(1, 2)
            parts = []
            width = q.shape[-1] // self.num_heads
            for a, b, c in zip(q.split(width, -1), k.split(width, -1), v.split(width, -1), strict=True):
                parts.append((a @ b.mT / width**0.5).softmax(-1) @ c)
            return self.w_o(torch.cat(parts, -1))
