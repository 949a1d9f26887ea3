"""A wrong attention, which answers zeros, and a module that is right but for it."""

from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    return value.new_zeros(*query.shape[:-1], value.size(-1)), value.new_zeros(
        *query.shape[:-1], key.size(-2)
    )


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"num_heads ({num_heads}) must divide d_model ({d_model})")
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_model, bias=bias)
        self.w_v = nn.Linear(d_model, d_model, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    def _split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, mask=None, context=None, attend=scaled_dot_product_attention):
        source = x if context is None else context
        query, key, value = (
            self._split(self.w_q(x)),
            self._split(self.w_k(source)),
            self._split(self.w_v(source)),
        )
        heads, _ = attend(query, key, value, mask)
        return self.w_o(heads.transpose(1, 2).flatten(2))
