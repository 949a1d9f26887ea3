_by_the_lesson = rotate


def rotate(x, positions=None, *, base=10000.0):
    """As the check has it: column i goes with column i + D/2."""
    half = x.shape[-1] // 2
    paired = torch.stack((x[..., :half], x[..., half:]), -1).flatten(-2)
    turned = _by_the_lesson(paired, positions, base=base).unflatten(-1, (-1, 2))
    return torch.cat((turned[..., 0], turned[..., 1]), -1)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
