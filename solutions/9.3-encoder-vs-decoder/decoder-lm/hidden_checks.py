"""Hidden checks of 9.3.7: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch
from torch.nn.functional import cross_entropy

from grader.checks import (
    check,
    expect,
    given_module,
    oracle,
    with_axes,
)

AXES = "batch time token"
STATES = 97
HANDED_ON = "a reader hands on the logits that forward returned, which the submission chooses anyway"
"""Every check that reads a model compares these with other logits, here, for tokens that it drew."""


def build(submission, draw, *sizes):
    model = submission.DecoderLM(*sizes).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed + 1)
    model.eval()
    return model


def read(submission, model, tokens):
    with torch.no_grad():
        return given_module(submission, "probes").logits(model)(
            tokens=with_axes(tokens.contiguous(), "batch", "time")
        )


def scripted(submission, draw, vocab_size, scale, dtype=torch.float32, **options):
    table = draw.normal(state=STATES, token=vocab_size, scale=scale, dtype=dtype)
    return given_module(submission, "probes").ScriptedModel(table, **options), table


def write(table, prompt, count, eos_id=None):
    """Continue with the scripted model's best tokens, filling rows that have ended with eos_id."""
    rows = []
    for row in prompt.tolist():
        length = len(row)
        while len(row) < length + count:
            if eos_id is not None and eos_id in row[length:]:
                row.append(eos_id)
                continue
            state = 0
            for token in row:
                state = (5 * state + token + 1) % STATES
            row.append(int(table[state].argmax()))
        rows.append(row)
    return torch.tensor(rows, device=prompt.device)


@check(
    "the loss is right for any sizes and any padding",
    aspect="padding",
    points=3,
    asked=[
        "A scalar: the mean of -log p(tokens[b, t + 1]) under softmax(logits[b, t]), over all targets that count.",
        "targets that are this token do not count; None: all count.",
    ],
)
def test_any_loss(submission, draw):
    for surprise in (0.0, 40.0, 0.0, 40.0):
        batch, time, vocab_size = draw.sizes(3, 2, 12)
        tokens = draw.integers(0, vocab_size, batch=batch, time=time)
        pad_id = 0 if surprise else draw.size(1, vocab_size - 1)
        tokens[0, 1] = (pad_id + 1) % vocab_size  # one target counts for certain
        tokens[1, 1] = pad_id  # and one does not
        logits = draw.normal(batch=batch, time=time, token=vocab_size, scale=3.0)
        logits[0, 0, tokens[0, 1]] -= surprise  # so unlikely that float32 holds its logarithm alone
        for skipped in (None, pad_id):
            targets = tokens[:, 1:].cpu()
            counts = torch.ones_like(targets, dtype=torch.bool) if skipped is None else targets != skipped

            def loss(logits, targets=targets, counts=counts):
                return -logits[:, :-1].log_softmax(-1).gather(-1, targets[..., None])[..., 0][counts].mean()

            found = submission.next_token_loss(logits=logits, tokens=tokens, pad_id=skipped)
            expect(found, f"loss with pad_id={skipped}").is_scalar().close_to(oracle(loss, logits))
            coarse = logits.to(torch.bfloat16)
            found = submission.next_token_loss(coarse, tokens, skipped)
            expect(found, f"loss in bfloat16 with pad_id={skipped}").is_scalar().close_to(
                oracle(loss, coarse)
            )
    # Without a pad_id there is no token that does not count, not even one that has a meaning elsewhere.
    tokens = with_axes(draw.permutation(260).reshape(2, 130), "batch", "time")
    logits = draw.normal(batch=2, time=130, token=260)
    found = submission.next_token_loss(logits, tokens)
    expect(found, "loss of 260 different tokens").is_scalar().close_to(
        oracle(
            lambda logits: cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].cpu().flatten()), logits
        )
    )


@check(
    "deep, wide and narrow models read any text in any pieces as they do in one go",
    aspect="cache",
    points=5,
    asked=[
        "*in pieces or in one go, the logits are the same.*",
        "All of it works for any sizes: texts of one token and of thousands, as long as `max_len` allows.",
    ],
    on_workers_word=HANDED_ON,
)
def test_any_pieces(submission, draw):
    for sizes in ((7, 8, 2, 5, 4, 12), (5, 20, 5, 31, 1, 12), (9, 4, 1, 6, 3, 12)):
        model = build(submission, draw, *sizes)
        tokens = draw.integers(0, sizes[0], batch=draw.size(1, 3), time=12)
        whole = read(submission, model, tokens)
        expect(whole, "logits", axes=AXES).is_tensor(shape=(*tokens.shape, sizes[0])).is_finite()
        double = read(submission, model.to(torch.float64), tokens)
        expect(double, "logits in float64", axes=AXES).is_tensor(
            shape=tuple(whole.shape), dtype=torch.float64
        )
        expect(double, "logits in float64", axes=AXES).differs_from(
            double.float().double(), why="a model in float64 computes in float64"
        )
        # Compared in float64: a norm over four features makes much of a rounding. Angles may be kept in float32.
        near = 1e-4 * float(double.abs().max())
        half = read(submission, model, tokens[:, :6])
        expect(half, "logits of the first half", axes=AXES).same_as(
            double[:, :6], name="the whole text", tolerance=near
        )
        reader, start = given_module(submission, "probes").cached(model), 0
        while start < 12:
            end = min(start + draw.size(1, 5), 12)
            with torch.no_grad():
                piece = with_axes(tokens[:, start:end].contiguous(), "batch", "time")
                found = reader(tokens=piece, cache="the newest" if start else None)
            expect(found, f"logits at positions {start} to {end - 1}", axes=AXES).same_as(
                double[:, start:end], name="the text in one go", tolerance=near
            )
            start = end
        half = read(submission, model.to(torch.bfloat16), tokens)
        expect(half, "logits in bfloat16", axes=AXES).is_tensor(
            shape=tuple(whole.shape), dtype=torch.bfloat16
        )
        share = float((half.float() - whole).abs().median() / whole.abs().median())
        expect(share, "how far logits in bfloat16 are off, as a share of their size").is_between(0.0, 0.5)
    # What is blocked stays blocked when all scores are far below a finite number that stands for minus infinity.
    model = build(submission, draw, 7, 8, 2, 12, 2, 12).to(torch.float64)
    given_module(submission, "probes").refill(model, draw.seed, 300.0)
    tokens = draw.integers(0, 7, batch=2, time=12)
    whole = read(submission, model, tokens)
    half = read(submission, model, tokens[:, :6])
    expect(half, "logits of the first half, with scores above 10,000", axes=AXES).same_as(
        whole[:, :6], name="the whole text", tolerance=1e-4 * float(whole.abs().max())
    )


@check(
    "training still works after a text was written",
    aspect="gradient",
    points=3,
    asked="training still works after `generate`",
    on_workers_word=HANDED_ON,
)
def test_learns_after_writing(submission, draw):
    model = build(submission, draw, 7, 8, 2, 5, 2, 12)
    tokens = draw.integers(0, 7, batch=2, time=6)
    submission.generate(model, tokens, 3)
    found = given_module(submission, "probes").logits(model)(tokens=tokens, by_name=True)
    loss = submission.next_token_loss(found, tokens)
    expect(loss, "loss").is_scalar().is_finite()
    loss.backward()
    with torch.no_grad():  # so that they arrive as leaves, with their gradients
        gradients = [tensor.grad for _, tensor in model.named_parameters()]
    expect(
        sum(g is not None and bool((g != 0).any()) for g in gradients), "parameters that learn"
    ).is_between(1, float("inf"), why="after generate the model must still learn")


@check(
    "rows end when they do, drawn or best, with any eos_id",
    aspect="values",
    points=4.5,
    asked=[
        "the token that ends a row: it is kept, and what follows in this row is eos_id too; None: no such token.",
        "int [B, T + n]: the prompt and what follows; shorter if all rows have ended.",
    ],
)
def test_any_end(submission, draw):
    for turn in range(3):
        # "Hand it back as it is": whether there is a cache is not asked by what it is worth as a condition.
        falsy_cache = turn == 2
        ends = False
        # Some row before its last token, or nobody is asked to fill it; once all, or nobody has to append the last end.
        while not ends:
            batch, length, count, vocab_size = draw.sizes(4, 2, 9)
            vocab_size += 2
            model, table = scripted(submission, draw, vocab_size, 2.0, falsy_cache=falsy_cache)
            eos_id = draw.size(0, vocab_size - 1) if turn else 0
            prompt = (eos_id + 1 + draw.integers(0, vocab_size - 1, batch=batch, time=length)) % vocab_size
            prompt = with_axes(prompt, "batch", "time")
            wanted = write(table, prompt, count, eos_id)
            ended = (wanted[:, length:-1] == eos_id).any(dim=1)
            ends = bool(ended.all() if turn == 1 else ended.any())
        for options in ({}, {"temperature": 1.3, "top_k": 1}):
            found = submission.generate(model, prompt, count, eos_id=eos_id, **options)
            expect(found, "tokens", axes="batch time").is_tensor(shape=(batch, None), dtype=torch.int64)
            live = int((wanted[:, length:] != eos_id).sum(dim=1).max())  # new tokens of the longest row
            least = min(length + live + 1, length + count)
            expect(found.shape[1], "length of the result").is_between(least, length + count)
            expect(found, "tokens", axes="batch time").equals(wanted[:, : found.shape[1]])


@check(
    "large logits, float64 and low temperatures are drawn from without NaN",
    aspect="stability",
    points=3,
    asked=[
        "0 takes the best token; otherwise draw from softmax(logits / temperature).",
        "Dividing by a temperature of 0.",
    ],
)
def test_hard_choices(submission, draw):
    for dtype, scale, temperature in ((torch.float32, 1000.0, 0.01), (torch.float64, 3.0, 0.005)):
        model, table = scripted(submission, draw, 6, scale, dtype)
        prompt = draw.integers(
            0, 6, batch=24, time=4
        )  # so many that nobody takes the best each time by chance
        found = submission.generate(model, prompt, 1, temperature=temperature)
        state = torch.zeros_like(prompt[:, 0])
        for token in prompt.unbind(dim=1):
            state = (5 * state + token + 1) % STATES
        chance = (table[state].double() / temperature).softmax(dim=-1)
        expect(found, "tokens", axes="batch time").is_tensor(shape=(24, 5), dtype=torch.int64).is_between(
            0, 5
        )
        picked = chance.gather(1, found[:, 4:])
        expect(picked, "probability of the token drawn", axes="batch step").is_between(1e-9, 1.0)
    model, table = scripted(submission, draw, 6, 0.05)  # as close as a low temperature is low
    prompt = draw.integers(0, 6, batch=64, time=3)
    found = submission.generate(model, prompt, 1, temperature=0.05)
    expect(found, "tokens at temperature 0.05", axes="batch time").differs_from(
        write(table, prompt, 1), why="other tokens than the best are nearly as likely"
    )


@check(
    "one seed gives one text, whatever else is drawn",
    aspect="values",
    points=3,
    asked="All chance comes from `generator`, so that a text can be had again.",
)
def test_seed(submission, draw):
    model, _ = scripted(submission, draw, 8, 1.0)
    prompt = draw.integers(0, 8, batch=3, time=2)
    texts = []
    for _ in range(3):
        chance = torch.Generator(draw.device).manual_seed(draw.seed + 5)
        texts.append(
            submission.generate(
                model=model, prompt=prompt, max_new_tokens=10, temperature=0.9, top_k=4, generator=chance
            )
        )
        submission.DecoderLM(5, 8, 2, 7, 1, 6)  # makes random weights
    expect(texts[1], "tokens", axes="batch time").same_as(texts[0], name="the same seed before")
    expect(texts[2], "tokens", axes="batch time").same_as(texts[0], name="the same seed before")


@check(
    "texts of a thousand tokens and more are read to their end",
    aspect="cache",
    points=2.5,
    asked=[
        "All of it works for any sizes: texts of one token and of thousands, as long as `max_len` allows.",
        "Order matters",
    ],
    on_workers_word=HANDED_ON,
)
def test_long(submission, draw):
    length = draw.size(1030, 1100)
    model = build(submission, draw, 7, 4, 1, 5, 1, length)
    tokens = draw.integers(0, 7, batch=1, time=length)
    whole = read(submission, model, tokens)
    expect(whole, "logits", axes=AXES).is_tensor(shape=(1, length, 7)).is_finite()
    reader = given_module(submission, "probes").cached(model)
    cut = length - 3
    with torch.no_grad():
        reader(tokens=with_axes(tokens[:, :cut].contiguous(), "batch", "time"), cache=None)
        found = reader(tokens=with_axes(tokens[:, cut:].contiguous(), "batch", "time"), cache="the newest")
    expect(found, f"logits at positions {cut} to {length - 1}", axes=AXES).same_as(
        whole[:, cut:], name="the text in one go"
    )
    far = length // 4  # one token of a thousand moves the logits by little more than rounding, now and then
    changed = tokens.clone()
    changed[:, :far] = (tokens[:, :far] + 1) % 7
    after = read(submission, model, changed)
    expect(after[:, -1], f"logits at position {length - 1}", axes="batch token").differs_from(
        whole[:, -1], why=f"the first {far} tokens were changed: the last position sees them too"
    )
    # Whole blocks change places: positions that begin anew after 128, or a part of it, do not notice.
    blocks = torch.cat((*reversed(tokens[:, :1024].split(128, dim=1)), tokens[:, 1024:]), dim=1)
    after = read(submission, model, with_axes(blocks, "batch", "time"))
    expect(after[:, -1], f"logits at position {length - 1}", axes="batch token").differs_from(
        whole[:, -1], why="blocks of 128 tokens changed places: positions are counted to the end of the text"
    )
