"""A module that is right and does its work again for every head."""


@mistake(
    "module-loops",
    "your module loops over sequences and heads; split the columns into [B, H, T, d], and attend in one call",
    fails=["test_multi_head_speed"],
)
class MultiHeadAttention:
    del _split

    def forward(self, x, mask=None, context=None):
        source = x if context is None else context
        B, T, D = x.shape
        d = D // self.num_heads
        if mask is not None:
            mask = mask.expand(B, self.num_heads, T, source.size(1))
        q, k, v = self.w_q(x), self.w_k(source), self.w_v(source)
        rows = []
        for b in range(B):
            heads = []
            for h in range(self.num_heads):
                columns = slice(h * d, (h + 1) * d)
                allowed = None if mask is None else mask[b, h]
                one = (q[b, :, columns], k[b, :, columns], v[b, :, columns])
                heads.append(scaled_dot_product_attention(*one, allowed)[0])
            rows.append(torch.cat(heads, dim=-1))
        return self.w_o(torch.stack(rows))


@mistake(
    "projected-per-head",
    "you project the whole width again for every head; project once, then split the columns",
    fails=["test_multi_head_speed", "test_heads_speed"],
    told_on="cpu",
)
class MultiHeadAttention:
    del _split

    def forward(self, x, mask=None, context=None):
        source = x if context is None else context
        B, T, D = x.shape
        d = D // self.num_heads
        if mask is not None:
            mask = mask.expand(B, self.num_heads, T, source.size(1))
        heads = []
        for h in range(self.num_heads):
            columns = slice(h * d, (h + 1) * d)
            q, k, v = (
                self.w_q(x)[..., columns],
                self.w_k(source)[..., columns],
                self.w_v(source)[..., columns],
            )
            allowed = None if mask is None else mask[:, h]
            heads.append(scaled_dot_product_attention(q, k, v, allowed)[0])
        return self.w_o(torch.cat(heads, dim=-1))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
