"""Modern blocks as other people write them."""


class llama_norm:
    """As LLaMA's code has it: a method for the norm, `type_as`, and the weight outside."""

    class RMSNorm:
        def _norm(self, x):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

        def forward(self, x):
            wide = x.double() if x.dtype == torch.float64 else x.float()
            return self._norm(wide).type_as(x) * self.weight


class complex_rotation:
    """Pairs of columns are complex numbers, and a turn is a product, as LLaMA's code has it."""

    def rotate(x, positions, base=10000.0):
        d = x.size(-1)
        wide = x.double() if x.dtype == torch.float64 else x.float()
        freqs = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).to(wide.dtype) / d))
        angles = torch.outer(positions.to(wide.dtype), freqs)
        turn = torch.polar(torch.ones_like(angles), angles)
        pairs = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2).contiguous())
        return torch.view_as_real(pairs * turn).flatten(-2).type_as(x)


class expand_and_reshape:
    """Shared heads are expanded on an axis of their own, as `repeat_kv` does it."""

    class GroupedQueryAttention:
        forward = """
            - keys = k.repeat_interleave(self.groups, dim=1)  # query head h reads head h // groups
            - values = v.repeat_interleave(self.groups, dim=1)
            + def repeat_kv(one):
            +     B, G, S, d = one.shape
            +     return one[:, :, None].expand(B, G, self.groups, S, d).reshape(B, G * self.groups, S, d)
            + keys, values = repeat_kv(k), repeat_kv(v)
        """


class by_hand:
    """Scores, a mask of -inf and a softmax, written out."""

    class GroupedQueryAttention:
        forward = """
            - mixed = F.scaled_dot_product_attention(q, keys, values, mask)
            + scores = q @ keys.transpose(-2, -1) / self.d_head**0.5
            + weights = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
            + mixed = weights @ values
        """


class silu_written_out:
    """The gate is x times its sigmoid."""

    class FeedForward:
        def forward(self, x):
            gate = self.gate(x)
            return self.linear2(gate * torch.sigmoid(gate) * self.linear1(x))
