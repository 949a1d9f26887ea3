"""What goes wrong in the three parts."""

mistake(
    "bias-of-ones",
    "your bias starts as ones; it should start as zeros",
    LayerNorm="torch.zeros(d_model) -> torch.ones(d_model)",
)

mistake(
    "eps-ignored",
    "your eps is always 1e-5, whatever the argument says; it should be what the argument says",
    LayerNorm="self.eps = eps -> self.eps = 1e-5",
)

mistake(
    "mask-ignored",
    "your attention ignores the mask",
    attention="""
        - if mask is not None:
        -     scores = scores.masked_fill(~mask, -math.inf)
    """,
)

mistake(
    "mask-of-numbers",
    "your mask holds numbers; it should be boolean",
    causal_mask="seq_len, dtype=torch.bool -> seq_len",
)

mistake(
    "mask-without-itself",
    "your mask hides each position from itself",
    causal_mask="""
        - return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()
        + return torch.ones(seq_len, seq_len, dtype=torch.bool).tril(-1)
    """,
)

mistake(
    "scores-not-scaled",
    "your scores are not divided by the root of the width",
    attention="query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]) -> query @ key.transpose(-2, -1)",
)

mistake(
    "softmax-over-queries",
    "your softmax runs over the queries instead of the keys",
    attention="scores.softmax(dim=-1) -> scores.softmax(dim=-2)",
)

mistake(
    "softmax-overflows",
    "your softmax takes exp of large scores, and they overflow",
    attention="""
        - weights = scores.softmax(dim=-1)
        + powers = scores.exp()
        + weights = powers / powers.sum(dim=-1, keepdim=True)
    """,
)

mistake(
    "unbiased-variance",
    "your variance divides by D - 1; layer norm should take the biased one, which divides by D",
    LayerNorm="centred.square().mean(dim=-1, keepdim=True) -> x.var(dim=-1, keepdim=True)",
)

mistake(
    "variance-detached",
    "your variance is cut from the graph, so the gradient treats it as a constant; keep it in the graph",
    LayerNorm="centred.square() -> centred.detach().square()",
)
