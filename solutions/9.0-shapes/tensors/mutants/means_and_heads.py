"""What `masked_mean`, `split_heads`, `join_heads` and `shift_right` get wrong.

A mean divides by what it has summed. Heads are made of neighbouring columns: first two axes of one, then the exchange,
and back in the opposite order. A shift moves along time, and what is given stays as it was.
"""

mistake(
    "mean-over-all",
    "your mean divides by T, so padding makes it smaller; divide by how many positions the row keeps",
    masked_mean="keep.sum(1, keepdim=True).clamp(min=1) -> x.shape[1]",
)

mistake(
    "mean-without-mask",
    "your mean takes every position, whether it is kept or not; only those that are kept should count",
    masked_mean="""
        - total = x.masked_fill(~keep[:, :, None], 0).sum(1)
        - return total / keep.sum(1, keepdim=True).clamp(min=1)
        + return x.mean(1)
    """,
)

mistake(
    "mean-inverted",
    "your keep is read as padding, so you average what should be left out; True should mean that it counts",
    masked_mean="""
        + keep = ~keep
          total = x.masked_fill(~keep[:, :, None], 0).sum(1)
    """,
)

mistake(
    "mean-nan",
    "your mean divides 0 by 0 where a row keeps nothing, which is NaN; it should be 0 there",
    masked_mean=".clamp(min=1) ->",
)

mistake(
    "mean-of-features",
    "your mean sums over the features of each position; the sum should run over time, the axis in the middle",
    masked_mean="""
        - total = x.masked_fill(~keep[:, :, None], 0).sum(1)
        + total = x.masked_fill(~keep[:, :, None], 0).sum(2)
    """,
)

mistake(
    "mean-one-more",
    "your count has something added, so every mean is too small; divide by how many positions are kept",
    masked_mean=".clamp(min=1) -> + 1",
)

mistake(
    "mean-of-the-batch",
    "your mean divides by the positions of the whole batch; each row should be divided by its own count",
    masked_mean="keep.sum(1, keepdim=True).clamp(min=1) -> keep.sum().clamp(min=1)",
)

mistake(
    "mean-of-a-prefix",
    "your mean counts what is kept and averages as many first positions; keep may have gaps anywhere",
    masked_mean="""
        + keep = torch.arange(x.shape[1], device=x.device) < keep.sum(1, keepdim=True)
          total = x.masked_fill(~keep[:, :, None], 0).sum(1)
    """,
)

mistake(
    "mean-keeps-time",
    "your mean keeps the axis of time with length 1; it should be [B, D]",
    masked_mean="""
        - return total / keep.sum(1, keepdim=True).clamp(min=1)
        + return (total / keep.sum(1, keepdim=True).clamp(min=1))[:, None]
    """,
)

mistake(
    "split-cut-anew",
    "your split_heads reshapes straight to [B, H, T, D/H], which mixes positions; make [B, T, H, D/H], then exchange",
    split_heads="x.unflatten(-1, (heads, -1)).transpose(1, 2) -> x.reshape(len(x), heads, x.shape[1], -1)",
)

mistake(
    "split-not-exchanged",
    "your split_heads stops at [B, T, H, D/H]; heads should come before time",
    split_heads=".transpose(1, 2) ->",
)

mistake(
    "split-every-other-column",
    "your heads take every H-th column; head h should have D/H neighbouring ones",
    split_heads="x.unflatten(-1, (heads, -1)).transpose(1, 2) -> x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)",
)

mistake(
    "split-left-to-torch",
    "your split_heads lets reshape complain about heads that do not fit, by RuntimeError; raise ValueError yourself",
    split_heads="""
        - if heads < 1 or x.shape[-1] % heads:
        -     raise ValueError(f"{heads} heads cannot share {x.shape[-1]} columns: heads must divide them")
        - return x.unflatten(-1, (heads, -1)).transpose(1, 2)
        + return x.reshape(*x.shape[:2], heads, x.shape[-1] // heads).transpose(1, 2)
    """,
)

mistake(
    "join-not-exchanged",
    "your join_heads makes one axis without exchanging heads and time first, which mixes positions; exchange them",
    join_heads="x.transpose(1, 2).flatten(2) -> x.reshape(len(x), x.shape[2], -1)",
)

mistake(
    "join-view",
    "your join_heads calls view after it exchanged two axes, which raises an error; use reshape, which may copy",
    join_heads="x.transpose(1, 2).flatten(2) -> x.transpose(1, 2).view(len(x), x.shape[2], -1)",
)

mistake(
    "join-interleaved",
    "your join_heads takes one column of each head in turn; a head's columns should stay side by side",
    join_heads="x.transpose(1, 2).flatten(2) -> x.permute(0, 2, 3, 1).flatten(2)",
)

mistake(
    "shift-left",
    "your shift_right drops the first token and puts start at the end; start should come first",
    shift_right="torch.cat([first, tokens[:, :-1]], dim=1) -> torch.cat([tokens[:, 1:], first], dim=1)",
)

mistake(
    "shift-longer",
    "your shift_right keeps the last token, so rows become T + 1 long; drop it",
    shift_right="tokens[:, :-1] -> tokens",
)

mistake(
    "shift-comes-round",
    "your shift_right lets the last token come round to the front; start should be there",
    shift_right="torch.cat([first, tokens[:, :-1]], dim=1) -> tokens.roll(1, dims=1)",
)

mistake(
    "shift-along-the-batch",
    "your shift_right moves whole rows down; each row should move along its own axis of time",
    shift_right="""
        - first = torch.full_like(tokens[:, :1], start)
        - return torch.cat([first, tokens[:, :-1]], dim=1)
        + return torch.cat([torch.full_like(tokens[:1], start), tokens[:-1]])
    """,
)

mistake(
    "shift-start-ignored",
    "your shift_right always puts 0 in front; it should be the start that is given",
    shift_right="torch.full_like(tokens[:, :1], start) -> torch.zeros_like(tokens[:, :1])",
)

mistake(
    "shift-in-place",
    "your shift_right writes into the tokens that it is given, so the caller loses them; make a new tensor",
    shift_right="""
        - return torch.cat([first, tokens[:, :-1]], dim=1)
        + tokens[:, 1:] = tokens[:, :-1].clone()
        + tokens[:, :1] = first
        + return tokens
    """,
)

mistake(
    "shift-float",
    "your column of start is float, so the joined tokens become float; ids should stay int64",
    shift_right="torch.full_like(tokens[:, :1], start) -> torch.full_like(tokens[:, :1], start, dtype=torch.float32)",
)

mistake(
    "mean-sums-all",
    "your mean sums every position and divides by those that are kept; only these should be in the sum",
    masked_mean="x.masked_fill(~keep[:, :, None], 0).sum(1) -> x.sum(1)",
)

mistake(
    "shift-drops-the-first",
    "your shift_right drops the first token of a row; it should drop the last",
    shift_right="tokens[:, :-1]], -> tokens[:, 1:]],",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
