"""RoPE of queries and keys together: [B, T, H, d], both turned alike."""

import torch


def rotate(x, positions=None, *, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError("pairs need an even width, which the course takes for granted")
    length = x.shape[-2] if positions is None or not positions.numel() else int(positions.max()) + 1
    rows = x.reshape(-1, x.shape[-2], 1, x.shape[-1])
    if positions is not None:  # the course turns whole texts: what is asked for is put at its place in one
        text = rows.new_zeros(rows.shape[0], length, 1, x.shape[-1])
        rows = torch.index_copy(text, 1, positions.long(), rows)
    turned, _ = theirs.apply_rotary_emb(rows, rows, x.shape[-1], length, base)
    return (turned if positions is None else turned[:, positions.long()]).reshape(x.shape)
