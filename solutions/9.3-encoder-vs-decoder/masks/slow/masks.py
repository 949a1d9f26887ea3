"""Masks that are right and waste time or memory.

One comparison of two index vectors fills the causal mask: [T, 1] and [1, T] broadcast to [T, T]. Padding is a matter of
keys, so nothing of its mask has T · T entries.
"""


@mistake(
    "rows-of-lists",
    "you write the causal mask row by row as Python lists; fill it with one comparison of two index vectors",
    fails=["test_causal_mask_speed"],
)
def causal_mask(seq_len, *, device=None):
    rows = []
    for query in range(seq_len):
        rows.append([True] * (query + 1) + [False] * (seq_len - query - 1))
    return torch.tensor(rows, device=device)


@mistake(
    "padding-in-pairs",
    "your padding mask makes [B, T, T] on the way; make only [B, 1, 1, T], as padding is a matter of keys",
    fails=["test_padding_mask_memory"],
)
def padding_mask(tokens, pad_id=0):
    real = tokens != pad_id
    pairs = real[:, :, None] & real[:, None, :]  # query and key are both real
    return pairs.any(dim=1)[:, None, None, :]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
