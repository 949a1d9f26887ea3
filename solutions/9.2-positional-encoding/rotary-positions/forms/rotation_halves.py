def rotate(x: torch.Tensor, positions: torch.Tensor | None = None, *, base: float = 10000.0) -> torch.Tensor:
    """Turn columns i and i + D/2 of x by their position times the frequency of i."""
    D = x.size(-1)
    if D % 2:
        raise ValueError(f"the width ({D}) must be even: columns are turned in pairs")
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
    angle = positions[:, None] * frequency  # [T, D/2], in float32
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    turned = (first * cosine - second * sine, first * sine + second * cosine)
    return torch.cat(turned, dim=-1)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
