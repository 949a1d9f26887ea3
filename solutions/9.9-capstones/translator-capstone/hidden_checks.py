"""Hidden checks of 9.9.2: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_parameter_gradients,
    fail,
    given_module,
    new_worker,
    precondition,
    with_axes,
)

LOGITS = "batch time token"
SIZES = ("source_vocab", "target_vocab", "d_model", "num_heads", "d_ff", "num_layers", "max_len", "norm",
         "positions", "pad_id")  # fmt: skip
STATES, WORDS = 97, 7
PAD, BOS, EOS = 0, 1, 2
STEPS, PAIRS, ENDS = 160, 1000, 0.15
"""As runs.py has them; equal runs may end so far apart, in nats."""


def tokens(rows):
    return with_axes(rows.contiguous(), "batch", "time")


def build(submission, draw, **sizes):
    model = submission.TranslationModel(**sizes).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def score(model, source, target, vocab):
    with torch.no_grad():
        found = model(source, target)
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(*target.shape, vocab)).is_finite()
    return found


@check(aspect="causality", points=5)
def test_any_sizes(submission, draw):
    """models of any sizes score every word from what was written, and never from padding

    > All of it works for any sizes, one word and one sentence included.
    > changes nothing.
    > gradients reach every parameter
    """
    for sizes, short in (
        ((draw.size(4, 40), 9, 4, 1, 20, 1, draw.size(66, 70), "first"), 1),
        ((5, draw.size(4, 40), 30, 5, 17, 3, draw.size(8, 40), "last"), draw.size(1, 6)),
    ):
        made = dict(zip(SIZES, sizes, strict=False))
        model, longest, vocab = (
            build(submission, draw, **made, pad_id=1),
            made["max_len"],
            made["target_vocab"],
        )
        batch = draw.size(1, 4)
        source = 2 + draw.integers(0, made["source_vocab"] - 2, batch=batch, time=short)
        target = 2 + draw.integers(0, vocab - 2, batch=batch, time=longest)
        whole = score(model, source, target, vocab)
        padded = torch.cat((source, torch.ones_like(source[:, :1]).expand(-1, longest - short)), dim=1)
        expect(score(model, tokens(padded), target, vocab), "logits", axes=LOGITS).same_as(
            whole, name="those without padding after the source"
        )
        for length in (1, longest // 2):
            found = score(model, source, tokens(target[:, :length]), vocab)
            expect(found, f"logits of the first {length} words", axes=LOGITS).same_as(
                whole[:, :length], name=f"theirs among {longest}"
            )
    small = {"source_vocab": 9, "target_vocab": 8, "d_model": 8, "num_heads": 2}
    # What is blocked stays blocked when all scores are far below a finite number that stands for minus infinity.
    model = build(submission, draw, **small, d_ff=12).to(torch.float64)
    given_module(submission, "probes").refill(model, draw.seed, 300.0)
    source, target = (2 + draw.integers(0, 6, batch=8, time=time) for time in (3, 10))
    whole, half = (score(model, source, tokens(target[:, :end]), 8) for end in (10, 5))
    expect(half, "logits of the first half, with scores above 10,000", axes=LOGITS).same_as(
        whole[:, :5], name="the whole text", tolerance=1e-4 * float(whole.abs().max())
    )
    # After one word, gradients reach the source as well; token 0 is a word where another one is padding.
    model = build(submission, draw, **small, d_ff=4, pad_id=5)
    model.double()
    source, target = (torch.tensor(ids, device=draw.device) for ids in ([[0, 3, 5], [6, 0, 0]], [[0], [3]]))
    expect_parameter_gradients(model, lambda: model(source, target), draw, "logits", LOGITS, shape=(2, 1, 8))


@check(aspect="arguments", points=2)
def test_other_models(submission, draw):
    """however a model of another kind is called, its logits are those of these tokens and parameters

    > Logits have the model's dtype
    > each layer with parameters of its own.
    """
    for norm, positions in (("last", False), ("first", False), ("last", True)):
        made = dict(zip(SIZES, (11, 9, 24, 4, 8, 1, draw.size(5, 9), norm, positions, 1), strict=True))
        part = Part("TranslationModel", made, ["logits"], [LOGITS], [torch.float64, torch.bfloat16])
        batch, longest = draw.size(2, 4), made["max_len"]
        texts = (2 + draw.integers(0, 7, batch=batch, time=time) for time in (longest, longest - 2))
        part.expect(submission, None, draw, [dict(zip(("source", "target"), texts, strict=True))])


def carried(submission, draw, model, pairs, sizes, **settings):
    """Return a new model in a new worker with the parameters of this one: they are all that crosses."""
    with torch.no_grad():
        learned = dict(model.named_parameters())
    new_worker(submission)
    others = (
        tokens(3 + draw.integers(0, vocab - 3, batch=len(part), time=part.shape[1]))
        for vocab, part in zip(sizes, pairs, strict=True)
    )
    model, _ = expect(submission.train(*others, *sizes, 0, 1, **settings), "result").is_tuple(2)
    model.load_state_dict(learned, strict=False)
    model.eval()
    return model


@check(aspect="learning", points=5, trained=True, needs="test_updates")
def test_other_languages(submission, draw):
    """other languages are learned: copied, reversed, with either norm

    > Train a new TranslationModel with teacher forcing
    > norm, positions, num_layers: of the model.
    """
    for settings in ({"norm": "last"}, {"num_layers": 2, "warmup": 5}):
        source = 3 + draw.integers(0, 8, batch=600, time=3)
        target = torch.cat((source.flip(1), torch.full_like(source[:, :1], EOS)), dim=1)
        pairs = tokens(source[:500]), tokens(target[:500])
        model, _ = expect(
            submission.train(*pairs, 11, 11, 120, draw.size(2, 999), **settings), "result"
        ).is_tuple(2)
        model = carried(submission, draw, model, pairs, (11, 11), **settings)
        begun = torch.cat((torch.full_like(target[500:, :1], BOS), target[500:, :-1]), dim=1)
        found = score(model, tokens(source[500:]), tokens(begun), 11)
        right = float((found.argmax(dim=-1) == target[500:]).float().mean())
        expect(right, "share of right words of reversed texts after 120 steps").is_between(0.85, 1.0)


@check(aspect="values", points=3)
def test_any_search(submission, draw):
    """translations are right for any sizes

    > always with the best next word
    > one word and one sentence included.
    """
    for batch, length, longest in ((1, 1, 9), (5, 7, 12), (9, 2, 4), (2, 67, 5)):
        table = draw.normal(state=STATES, token=WORDS, scale=2.0)
        table[:, [PAD, BOS]] = -25.0
        model = given_module(submission, "probes").ScriptedTranslator(table, PAD)
        source = draw.integers(0, 50, batch=batch, time=length)
        best, rows = table.argmax(dim=-1).tolist(), []
        for row in source.tolist():
            state, text = 0, []
            for word in row:
                state = (5 * state + 3 * word + 1) % STATES
            state = (5 * state + BOS + 1) % STATES
            while len(text) < longest and (not text or text[-1] != EOS):
                text.append(best[state])
                state = (5 * state + best[state] + 1) % STATES
            rows.append(text)
        found = submission.translate(model, source, max_len=longest)
        expect(found, "translations", axes="batch time").is_tensor(shape=(batch, None), dtype=torch.int64)
        wanted = [row + [PAD] * (found.shape[1] - len(row)) for row in rows]
        expect(found.shape[1] >= max(map(len, rows)), "long enough translations").is_value(True)
        expect(found, "translations", axes="batch time").equals(tokens(torch.tensor(wanted)).to(found.device))


@check(
    aspect="learning",
    points=5,
    trained=True,
    needs="test_updates",
    on_workers_word="the sentences are what train is given, and not what it is judged by",
)
def test_log_ends(submission, draw):
    """the base run, trained again to its end, ends where the log says

    > A log belongs to the code that wrote it.
    """
    probes = given_module(submission, "probes")
    with precondition("the log must be whole"):
        lines = [line.split(",") for line in submission.training_log().split("\n")]
        base = [line for line in lines if len(line) == 5 and line[0] == "base"]
        expect(len(base) >= 30, "the log has the base run").is_value(True)
        seed, logged = int(base[0][1]), [float(line[3]) for line in base[-4:]]
    source, target, *sizes = probes.sentences(PAIRS)
    model, rows = expect(submission.train(source, target, *sizes, STEPS, seed), "result").is_tuple(2)
    now = [rows[int(line[2]) - 1][1] for line in base[-4:] if 0 < int(line[2]) <= len(rows)]
    expect(len(now), "steps to compare").is_value(4)
    if abs(sum(now) - sum(logged)) / 4 > ENDS:
        fail(
            f"not repeated  mean of the last four logged losses of base  got {sum(now) / 4:.3f}"
            f"  the log has {sum(logged) / 4:.3f}",
            f"  train(source, target, {sizes[0]}, {sizes[1]}, {STEPS}, {seed})",
            stage="values",
        )
    model = carried(submission, draw, model, (source, target), sizes)
    read, wanted = source[:200], target[:200]
    written = torch.cat((torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]), dim=1)
    logits = score(model, tokens(read), tokens(written), sizes[1])
    paid = float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD))
    expect(sum(now) / 4, "mean of the last four logged losses of base").is_between(
        paid - ENDS,
        paid + ENDS,
        why=f"the model that came back pays {paid:.3f} for the pairs, in a new process",
    )
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
