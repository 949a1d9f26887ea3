"""Is it fast? Speed checks of 9.3.6, for `kata check --perf`.

What a classifier is made of is its author's affair, so what it answers in time is compared with what it answers
afterwards, to other questions about the same texts.
"""

from __future__ import annotations

import torch

from grader.checks import Work, check, expect, given_module, with_axes

AXES = "batch class"
CLASSES = 5
SMALL_PARAMETER = 100_000
"""Parameters of up to so many numbers get noise: a table of 65 536 vectors need not cross for that."""
POSITIONS = 2048
"""B · T of every batch in which the number of texts is what grows."""
ASKED_AGAIN = 3
"""Texts that are classified once more, each by itself."""


def ready(kata, *sizes, **options):
    """Return a model that reads, with noise on its parameters: those that begin as zeros hide much."""
    given_module(kata, "probes").seed_everything(0)
    model = kata.EncoderClassifier(*sizes, **options)
    model.eval()
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        learned = {
            name: p
            for name, p in model.named_parameters()
            if p.numel() <= SMALL_PARAMETER and p.requires_grad
        }
    for name, p in learned.items():
        learned[name] = p.detach() + 0.2 * torch.randn(p.shape, generator=noise).to(p.device)
    model.load_state_dict(learned, strict=False)
    return model


def on_device(model, tokens):
    if tokens.device.type != "cpu":
        model.to(tokens.device)
    return model


def classify(model, tokens):
    with torch.no_grad():
        return model(with_axes(tokens.contiguous(), "batch", "time"))


def padded(draw, tokens):
    """Fill up every text but the first from a place of its own; every text keeps a real token."""
    batch, time = tokens.shape
    lengths = draw.integers(1, time + 1, batch=batch)
    lengths[0] = time
    return with_axes(
        tokens.masked_fill(torch.arange(time, device=tokens.device) >= lengths[:, None], 0), "batch", "time"
    )


def right_logits(logits, tokens, prepared):
    """Some texts, read one by one without their padding, get the same logits; others, with another token, do not."""
    expect(logits, "logits", axes=AXES).is_tensor(
        shape=(len(tokens), CLASSES), dtype=torch.float32
    ).is_finite()
    chance = int(tokens.sum())
    for row in {(chance * step) % len(tokens) for step in range(1, ASKED_AGAIN + 1)}:
        text = tokens[row : row + 1, : int((tokens[row] != 0).sum())]
        expect(logits[row : row + 1], f"logits of row {row}", axes=AXES).same_as(
            classify(prepared, text), name="the row alone, without its padding"
        )
        changed = text.clone()
        place = chance % text.shape[1]
        changed[:, place] = changed[:, place] % (int(tokens.max()) - 1) + 1
        expect(classify(prepared, changed), f"logits of row {row}", axes=AXES).differs_from(
            logits[row : row + 1], why=f"another token at position {place}"
        )


# --- vocabulary ---


VOCABULARY = Work(
    inputs=lambda draw, vocab_size: (padded(draw, draw.integers(1, vocab_size, batch=8, time=64)),),
    begin=on_device,
    call=classify,
    right=right_logits,
    prepare=lambda kata, vocab_size: ready(kata, vocab_size, CLASSES, pooling="cls"),
    sizes={"cpu": (1024, 65536), "cuda": (1024, 262144)},
    axis="words in the vocabulary",
)


@check(aspect="performance", threshold="vocabulary")
def test_vocabulary_speed(speed):
    """a large vocabulary costs no more than a small one

    > a large vocabulary costs no more than a small one
    """
    speed.growth(VOCABULARY)


# --- batch ---


def many_texts(draw, batch):
    return (padded(draw, draw.integers(1, 100, batch=batch, time=POSITIONS // batch)),)


BATCH = Work(
    inputs=many_texts,
    begin=on_device,
    call=classify,
    right=right_logits,
    prepare=lambda kata, batch: ready(kata, 100, CLASSES, 32, 1, 32, 1, POSITIONS // 32, pooling="mean"),
    sizes={"cpu": (32, 512), "cuda": (32, 512)},
    axis="texts in the batch",
)


@check(aspect="performance", threshold="batch")
def test_batch_speed(speed):
    """many short texts cost no more than a few long ones of as many tokens

    > the texts of a batch are read and pooled all at once
    """
    speed.growth(BATCH)
