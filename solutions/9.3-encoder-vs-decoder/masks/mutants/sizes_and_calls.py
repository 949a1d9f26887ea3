"""Masks that are right for the first text, or for a short one.

A mask is as long as the text, and depends on the arguments of its own call alone.
"""


@mistake(
    "causal-table-of-1024",
    "your causal mask is cut from a table of 1024 positions; it should be [seq_len, seq_len] for any seq_len",
    unnamed="no visible text is as long",
)
def causal_mask(seq_len, *, device=None):
    table = torch.ones(1024, 1024, dtype=torch.bool, device=device).tril()
    return table[:seq_len, :seq_len]


mistake(
    "padding-kept",
    "your padding mask is cached from the first batch of that shape; compute it from the tokens of each batch",
    padding_mask="""
        - return (tokens != pad_id)[:, None, None, :]
        + key = (tuple(tokens.shape), pad_id)
        + if key not in kept:
        +     kept[key] = (tokens != pad_id)[:, None, None, :]
        + return kept[key]
    """,
)

kept = {}
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
