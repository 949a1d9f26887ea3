"""Attention for long sequences as it goes wrong for other people."""


class numerator_only:
    """No denominator: the products as they are.

    Named: not_divided, causal_not_divided
    """

    def linear_attention(query, key, value, causal=False):
        q, k = F.elu(query) + 1, F.elu(key) + 1
        if causal:
            return (q @ k.mT).tril() @ value
        return q @ (k.mT @ value)


class summed_over_the_wrong_axis:
    """cumsum over the features, one axis too far to the right."""

    def linear_attention(query, key, value, causal=False):
        wide = torch.promote_types(query.dtype, torch.float32)
        q, k, v = F.elu(query.to(wide)) + 1, F.elu(key.to(wide)) + 1, value.to(wide)
        if causal:
            state = torch.einsum("...nd,...nm->...ndm", k, v).cumsum(-2)
            return ((q[..., None, :] @ state)[..., 0, :] / (q * k.cumsum(-2)).sum(-1, keepdim=True)).to(
                query.dtype
            )
        return (q @ (k.mT @ v) / (q @ k.sum(-2)[..., None])).to(query.dtype)


class mixed_before_the_projections:
    """x is mixed first, then w_k and w_v: their biases are added once to a mixture, not summed in it."""

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
