"""A padding mask that is right and wastes memory.

Padding is a matter of keys, so nothing of it has T · T entries.
"""


@mistake(
    "padding-in-pairs",
    "your padding mask makes [B, T, T] on the way: padding is a matter of keys, so [B, 1, 1, T] says it all",
    fails=["test_padding_mask_memory"],
)
def padding_mask(tokens, pad_id=0):
    real = tokens != pad_id
    pairs = real[:, :, None] & real[:, None, :]  # query and key are both real
    return pairs.any(dim=1)[:, None, None, :]
