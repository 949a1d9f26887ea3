"""Hidden checks of 9.9.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    fail,
    given_module,
    new_worker,
    precondition,
    with_axes,
)

LOGITS = "batch time token"
SIZES = ("vocab_size", "d_model", "num_heads", "d_ff", "num_layers", "max_len", "norm", "positions")
STATES, WORDS = 97, 7
CHARACTERS, STEPS, STORIES, ENDS = 57, 150, 200, 0.3
"""As runs.py has them; equal runs may end so far apart, in nats."""


def build(submission, draw, **sizes):
    model = submission.LanguageModel(**sizes).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def score(model, text, vocab):
    with torch.no_grad():
        found = model(text)
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(*text.shape, vocab)).is_finite()
    return found


def expect_all_read(model, whole, text, vocab):
    """The last of more than 256 positions sees the first tokens, and in which block of 64 a token stands."""
    early = text.clone()
    early[:, :64] = (text[:, :64] + 1) % vocab
    turned = torch.cat((*reversed(text[:, :256].split(64, dim=1)), text[:, 256:]), dim=1)
    for other, why in ((early, "the first 64 tokens were changed"), (turned, "blocks of 64 changed places")):
        expect(score(model, with_axes(other, "batch", "time"), vocab)[:, -1], "the last logits").differs_from(
            whole[:, -1], why=why
        )


@check(aspect="causality", points=5)
def test_any_sizes(submission, draw):
    """models of any sizes score every token from itself and what comes before it

    > All of it works for any sizes, one token and one text included.
    > Those at t depend only on tokens 0 to t.
    """
    for sizes in (
        (9, 4, 1, 20, 1, draw.size(260, 270), "first"),
        (7, 30, 5, 17, 4, draw.size(5, 40), "last"),
    ):
        made = dict(zip(SIZES, sizes, strict=False))
        model, vocab, longest = build(submission, draw, **made), made["vocab_size"], made["max_len"]
        text = draw.integers(0, vocab, batch=draw.size(1, 4), time=longest)
        whole = score(model, text, vocab)
        for length in (1, longest // 2, longest - 1):
            part = with_axes(text[:, :length].contiguous(), "batch", "time")
            expect(score(model, part, vocab), f"logits of the first {length} tokens", axes=LOGITS).same_as(
                whole[:, :length], name=f"theirs among {longest}"
            )
        if longest > 256:
            expect_all_read(model, whole, text, vocab)
    # What is blocked stays blocked when all scores are far below a finite number that stands for minus infinity.
    model = build(submission, draw, **{**made, "norm": "first", "num_layers": 2, "max_len": 12}).to(
        torch.float64
    )
    given_module(submission, "probes").refill(model, draw.seed, 300.0)
    text = draw.integers(0, vocab, batch=16, time=12)
    whole, half = (
        score(model, with_axes(text[:, :end].contiguous(), "batch", "time"), vocab) for end in (12, 6)
    )
    expect(half, "logits of the first half, with scores above 10,000", axes=LOGITS).same_as(
        whole[:, :6], name="the whole text", tolerance=1e-4 * float(whole.abs().max())
    )


@check(aspect="arguments", points=4)
def test_other_models(submission, draw):
    """however a model of another kind is called, its logits are those of these tokens and parameters

    > Logits have the model's dtype
    > parameters of its own.
    """
    for norm, positions in (("last", False), ("first", False), ("last", True)):
        made = dict(zip(SIZES, (11, 24, 4, 8, 1, draw.size(5, 9), norm, positions), strict=True))
        part = Part("LanguageModel", made, ["logits"], [LOGITS], [torch.float64, torch.bfloat16])
        call = {"tokens": draw.integers(0, 11, batch=draw.size(2, 4), time=made["max_len"])}
        part.expect(submission, None, draw, [call])


def carried(submission, draw, model, text, vocab, **settings):
    """Return a new model in a new worker with the parameters of this one: they are all that crosses."""
    with torch.no_grad():
        learned = dict(model.named_parameters())
    new_worker(submission)
    other = draw.integers(0, vocab, time=len(text))
    model, _ = expect(submission.train(other, vocab, 0, 1, **settings), "result").is_tuple(2)
    model.load_state_dict(learned, strict=False)
    model.eval()
    return model


@check(aspect="learning", points=4, trained=True, needs="test_updates")
def test_other_texts(submission, draw):
    """texts of other vocabularies are learned, with either norm and without positions

    > predict the next token at every position of each piece
    > norm, positions, num_layers: of the model.
    """
    for vocab, settings in (
        (13, {"norm": "last"}),
        (4, {"positions": False}),
        (23, {"num_layers": 1, "warmup": 5}),
    ):
        period = draw.permutation(vocab)
        text = period.repeat(300 // vocab)
        # A token that is nowhere else comes before it: pieces are drawn from all of a text.
        long = with_axes(torch.cat((torch.full_like(text, vocab).repeat(4), text.repeat(12))), "time")
        model, _ = expect(
            submission.train(long, vocab + 1, 60, draw.size(2, 999), **settings), "result"
        ).is_tuple(2)
        model = carried(submission, draw, model, long, vocab + 1, **settings)
        found = score(model, with_axes(text[None, :30].contiguous(), "batch", "time"), vocab + 1)
        right = float((found.argmax(dim=-1) == text[None, 1:31]).float().mean())
        expect(right, f"share of right next tokens with vocab_size={vocab} after 60 steps").is_between(
            0.9, 1.0
        )


@check(aspect="values", points=4)
def test_any_generation(submission, draw):
    """greedy texts are right for any sizes, far beyond max_len too

    > The model never reads more than the last max_len tokens.
    > one token and one text included
    """
    for batch, length, count, longest in ((1, 1, 12, 1), (3, 20, 9, 8), (2, 2, 30, 3)):
        table = draw.normal(state=STATES, token=WORDS, scale=2.0)
        model = given_module(submission, "probes").ScriptedModel(table, longest)
        prompt = draw.integers(0, WORDS, batch=batch, time=length)
        best, rows = table.argmax(dim=-1).tolist(), []
        for row in prompt.tolist():
            for _ in range(count):
                state = 0
                for token in row[-longest:]:
                    state = (5 * state + token + 1) % STATES
                row = [*row, best[state]]
            rows.append(row)
        for tokens in (prompt, prompt.int()):
            found = submission.generate(model, tokens, count, temperature=0)
            expect(found, "tokens", axes="batch time").is_tensor(
                shape=(batch, length + count), dtype=torch.int64
            )
            expect(found, "tokens", axes="batch time").equals(
                with_axes(torch.tensor(rows), "batch", "time").to(found.device), why=f"max_len is {longest}"
            )


@check(
    aspect="learning",
    points=5,
    trained=True,
    needs="test_updates",
    on_workers_word="the text is what train is given, and not what it is judged by",
)
def test_log_ends(submission, draw):
    """the base run, trained again to its end, ends where the log says

    > A log belongs to the code that wrote it.
    """
    with precondition("the log must be whole"):
        lines = [line.split(",") for line in submission.training_log().split("\n")]
        base = [line for line in lines if len(line) == 5 and line[0] == "base"]
        expect(len(base) >= 30, "the log has the base run").is_value(True)
        seed, logged = int(base[0][1]), [float(line[3]) for line in base[-4:]]
    text = given_module(submission, "probes").stories(STORIES)
    model, rows = expect(submission.train(text, CHARACTERS, STEPS, seed), "result").is_tuple(2)
    steps = [int(line[2]) for line in base[-4:]]
    now = [rows[step - 1][1] for step in steps if 0 < step <= len(rows)]
    expect(len(now), "steps to compare").is_value(4)
    if abs(sum(now) - sum(logged)) / 4 > ENDS:
        fail(
            f"not repeated  mean of the last four logged losses of base  got {sum(now) / 4:.3f}"
            f"  the log has {sum(logged) / 4:.3f}",
            f"  train(text, {CHARACTERS}, {STEPS}, {seed})",
            stage="values",
        )
    pieces = text[: 64 * 100].view(100, 64)
    logits = score(
        carried(submission, draw, model, text, CHARACTERS), with_axes(pieces, "batch", "time"), CHARACTERS
    )
    paid = float(torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), pieces[:, 1:].flatten()))
    expect(sum(now) / 4, "mean of the last four logged losses of base").is_between(
        paid - ENDS,
        paid + ENDS,
        why=f"the model that came back pays {paid:.3f} for the text, in a new process",
    )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
