"""What the check of learning brings into the worker."""

from __future__ import annotations

import harbor
import torch
from torch.nn.functional import cross_entropy


def after_seed(hide, seed, tokens, options):  # type: ignore[no-untyped-def]
    """Hide without a generator, torch's global one being seeded, or left as it is."""
    if seed is not None:
        torch.manual_seed(seed)
    return hide(tokens, **options)


def begin_alike(model_class, vocab_size, sizes):  # type: ignore[no-untyped-def]
    """Tell whether all tables of a new model begin with the same numbers."""
    model = model_class(vocab_size, **sizes)
    shape = (vocab_size, sizes["d_model"])
    tables = [value for value in model.parameters() if tuple(value.shape) == shape]
    return len(tables) > 1 and all(bool((value == tables[0]).all()) for value in tables)


def count_parameters(model):  # type: ignore[no-untyped-def]
    """Return how many numbers the model can learn."""
    return sum(value.numel() for value in model.parameters())


def first_loss(model_class, sizes, tokens, targets):  # type: ignore[no-untyped-def]
    """Return the loss of a new model on words that have nothing to do with what it reads, and how long its rows are."""
    model = model_class(**sizes).to(tokens.device).eval()
    rows = [p for p in model.parameters() if tuple(p.shape) == (sizes["vocab_size"], sizes["d_model"])]
    with torch.no_grad():
        loss = cross_entropy(model(tokens).flatten(0, 1).float(), targets.flatten())
        return loss.item(), max([value.norm(dim=1).mean().item() for value in rows], default=0.0)


def pretrain(model, hide, tokens, *, steps, seed):  # type: ignore[no-untyped-def]
    """Train on fresh gaps in batches of 64, with AdamW."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    model.train()
    for _ in range(steps):
        rows = torch.randint(len(tokens), (64,), generator=generator)
        inputs, targets = hide(
            tokens[rows.to(tokens.device)], mask_id=harbor.MASK, vocab_size=len(harbor.WORDS),
            special_ids=harbor.SPECIAL, rate=0.2, generator=generator,
        )  # fmt: skip
        loss = cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
