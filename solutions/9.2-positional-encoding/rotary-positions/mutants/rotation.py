"""How pairs are turned wrongly.

Columns 2i and 2i + 1 are a pair; it is turned by position · base^(-2i / D), counter-clockwise, and stays where it was.
"""

mistake(
    "halves-paired",
    "your pairs are columns i and i + D/2; neighbours should be a pair here, 2i and 2i + 1",
    rotate=[
        "x[..., 0::2], x[..., 1::2] -> x.chunk(2, dim=-1)",
        "torch.stack(turned, dim=-1).flatten(-2) -> torch.cat(turned, dim=-1)",
    ],
    convention="Hugging Face's LLaMA and UvA pair halves",
)

mistake(
    "not-interleaved",
    "your turned pairs are laid out as two halves; column 2i should go back to 2i, and 2i + 1 to 2i + 1",
    rotate="torch.stack(turned, dim=-1).flatten(-2) -> torch.cat(turned, dim=-1)",
)

mistake(
    "turned-backwards",
    "your pairs are turned the other way round; exchange the signs of the two sines",
    rotate="""
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + turned = (first * cosine + second * sine, second * cosine - first * sine)
    """,
)

mistake(
    "both-plus",
    "your first column adds the sine's part, so pairs grow and shrink instead of turning; subtract it",
    rotate="first * cosine - second * sine -> first * cosine + second * sine",
)

mistake(
    "overwritten-too-early",
    "your second column is made from the first one after it was turned; keep the old one until both are done",
    rotate="""
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        + first = first * cosine - second * sine
        + turned = (first, first * sine + second * cosine)
    """,
)

mistake(
    "exponent-without-two",
    "your exponent is -i / D; for pair i it should be -2i / D, down to almost -1",
    rotate="""
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = base ** (-torch.arange(D // 2, device=x.device) / D)  # [D/2]
    """,
)

mistake(
    "base-ignored",
    "your frequencies are always powers of 10000; they should be powers of base",
    rotate="""
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = 10000.0 ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
    """,
)

mistake(
    "encoding-added",
    "your sines and cosines are added to x; turn x by multiplying with them",
    rotate="first * cosine - second * sine, first * sine + second * cosine -> first + sine, second + cosine",
)

mistake(
    "two-layouts",
    "your angles are repeated as two halves but your pairs are neighbours; columns 2i and 2i + 1 should share an "
    "angle",
    rotate="""
        - first, second = x[..., 0::2], x[..., 1::2]
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        - return torch.stack(turned, dim=-1).flatten(-2)
        + cosine, sine = (torch.cat((part, part), dim=-1) for part in (cosine, sine))
        + swapped = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
        + return x * cosine + swapped * sine
    """,
)

mistake(
    "two-layouts-of-halves",
    "your angles belong to neighbours but your pairs are halves; columns 2i and 2i + 1 should be a pair and share one",
    rotate="""
        - first, second = x[..., 0::2], x[..., 1::2]
        - turned = (first * cosine - second * sine, first * sine + second * cosine)
        - return torch.stack(turned, dim=-1).flatten(-2)
        + cosine, sine = (part.repeat_interleave(2, dim=-1) for part in (cosine, sine))
        + first, second = x.chunk(2, dim=-1)
        + return x * cosine + torch.cat((-second, first), dim=-1) * sine
    """,
)

mistake(
    "halves-read-pairs-written",
    "your pairs are read as columns i and i + D/2 and written as 2i and 2i + 1; neighbours should be read, too",
    rotate="x[..., 0::2], x[..., 1::2] -> x.chunk(2, dim=-1)",
)

mistake(
    "pairs-from-one",
    "your pairs count from 1, as a handout may write them; the first pair's frequency should be 1, its exponent 0",
    rotate="torch.arange(0, D, 2, device=x.device) / D -> torch.arange(2, D + 1, 2, device=x.device) / D",
)

mistake(
    "exponent-doubled",
    "your exponents are twice too large, so the slow pairs hardly turn; 2i should be divided by D",
    rotate="torch.arange(0, D, 2, device=x.device) / D -> torch.arange(0, D, 2, device=x.device) / (D // 2)",
)

mistake(
    "exponent-without-minus",
    "your exponent is 2i / D, so pairs turn faster and faster; it should have a minus",
    rotate="""
        - frequency = base ** (-torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
        + frequency = base ** (torch.arange(0, D, 2, device=x.device) / D)  # [D/2]
    """,
)

mistake(
    "all-pairs-alike",
    "your pairs all turn by the position itself; pair i should turn base^(-2i / D) times as fast",
    rotate="base ** (-torch.arange(0, D, 2, device=x.device) / D) -> torch.ones(D // 2, device=x.device)",
)

mistake(
    "sine-twice",
    "your columns are multiplied only by the sine, so at position 0, where nothing should turn, they become 0",
    rotate="""
        - cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        + cosine = sine = angle.sin().to(x.dtype)
    """,
)

mistake(
    "sine-for-cosine",
    "your sine and your cosine are exchanged, so even position 0 is turned; angle 0 should have cosine 1",
    rotate="angle.cos().to(x.dtype), angle.sin().to(x.dtype) -> angle.sin().to(x.dtype), angle.cos().to(x.dtype)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
