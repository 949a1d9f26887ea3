"""Layers that are right and do one by one what goes all at once."""


@mistake(
    "example-loop",
    "you send one example after the other through the layer; send the whole batch through at once",
    fails=["test_pre_norm_speed", "test_post_norm_speed"],
)
class EncoderLayer:
    def forward(self, x, mask=None):
        if mask is None:
            return torch.cat([self._one(example, None) for example in x.split(1)])
        masks = mask.expand(len(x), -1, -1, -1).split(1) if mask.dim() == 4 else [mask] * len(x)
        return torch.cat([self._one(example, own) for example, own in zip(x.split(1), masks, strict=True)])

    def _one(self, x, mask):
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm1(x), mask))  # x itself goes by untouched
            x = x + self.dropout(self.feed_forward(self.norm2(x)))
        else:
            x = self.norm1(x + self.dropout(self.attention(x, mask)))  # every sum is normalised at once
            x = self.norm2(x + self.dropout(self.feed_forward(x)))
        return x  # [B, T, D]


mistake(
    "head-loop",
    "you loop over the heads in Python; use the given MultiHeadAttention, which computes all of them in one product",
    EncoderLayer="MultiHeadAttention(d_model, num_heads) -> ByHead(d_model, num_heads)",
    fails=["test_pre_norm_speed", "test_post_norm_speed"],
)

from torch.nn import functional as F


class ByHead(nn.Module):
    """The given attention's weights, used by one head at a time."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        given = MultiHeadAttention(d_model, num_heads)
        self.num_heads = num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = given.w_q, given.w_k, given.w_v, given.w_o

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Attend head after head."""
        batch, time, width = x.shape
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, time, time)
        heads = []
        size = width // self.num_heads
        for head in range(self.num_heads):
            rows = slice(head * size, (head + 1) * size)
            q, k, v = (F.linear(x, w.weight[rows], w.bias[rows]) for w in (self.w_q, self.w_k, self.w_v))
            own = None if mask is None else mask[:, head]
            heads.append(F.scaled_dot_product_attention(q, k, v, own))
        return self.w_o(torch.cat(heads, dim=-1))


@mistake(
    "query-loop",
    "you attend one query at a time, and project all keys and values again for each; attend with all queries at once",
    EncoderLayer=[
        "self.attention(self.norm1(x), mask) -> self._attend(self.norm1(x), mask)",
        "self.attention(x, mask) -> self._attend(x, mask)",
    ],
    fails=["test_pre_norm_speed", "test_post_norm_speed"],
)
class EncoderLayer:
    def _attend(self, x, mask):
        time = x.shape[1]
        if mask is not None:
            mask = mask.expand(*mask.shape[:-2], time, time)
        rows = []
        for query in range(time):
            own = None if mask is None else mask[..., query : query + 1, :]
            rows.append(self.attention(x[:, query : query + 1], own, context=x))
        return torch.cat(rows, dim=1)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
