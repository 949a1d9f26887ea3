"""How heads are cut and joined wrongly.

Head h reads the columns h·D/H to (h+1)·D/H, attends by itself, and puts its result back into those columns.
"""


@mistake(
    "one-wide-head",
    "your module ignores num_heads and attends with all columns together; each head should attend with its own",
)
class MultiHeadAttention:
    def _split(self, x):
        return x[:, None]  # [B, 1, T, D]


@mistake(
    "heads-without-transpose",
    "your heads are cut by a view to [B, H, T, d], which mixes positions with columns; split D to H and d, then move H",
)
class MultiHeadAttention:
    def _split(self, x):
        B, T, D = x.shape
        return x.view(B, self.num_heads, T, D // self.num_heads)


@mistake(
    "heads-interleaved",
    "your heads take every H-th column; head h should read columns h·D/H to (h+1)·D/H, side by side",
)
class MultiHeadAttention:
    def _split(self, x):
        B, T, D = x.shape
        return x.view(B, T, D // self.num_heads, self.num_heads).permute(0, 3, 1, 2)


mistake(
    "heads-joined-without-transpose",
    "your heads are joined without moving them back next to the columns, which mixes up positions; "
    "move that axis first",
    MultiHeadAttention="heads.transpose(1, 2).flatten(2) -> heads.reshape(x.shape)",
)


@mistake(
    "heads-viewed-both-ways",
    "your heads are cut and joined only by views, which mix positions with columns; move the axis of heads both times",
    MultiHeadAttention="heads.transpose(1, 2).flatten(2) -> heads.reshape(x.shape)",
)
class MultiHeadAttention:
    def _split(self, x):
        B, T, D = x.shape
        return x.view(B, self.num_heads, T, D // self.num_heads)


mistake(
    "scaled-by-model-width",
    "your heads are scaled by √D; it should be √(D/H), as the keys of one head have D/H columns",
    MultiHeadAttention="""
          q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        + q = q / math.sqrt(self.num_heads)  # √d becomes √D
    """,
)

mistake(
    "heads-detached",
    "your heads are cut from the graph, so w_q, w_k and w_v learn nothing; let the gradient go through the heads",
    MultiHeadAttention="heads.transpose(1, 2).flatten(2) -> heads.transpose(1, 2).flatten(2).detach()",
)


@mistake(
    "heads-interleaved-both-ways",
    "your heads take every H-th column and put them back so; head h should have columns h·D/H to (h+1)·D/H",
    MultiHeadAttention="heads.transpose(1, 2) -> heads.permute(0, 2, 3, 1)",
)
class MultiHeadAttention:
    def _split(self, x):
        B, T, D = x.shape
        return x.view(B, T, D // self.num_heads, self.num_heads).permute(0, 3, 1, 2)


@mistake(
    "heads-attend-to-heads",
    "your heads stay after the positions, so heads look at heads; move them in front, [B, H, T, d]",
    MultiHeadAttention="heads.transpose(1, 2).flatten(2) -> heads.flatten(2)",
)
class MultiHeadAttention:
    def _split(self, x):
        B, T, D = x.shape
        return x.view(B, T, self.num_heads, D // self.num_heads)


mistake(
    "view-of-transposed",
    "your heads are joined by a view of a transposed tensor; call contiguous() first, or flatten",
    MultiHeadAttention="""
        - return self.w_o(heads.transpose(1, 2).flatten(2))
        + return self.w_o(heads.transpose(1, 2).view(x.size(0), x.size(1), -1))
    """,
)

mistake(
    "pair-not-unpacked",
    "your module uses attention's result as one tensor; unpack the pair, output and weights",
    MultiHeadAttention="heads, _ -> heads",
)

@mistake(
    "mask-repeated-for-folded-heads",
    "your repeated mask gives folded rows each other's padding; use repeat_interleave, as heads vary fastest",
)
class MultiHeadAttention:
    def forward(self, x, mask=None, context=None):
        source = x if context is None else context
        q, k, v = self._split(self.w_q(x)), self._split(self.w_k(source)), self._split(self.w_v(source))
        B, H, T, d = q.shape
        if mask is not None:
            wide = torch.broadcast_to(mask, (B, H, T, source.size(1)))
            shared = mask.dim() < 4 or mask.size(1) == 1
            mask = wide[:, 0].repeat(H, 1, 1) if shared else wide.flatten(0, 1)
        heads, _ = scaled_dot_product_attention(*(part.flatten(0, 1) for part in (q, k, v)), mask)
        return self.w_o(heads.view(B, H, T, d).transpose(1, 2).flatten(2))
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
