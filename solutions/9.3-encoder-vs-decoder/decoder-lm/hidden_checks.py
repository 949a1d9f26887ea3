"""Hidden checks of 9.3.7: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, given_module, with_axes

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


@check(aspect="padding", points=5)
def test_any_loss(submission, reference, draw):
    """the loss keeps its promises for any sizes and any padding, in every dtype, however it is called

    > A scalar: the mean of -log p(tokens[b, t + 1]) under softmax(logits[b, t]), over all targets that count.
    > targets that are this token do not count; None: all count.
    """
    part = Part("next_token_loss", outputs=["loss"], dtypes=[torch.bfloat16], rows=False)
    calls = []
    for (batch, time, vocab_size), pad_id in ((draw.sizes(3, 2, 12), 0), ((1, 2, 300), None), ((3, 4, 5), 2)):
        tokens = draw.integers(0, vocab_size, batch=batch, time=time)
        tokens[:, 1] = pad_id or 0
        tokens[0, 1] = 1  # one target counts for certain, and of several rows one does not
        logits = draw.normal(batch=batch, time=time, token=vocab_size, scale=3.0)
        logits[0, 0, 1] -= 40.0  # so unlikely that float32 holds its logarithm alone
        calls.append({"logits": logits, "tokens": tokens, "pad_id": pad_id})
    part.expect(submission, reference, draw, calls)


@check(aspect="cache", points=5.5, on_workers_word=HANDED_ON)
def test_any_pieces(submission, draw):
    """deep, wide and narrow models read any text in any pieces as they do in one go

    > *in pieces or in one go, the logits are the same.*
    > All of it works for any sizes: texts of one token and of thousands, as long as `max_len` allows.
    """
    for sizes in ((7, 8, 2, 5, 4, 12), (5, 20, 5, 31, 1, 12), (9, 4, 1, 6, 3, 12)):
        model = build(submission, draw, *sizes).to(torch.float64)
        tokens = draw.integers(0, sizes[0], batch=draw.size(1, 3), time=12)
        whole = read(submission, model, tokens)
        expect(whole, "logits in float64", axes=AXES).is_tensor(shape=(*tokens.shape, sizes[0])).is_finite()
        reader, start = given_module(submission, "probes").cached(model), 0
        while start < 12:
            end = min(start + draw.size(1, 5), 12)
            with torch.no_grad():
                piece = with_axes(tokens[:, start:end].contiguous(), "batch", "time")
                found = reader(tokens=piece, cache="the newest" if start else None)
            expect_near(found, f"logits at positions {start} to {end - 1}", whole[:, start:end])
            start = end
    # What is blocked stays blocked when all scores are far below a finite number that stands for minus infinity.
    given_module(submission, "probes").refill(model, draw.seed, 300.0)
    whole, half = (read(submission, model, tokens[:, :end]) for end in (12, 6))
    expect_near(half, "logits of the first half, with scores above 10,000", whole[:, :6])


def expect_near(found, name, wanted):
    """Angles may be kept in float32, and a norm over four features makes much of a rounding."""
    near = 1e-4 * float(wanted.abs().max())
    expect(found, name, axes=AXES).same_as(wanted, name="the whole text", tolerance=near)


@check(aspect="values", points=7)
def test_any_end(submission, draw):
    """rows end when they do, drawn or best, with any eos_id

    > the token that ends a row: it is kept, and what follows in this row is eos_id too; None: no such token.
    > int [B, T + n]: the prompt and what follows; shorter if all rows have ended.
    """
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


@check(aspect="stability", points=3.5)
def test_hard_choices(submission, draw):
    """large logits, float64 and low temperatures are drawn from without NaN

    > 0 takes the best token; otherwise draw from softmax(logits / temperature).
    > Dividing by a temperature of 0.
    """
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


@check(aspect="cache", points=3, on_workers_word=HANDED_ON)
def test_long(submission, draw):
    """texts of a thousand tokens and more are read to their end

    > All of it works for any sizes: texts of one token and of thousands, as long as `max_len` allows.
    > Order matters
    """
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
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
