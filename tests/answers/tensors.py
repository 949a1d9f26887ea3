"""Answers to tensors."""

# ==== right ====
"""Tensors as other people write them, from the lesson and the stub alone."""

answer("one-line-each", "Everything is indexing with None and reshape.")


def outer_compare(a, b):
    return a.unsqueeze(1) <= b


def one_hot(ids, size):
    if ids.min() < 0 or ids.max() >= size:
        raise ValueError(f"ids must be in 0..{size - 1}, found {ids.min()}..{ids.max()}")
    return torch.nn.functional.one_hot(ids, size).float()


def pick(table, ids):
    if (ids < 0).any() or (ids >= table.shape[0]).any():
        raise ValueError(f"ids must be in 0..{table.shape[0] - 1}")
    return torch.nn.functional.embedding(ids, table)


def masked_mean(x, keep):
    m = keep.unsqueeze(-1).to(x.dtype)
    return (x * m).sum(dim=1) / m.sum(dim=1).clamp(min=1)


def split_heads(x, heads):
    b, t, d = x.size()
    if heads <= 0:
        raise ValueError(f"heads must be positive, got {heads}")
    if d % heads != 0:
        raise ValueError(f"{d} is not divisible by {heads}")
    return (
        x.view(b, t, heads, d // heads).transpose(1, 2)
        if x.is_contiguous()
        else x.reshape(b, t, heads, d // heads).transpose(1, 2)
    )


def join_heads(x):
    b, h, t, d = x.size()
    return x.transpose(1, 2).contiguous().view(b, t, h * d)


def shift_right(tokens, start):
    out = tokens.new_full(tokens.shape, start)
    out[:, 1:] = tokens[:, :-1]
    return out


answer(
    "by-products", "Rows are picked by one-hot products, means are products too, axes are moved by einsum."
)


def outer_compare(a, b):
    return torch.ge(b.expand(len(a), len(b)), a.reshape(-1, 1))


def one_hot(ids, size):
    for i in ids.flatten():
        if not 0 <= i.item() < size:
            raise ValueError(f"id {i.item()}: want 0 to {size - 1}")
    out = torch.zeros(ids.numel(), size, dtype=torch.float32)
    out[torch.arange(ids.numel()), ids.flatten()] = 1
    return out.reshape(*ids.shape, size)


def pick(table, ids):
    return one_hot(ids, table.shape[0]).to(table.dtype) @ table


def masked_mean(x, keep):
    counted = keep.sum(1)
    summed = torch.where(keep[..., None], x, torch.zeros((), dtype=x.dtype)).sum(1)
    safe = torch.where(counted > 0, counted, torch.ones_like(counted))
    return summed / safe[:, None]


def split_heads(x, heads):
    B, T, D = x.shape
    try:
        parts = torch.tensor_split(x, heads, dim=-1)
    except RuntimeError as error:
        raise ValueError(f"heads={heads} does not divide D={D}") from error
    if D % heads:
        raise ValueError(f"heads={heads} does not divide D={D}")
    return torch.stack(parts).movedim(0, 1)


def join_heads(x):
    B, H, T, C = x.shape
    return torch.einsum("bhtc->bthc", x).reshape(B, T, H * C)


def shift_right(tokens, start):
    column = torch.tensor([[start]] * len(tokens), dtype=tokens.dtype)
    return torch.hstack([column, tokens])[:, :-1]


answer("whole-rows", "Only ids, rows and heads as numpy people think of them.")


def one_hot(ids, size):
    ids_list = ids.reshape(-1).tolist()
    if any(i < 0 or i >= size for i in ids_list):
        raise ValueError(f"all ids must be >= 0 and < {size}: {ids_list}")
    rows = torch.zeros(len(ids_list), size)
    for row, i in enumerate(ids_list):
        rows[row, i] = 1.0
    return rows.reshape(tuple(ids.shape) + (size,))


def join_heads(x):
    return torch.cat([x[:, h] for h in range(x.shape[1])], dim=2)


# ==== wrong ====
"""Tensors as other people get them wrong."""

answer("compared-with-itself", "The new axis is given to both, so the table is a column.")


def outer_compare(a, b):
    n = min(len(a), len(b))
    return a[:n, None] <= b[:n, None]


answer("double-rows", "One-hot rows come from numpy's identity, which is float64.")

import numpy as np


def one_hot(ids, size):
    _expect_ids(ids, size)
    return torch.from_numpy(np.eye(size))[ids]


@answer("two-axes-of-ids", "Only ids [B, T] are thought of.")
def pick(table, ids):
    _expect_ids(ids, len(table))
    B, T = ids.shape
    return table[ids.reshape(-1)].reshape(B, T, -1)


@answer("unique-rows", "Each row is picked once, and repeated ones are left out.", named=["pick-flattened"])
def pick(table, ids):
    _expect_ids(ids, len(table))
    return table[ids.unique()]


@answer("eps-in-the-count", "The division is made safe by a large epsilon.")
def masked_mean(x, keep):
    m = keep[:, :, None].to(x.dtype)
    return (x * m).sum(1) / (m.sum(1) + 1e-2)


@answer("nan-to-num", "What is kept is averaged by nanmean: a row without any stays NaN.", named=["mean-nan"])
def masked_mean(x, keep):
    return x.masked_fill(~keep[:, :, None], float("nan")).nanmean(1)


@answer("mean-over-features", "The axis of the sum is the last.")
def masked_mean(x, keep):
    return (x * keep[:, :, None]).sum(-1) / keep.sum(1, keepdim=True).clamp(min=1)


@answer("heads-last", "The exchange is of the wrong two axes.")
def split_heads(x, heads):
    if heads < 1 or x.shape[-1] % heads:
        raise ValueError("heads must divide D")
    B, T, D = x.shape
    return x.reshape(B, T, D // heads, heads).permute(0, 3, 1, 2)


answer(
    "heads-cut-anew",
    "Both ways are reshapes, so they undo each other.",
    named=["split-cut-anew", "join-not-exchanged"],
)


def split_heads(x, heads):
    B, T, D = x.shape
    if heads < 1 or D % heads:
        raise ValueError(f"{D} cannot be divided by {heads}")
    return x.reshape(B, heads, T, D // heads)


def join_heads(x):
    B, H, T, C = x.shape
    return x.reshape(B, T, H * C)


@answer("assert-for-error", "What does not fit is an AssertionError.")
def split_heads(x, heads):
    B, T, D = x.shape
    assert D % heads == 0, "heads must divide D"
    return x.reshape(B, T, heads, D // heads).transpose(1, 2)


@answer("shift-by-padding", "F.pad puts start in front, and the row grows.", named=["shift-longer"])
def shift_right(tokens, start):
    return torch.nn.functional.pad(tokens, (1, 0), value=start)


@answer("shift-alias", "The tokens are shifted where they are.", named=["shift-in-place"])
def shift_right(tokens, start):
    tokens[:, 1:] = tokens[:, :-1].clone()
    tokens[:, 0] = start
    return tokens
