"""What lets a position see the token that it should predict, or hides what it may see.

Position t reads tokens 0 to t.
"""

mistake(
    "mask-missing",
    "your positions see the future; use a causal mask, before a softmax over the keys, and no norm over positions",
    Block="causal_mask(k.size(2), device=x.device)[-q.size(2) :] -> None",
)

mistake(
    "mask-reversed",
    "your causal mask is upside down, so each position reads what follows; it should read itself and what comes before",
    Block="causal_mask(k.size(2), device=x.device) -> causal_mask(k.size(2), device=x.device).T",
)

mistake(
    "mask-shifted-late",
    "your causal mask lets each position read the next token too; it should read only itself and those before it",
    Block="""
        - mask = causal_mask(k.size(2), device=x.device)[-q.size(2) :]
        + square = torch.ones(k.size(2), k.size(2), dtype=torch.bool, device=x.device)
        + mask = square.tril(1)[-q.size(2) :]
    """,
)

mistake(
    "rows-mixed",
    "your model lets one row of a batch change another, by a norm over axis 0 for example; compute each row by itself",
    DecoderLM="""
        - x = self.dropout(self.token(tokens) + self.position(positions))
        + x = self.token(tokens) + self.position(positions)
        + x = self.dropout(x / x.std())
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
