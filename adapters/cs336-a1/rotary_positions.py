"""RoPE: the course gives positions and the longest one."""

import torch


def rotate(x, positions=None, *, base=10000.0):
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    longest = int(positions.max()) + 1 if positions.numel() else 1
    return theirs.run_rope(x.shape[-1], base, longest, x, positions)
