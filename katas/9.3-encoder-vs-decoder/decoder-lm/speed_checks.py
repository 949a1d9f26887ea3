"""Is it fast? Speed checks of 9.3.7, for `kata check --perf`.

What a model is made of is its author's affair, so what it answers in time is compared with what it answers afterwards,
to other questions about the same text.
"""

from __future__ import annotations

import torch

from grader.checks import Work, check, expect, given_module, with_axes

AXES = "batch time token"
NEWEST = "the newest"
VOCAB = 256
BEGINNING = 16
"""So many tokens at the front are changed to see whether later logits depend on them."""
HANDED_ON = "a reader hands on the logits that forward returned, which the submission chooses anyway"
"""They are compared here with those of other calls, for tokens that were drawn."""
STEPS = 16
"""Tokens that are decoded one by one, behind a text as long as the size says."""
SINGLY = 4
"""Tokens at the end of a text that are read one by one afterwards."""
AT = {"cpu": (8, 256), "cuda": (64, 1024)}
"""Positions at which decoding is timed."""


def narrow(kata):
    """Return a model that one core is busy with."""
    return kata.DecoderLM(VOCAB, 128, 4, 2048, 2, 384)


def wide(kata):
    """Return a model that is large enough for a GPU to notice how long the text is."""
    return kata.DecoderLM(VOCAB, 1024, 16, 4096, 4, 2048)


def ready(kata, model):
    """Return the model, a reader of whole texts, and who makes readers that go on with a cache."""
    probes = given_module(kata, "probes")
    probes.refill(model, 0)
    model.eval()
    return model, probes.logits(model), probes.cached


def on_device(prepared, *tensors):
    if tensors[0].device.type != "cpu":
        prepared[0].to(tensors[0].device)
    return prepared


def read(prepared, tokens):
    _, reader, _ = prepared
    with torch.no_grad():
        return reader(tokens=with_axes(tokens.contiguous(), "batch", "time"))


def go_on(reader, tokens, cache=NEWEST):
    with torch.no_grad():
        return reader(tokens=with_axes(tokens.contiguous(), "batch", "time"), cache=cache)


def depends_on_the_beginning(prepared, tokens, logits):
    """Other tokens at the front must change the logits after them: else only the newest tokens are looked at."""
    other = tokens.clone()
    other[:, :BEGINNING] = (other[:, :BEGINNING] + 1) % VOCAB
    found = read(prepared, other)[:, -1:]
    expect(found, "logits at the last position", axes=AXES).differs_from(
        logits[:, -1:],
        why=f"the first {BEGINNING} tokens are others",
        tolerance=1e-5 * float(logits.abs().max()),
    )


# --- decoding with a cache ---


def decoding_text(draw, position):
    text = draw.integers(0, VOCAB, batch=1 if position in AT["cpu"] else 8, time=position)
    return text, draw.integers(0, VOCAB, batch=len(text), time=STEPS)


def prefill(prepared, text, new):
    """Read the text; the new tokens are not shown yet."""
    model, _, cached = on_device(prepared, text)
    reader = cached(model)
    go_on(reader, text, None)
    return reader


def decode(reader, text, new):
    """Send each token when the logits of the one before have come."""
    return [go_on(reader, token) for token in new.split(1, dim=1)]


def right_steps(steps, text, new, prepared):
    """One pass over the whole text, with more after it that nobody has seen, gives the logits of each step."""
    for step in steps:
        expect(step, "logits of a step", axes=AXES).is_tensor(shape=(len(new), 1, VOCAB), dtype=torch.float32)
    found = torch.cat(list(steps), dim=1)
    tokens = torch.cat((text, new), dim=1)
    behind = tokens.flip(1)[:, : 1 + int(new.sum()) % 8]
    whole = read(prepared, torch.cat((tokens, behind), dim=1))[:, text.shape[1] : tokens.shape[1]]
    expect(found, "logits of the steps", axes=AXES).is_finite().same_as(whole, name="the text in one go")
    depends_on_the_beginning(prepared, tokens, whole)


DECODING = Work(
    inputs=decoding_text,
    call=decode,
    right=right_steps,
    prepare=lambda kata, position: ready(kata, (narrow if position in AT["cpu"] else wide)(kata)),
    begin=prefill,
    sizes=AT,
    axis="tokens read before",
)


@check(aspect="performance", threshold="decoding", on_workers_word=HANDED_ON)
def test_decoding_speed(speed):
    """with the cache, a step hardly costs more after a long text than after a short one

    > with the cache, a step hardly costs more after a long text than after a short one
    """
    speed.growth(DECODING)


# --- all positions at once ---


def whole_texts(draw, length):
    return (draw.integers(0, VOCAB, batch=2 if length <= 256 else 16, time=length),)


def right_texts(logits, tokens, prepared):
    """One of the texts, read alone, in two pieces and then token by token, gives the same logits."""
    model, _, cached = prepared
    time = tokens.shape[1]
    expect(logits, "logits", axes=AXES).is_tensor(
        shape=(len(tokens), time, VOCAB), dtype=torch.float32
    ).is_finite()
    chance = int(tokens.sum())
    row, cut = chance % len(tokens), 1 + chance % (time - SINGLY - 1)
    mine, text = logits[row : row + 1], tokens[row : row + 1]
    sizes = (cut, time - SINGLY - cut, *[1] * SINGLY)
    reader, cache, found = cached(model), None, []
    for piece in text.split(sizes, dim=1):
        found.append(go_on(reader, piece, cache))
        cache = NEWEST
    expect(mine, f"logits of row {row}", axes=AXES).same_as(
        torch.cat(found, dim=1),
        name=f"the row read alone, in pieces of {cut}, {sizes[1]} and {SINGLY} times 1",
    )
    depends_on_the_beginning(prepared, text, mine)


TEACHER_FORCING = Work(
    inputs=whole_texts,
    begin=on_device,
    call=read,
    right=right_texts,
    prepare=lambda kata, length: ready(kata, (narrow if length <= 256 else wide)(kata)),
    sizes={"cpu": (64, 128, 256), "cuda": (512,)},
    axis="tokens",
)


@check(aspect="performance", threshold="teacher_forcing", on_workers_word=HANDED_ON)
def test_teacher_forcing_speed(speed):
    """without a cache, all positions of a text are computed at once

    > without it all positions of a text are computed at once
    """
    speed.ratio(TEACHER_FORCING)
