"""RMSNorm, and attention with grouped heads, built from a configuration."""

import types


class RMSNorm(Adapted):
    def build(self, d_model, eps=1e-6):
        return theirs.RMSNorm(d_model, eps)

    def forward(self, x):
        return self.theirs(x)


class GroupedQueryAttention(Adapted):
    def build(self, d_model, num_heads, num_kv_heads):
        return theirs.Attention(
            types.SimpleNamespace(
                dim=d_model, n_heads=num_heads, n_kv_heads=num_kv_heads, dropout=0.0, max_seq_len=1024
            )
        )

    def forward(self, x, cache=None):
        return self.theirs(x), cache
