"""Answers to modern-block."""

# ==== right ====
"""Modern blocks as other people write them."""


@answer("llama-norm", "As LLaMA's code has it: a method for the norm, `type_as`, and the weight outside.")
class RMSNorm:
    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        wide = x.double() if x.dtype == torch.float64 else x.float()
        return self._norm(wide).type_as(x) * self.weight


@answer(
    "complex-rotation",
    "Pairs of columns are complex numbers, and a turn is a product, as LLaMA's code has it.",
)
def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    wide = x.double() if x.dtype == torch.float64 else x.float()
    freqs = 1.0 / (base ** (torch.arange(0, d, 2, device=x.device).to(wide.dtype) / d))
    angles = torch.outer(positions.to(wide.dtype), freqs)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).type_as(x)


@answer("silu-written-out", "The gate is x times its sigmoid.")
class FeedForward:
    def forward(self, x):
        gate = self.gate(x)
        return self.linear2(gate * torch.sigmoid(gate) * self.linear1(x))


# ==== wrong ====
"""Modern blocks as other people get them wrong."""


@answer(
    "rotate-half",
    "The turn of GPT-NeoX: the first half of the columns with the second.",
    named=["halves-turned"],
)
def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    pair = torch.arange(0, d, 2, dtype=torch.float32, device=x.device)
    angle = positions.float()[:, None] * base ** (-pair / d)
    cos, sin = (torch.cat((part, part), -1).to(x.dtype) for part in (angle.cos(), angle.sin()))
    half = torch.cat((-x[..., d // 2 :], x[..., : d // 2]), -1)
    return x * cos + half * sin


@answer("t5-without-root", "The norm divides by the mean square itself.", named=["root-missing"])
class RMSNorm:
    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        variance = wide.pow(2).mean(-1, keepdim=True)
        return self.weight * (wide / (variance + self.eps)).to(x.dtype)


answer(
    "hundred-less",
    "What is to come counts a hundred less, which large scores outweigh.",
    GroupedQueryAttention="""
        - mask = torch.ones(q.size(2), k.size(2), dtype=torch.bool, device=x.device).tril(start)
        + mask = torch.full((q.size(2), k.size(2)), -100.0, dtype=q.dtype, device=x.device).triu(start + 1)
    """,
)

answer(
    "positions-in-half",
    "Positions are numbers of the dtype of x: 257 is none of bfloat16.",
    GroupedQueryAttention="""
        - positions = torch.arange(start, start + x.size(1), device=x.device)
        + positions = torch.arange(start, start + x.size(1), device=x.device).to(x.dtype)
    """,
)


@answer("lenient", "It loads whatever fits, whether the caller is strict or not.")
class ModernLM:
    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict(state_dict, strict=False, assign=assign)


@answer("exp-over-exp", "silu is x · exp(x) / (1 + exp(x)), which is NaN where exp overflows.")
class FeedForward:
    def forward(self, x):
        gate = self.gate(x).exp()
        return self.linear2(self.gate(x) * gate / (1 + gate) * self.linear1(x))
