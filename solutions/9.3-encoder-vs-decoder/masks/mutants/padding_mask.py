"""What `padding_mask` gets wrong.

It says of every key whether it is a real token, whichever query asks: [B, T] with an axis of length 1 for the heads
and one for the queries. Padding is what equals pad_id, wherever it stands.
"""


@mistake(
    "padding-inverted",
    "your padding mask is True where the padding is; True should mean that the token is real",
)
def padding_mask(tokens, pad_id=0):
    return (tokens == pad_id)[:, None, None, :]


@mistake(
    "padding-two-axes",
    "your padding mask is [B, T]; add the axes of length 1 that stand for heads and queries",
)
def padding_mask(tokens, pad_id=0):
    return tokens != pad_id


@mistake(
    "padding-on-queries",
    "your padding mask hides queries instead of keys; the tokens should be on the last axis",
)
def padding_mask(tokens, pad_id=0):
    return (tokens != pad_id)[:, None, :, None]


@mistake("padding-int", "your padding mask holds integers; it should hold True and False instead of 1 and 0")
def padding_mask(tokens, pad_id=0):
    return (tokens != pad_id).long()[:, None, None, :]


@mistake("padding-id-ignored", "your padding mask ignores pad_id and hides token 0; it should hide the token pad_id")
def padding_mask(tokens, pad_id=0):
    return tokens.bool()[:, None, None, :]


@mistake(
    "padding-by-order",
    "your padding mask hides every token up to pad_id; it should hide only pad_id, as ids have no order",
)
def padding_mask(tokens, pad_id=0):
    return (tokens > pad_id)[:, None, None, :]


@mistake(
    "padding-only-at-the-end",
    "your padding mask assumes that the real tokens come first; padding may also come before or between",
)
def padding_mask(tokens, pad_id=0):
    lengths = (tokens != pad_id).sum(dim=1)
    positions = torch.arange(tokens.shape[1], device=tokens.device)
    return (positions < lengths[:, None])[:, None, None, :]


@mistake(
    "padding-int64-only",
    "your padding mask insists on int64 tokens; it should compare any integer type with pad_id",
)
def padding_mask(tokens, pad_id=0):
    assert tokens.dtype == torch.int64, "tokens must be int64"
    return (tokens != pad_id)[:, None, None, :]


@mistake(
    "padding-view",
    "your padding mask calls view on the tokens, which need not be contiguous; use reshape, which copies if it must",
)
def padding_mask(tokens, pad_id=0):
    B, T = tokens.shape
    return (tokens.view(B * T) != pad_id).view(B, 1, 1, T)


@mistake(
    "padding-three-axes",
    "your padding mask is [B, 1, T]; add the axis of length 1 that stands for the heads",
)
def padding_mask(tokens, pad_id=0):
    return (tokens != pad_id)[:, None, :]


@mistake(
    "padding-pairs",
    "your padding mask is a table of pairs, in which queries must be real as well; it should hide only keys",
)
def padding_mask(tokens, pad_id=0):
    real = tokens != pad_id
    return (real[:, :, None] & real[:, None, :])[:, None]


@mistake(
    "padding-expanded",
    "your padding mask is stretched over all queries; that axis should stay 1, as torch broadcasts it",
)
def padding_mask(tokens, pad_id=0):
    B, T = tokens.shape
    return (tokens != pad_id)[:, None, None, :].expand(B, 1, T, T)


@mistake("padding-float", "your padding mask holds floats; it should hold True and False instead of 1.0 and 0.0")
def padding_mask(tokens, pad_id=0):
    return (tokens != pad_id).float()[:, None, None, :]


@mistake(
    "padding-additive",
    "your padding mask holds numbers to add to scores; it should hold True and False, for additive_mask to convert",
)
def padding_mask(tokens, pad_id=0):
    real = (tokens != pad_id)[:, None, None, :]
    return torch.zeros(real.shape, device=tokens.device).masked_fill(~real, float("-inf"))


@mistake(
    "padding-after-the-first",
    "your padding mask hides everything after the first padding; padding may also come before or between",
)
def padding_mask(tokens, pad_id=0):
    seen = (tokens == pad_id).cumsum(dim=1)
    return (seen == 0)[:, None, None, :]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
