"""Masked attention as other people get it wrong."""


class mask_gets_a_head_axis:
    """A head axis is put into every mask, whether it has one or not; and a finite fill leaves blind queries a flat row.

    Named: mask_unsqueezed, blind_query_uniform
    """

    def scaled_dot_product_attention(query, key, value, mask=None):
        attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
        if mask is not None:
            mask = mask.unsqueeze(1)
            attn = attn.masked_fill(~mask, torch.finfo(attn.dtype).min)
        attn = attn.softmax(dim=-1)
        return attn @ value, attn


class interleaved_both_ways:
    """The columns are cut as (width, head) and joined the same way.

    Named: heads_interleaved_both_ways, heads_interleaved
    """

    class MultiHeadAttention:
        def forward(self, x, mask=None, context=None):
            c = x if context is None else context
            q, k, v = (
                y.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)
                for y in (self.w_q(x), self.w_k(c), self.w_v(c))
            )
            y, _ = scaled_dot_product_attention(q, k, v, mask)
            return self.w_o(y.permute(0, 2, 3, 1).flatten(2))


class names_mixed_up:
    """Forward says self.n_heads where the attribute is called num_heads."""

    class MultiHeadAttention:
        def _split(self, x):
            B, T, D = x.shape
            return x.view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)
