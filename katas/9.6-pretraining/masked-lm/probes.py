"""What the check of learning brings into the worker."""

from __future__ import annotations

import harbor
import torch
from torch.nn.functional import cross_entropy


def seed(number):  # type: ignore[no-untyped-def]
    """Seed torch's global generator."""
    torch.manual_seed(number)


def new(model_class, sizes):  # type: ignore[no-untyped-def]
    """Make a model whose first numbers are its own, also while a mistake is recognised."""
    return model_class(**sizes)


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
