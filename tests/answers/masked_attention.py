"""Answers to masked-attention."""

# ==== right ====
"""Masked attention as other people write it."""


@answer("one-query-at-a-time", "A loop over the queries.")
def scaled_dot_product_attention(query, key, value, mask=None):
    Tq, Tk = query.size(-2), key.size(-2)
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool, device=query.device)
    mask = mask.expand(*torch.broadcast_shapes(mask.shape, (Tq, Tk)))
    rows, outputs = [], []
    for t in range(Tq):
        s = (query[..., t, None, :] * key).sum(-1) / math.sqrt(query.size(-1))
        m = mask[..., t, :].expand(s.shape)
        w = s.masked_fill(~m, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~m, 0.0)
        rows.append(w)
        outputs.append((w.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)


answer("early-return-without-a-mask", "Two helpers, one for the scores, one for the weights.")


def _scores(q, k):
    return torch.einsum("...id,...jd->...ij", q, k) / k.size(-1) ** 0.5


def _weights(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    blocked = (~mask).all(-1, keepdim=True)
    return scores.masked_fill(~(mask + blocked), -math.inf).softmax(-1) * (1 - blocked.to(scores))


def scaled_dot_product_attention(query, key, value, mask=None):
    weights = _weights(_scores(query, key), mask)
    return torch.einsum("...ij,...jd->...id", weights, value), weights


answer("attention-is-a-module", "An attention module without parameters is part of the module.")


class DotProductAttention(nn.Module):
    """What is between the projections."""

    def forward(self, queries, keys, values, mask=None):
        output, self.attention_weights = scaled_dot_product_attention(queries, keys, values, mask)
        return output


class MultiHeadAttention:
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model=} is no multiple of {num_heads=}")
        self.num_heads = num_heads
        self.attention = DotProductAttention()
        self.w_o = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_q = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None, context=None):
        context = x if context is None else context
        queries = self._split(self.w_q(x))
        keys = self._split(self.w_k(context))
        values = self._split(self.w_v(context))
        output = self.attention(queries, keys, values, mask)
        return self.w_o(output.permute(0, 2, 1, 3).flatten(start_dim=2))


# ==== wrong ====
"""Masked attention as other people get it wrong."""


@answer(
    "mask-gets-a-head-axis",
    "A head axis is put into every mask, whether it has one or not; and a finite fill leaves blind queries a flat row.",
    named=["mask-unsqueezed", "blind-query-uniform"],
)
def scaled_dot_product_attention(query, key, value, mask=None):
    attn = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        mask = mask.unsqueeze(1)
        attn = attn.masked_fill(~mask, torch.finfo(attn.dtype).min)
    attn = attn.softmax(dim=-1)
    return attn @ value, attn


@answer("names-mixed-up", "Forward says self.n_heads where the attribute is called num_heads.")
class MultiHeadAttention:
    def _split(self, x):
        B, T, D = x.shape
        return x.view(B, T, self.n_heads, D // self.n_heads).transpose(1, 2)


answer(
    "mask-of-a-batch",
    "A mask of three axes is taken for one of each sequence, not of each head.",
    MultiHeadAttention="""
        + if mask is not None and mask.dim() == 3:
        +     mask = mask[:, None]
          source = x if context is None else context
    """,
)

answer(
    "context-kept",
    "Without gradients the context of the call before is used again while it is the same tensor.",
    MultiHeadAttention="""
        + if context is not None and not torch.is_grad_enabled():
        +     if self.__dict__.get("kept", (None,))[0] is not context:
        +         self.__dict__["kept"] = context, context.clone()
        +     context = self.__dict__["kept"][1]
          source = x if context is None else context
    """,
)


answer(
    "output-viewed-with-the-keys-length",
    "With a context, what comes out of the heads is given the length of the keys.",
    MultiHeadAttention="""
        - return self.w_o(heads.transpose(1, 2).flatten(2))  # [B, T, D]
        + return self.w_o(heads.transpose(1, 2).contiguous().view(x.size(0), k.size(2), x.size(2)))
    """,
    named=[],
)


answer(
    "mask-joined-with-a-float",
    "torch has no `&` for floats, which raises NotImplementedError.",
    scaled_dot_product_attention="~mask.any( -> ~(mask & torch.ones(mask.shape)).any(",
    named=[],
)
