"""Checks of 9.9.1. How the model is built and trained is the learner's affair, so both are checked for what they do.

The log comes as text that `training_log` returns. It is read here, as data: lines, names, numbers. Its runs are begun
anew with the learner's own `train`.
"""

from __future__ import annotations

import runpy
from functools import partial
from pathlib import Path

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    callback,
    check,
    expect,
    expect_from_scratch,
    expect_parameter_gradients,
    expect_unchanged,
    fail,
    fingerprint_facts,
    given_module,
    keep_grad_mode,
    precondition,
    with_axes,
)

RUNS = runpy.run_path(str(Path(__file__).with_name("runs.py")))
LOGS = runpy.run_path(str(Path(__file__).parents[1] / "logs.py"))
MODELS = runpy.run_path(str(Path(__file__).parents[1] / "models.py"))
TRAINING = runpy.run_path(str(Path(__file__).parents[1] / "training.py"))
TONGUES = runpy.run_path(str(Path(__file__).parents[1] / "tongues.py"))
size, parameters_of, apart, dependence = (
    MODELS[name] for name in ("size", "parameters_of", "apart", "dependence")
)
LOGITS, LARGEST, as_asked = MODELS["LOGITS"], MODELS["LARGEST"], TRAINING["as_asked"]
STORY = runpy.run_path(str(Path(__file__).parents[2] / "given" / "story.py"))
V, D, LONGEST = 19, 12, 16
SIZES = {"vocab_size": V, "d_model": D, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_len": LONGEST}
"""The model that most checks build."""
STATES, WORDS = 97, 7
STEPS, LESS = RUNS["STEPS"], 0.1
"""After so many steps the model has to pay so much less for a character of new stories than a bigram does, in nats."""
BEGUN = 6
"""So many steps of each logged run are run again."""


# --- helpers ---


def build(submission, draw, **sizes):
    """Build a model and give its parameters random values, the same for models built alike."""
    model = submission.LanguageModel(**{**SIZES, **sizes}).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def tokens(rows):
    return with_axes(rows.contiguous(), "batch", "time")


def score(model, text, vocab=V):
    """Return the logits [B, T, V]; that there are any is another check's affair."""
    with precondition("forward must give finite logits [B, T, V]"):
        return score_for_certain(model, text, vocab)


def score_for_certain(model, text, vocab=V):
    with torch.no_grad():
        found = model(text)
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(*text.shape, vocab)).is_finite()
    return found


def trained(submission, text, vocab, steps, seed, **settings):
    """Train, and return (model, rows), each row (step, loss, rate); that they are sound is another check's affair."""
    with precondition("train must return (model, rows), a row (step, loss, rate) for each step"):
        return as_asked(submission.train(text, vocab, steps, seed, **settings), steps)


def some_text(draw, length=400, vocab=11):
    """Draw a text of random tokens [N]: nothing can be learned from it but how often each occurs."""
    return with_axes(draw.integers(0, vocab, time=length), "time")


def stories(first, count):
    return STORY["encode"](STORY["text"](first, count))


def bigram_nats(read, text, vocab):
    """Return what a bigram that has counted in one text pays for a character of another, in nats."""
    counts = torch.bincount(read[:-1] * vocab + read[1:], minlength=vocab**2).view(vocab, vocab) + 0.01
    return float(F.nll_loss((counts / counts.sum(1, keepdim=True)).log()[text[:-1]], text[1:]))


def nats(model, text, longest=64):
    """Return what a model pays for a token of a text, in nats."""
    rows = (len(text) - 1) // longest
    read, wanted = (
        text[: rows * longest].view(rows, longest),
        text[1 : rows * longest + 1].view(rows, longest),
    )
    with torch.no_grad():
        logits = model(tokens(read))
    vocab = int(text.max()) + 1
    expect(logits, "logits", axes=LOGITS).is_tensor(shape=(rows, longest, None)).is_finite()
    if logits.shape[-1] < vocab:
        fail(f"too few  logits  got {logits.shape[-1]} for {vocab} tokens", stage="shape")
    return float(F.cross_entropy(logits.detach().cpu().flatten(0, 1), wanted.cpu().flatten()))


# --- the model ---


@check(aspect="shape", points=3)
def test_shapes(submission, draw):
    """tokens [B, T] become logits [B, T, V], from one token up to max_len

    > return logits [B, T, V]
    > the longest text that must work.
    """
    for sizes, batch, time in (
        ((19, 12, 3, 20, 2, 16), 2, 16),
        ((11, 10, 5, 7, 1, 6), 3, 4),
        ((9,), 1, 64),
        ((14,), 2, 1),
    ):
        model = submission.LanguageModel(*sizes).to(draw.device)
        text = draw.integers(0, sizes[0], batch=batch, time=time)
        found = score_for_certain(model, text, sizes[0])
        expect(found, "logits", axes=LOGITS).is_tensor(
            shape=(batch, time, sizes[0]), dtype=torch.float32, device=draw.device
        )
    expect(submission.LanguageModel(9, max_len=23).max_len, "max_len").is_value(23)


@check(aspect="causality", points=6)
def test_causal(submission, draw):
    """a token changes the logits from its own position on, and none before, with either norm and any depth

    > Those at t depend only on tokens 0 to t.
    """
    for sizes in ({}, {"norm": "last", "num_layers": 6}, {"positions": False}, {"num_layers": 1}):
        model, text = build(submission, draw, **sizes), draw.integers(0, V, batch=2, time=7)
        before = score(model, text)
        told = ", ".join(f"{name}={value!r}" for name, value in sizes.items()) or "no options"
        sees = {}
        for place in (0, 3, 6):
            changed = text.clone()
            changed[:, place] = (changed[:, place] + 1) % V
            sees[place] = dependence(before, score(model, tokens(changed))).tolist()
        fingerprint_facts(submission, sees=list(sees.values()))
        for place, moved in sees.items():
            for t in range(7):
                if moved[t] != (t >= place):
                    fail(
                        f"{'depends' if t < place else 'does not depend'}  logits at position {t}"
                        f"  on the token at {place}",
                        f"  that token was changed, of a model with {told}: logits from position {place} on",
                        "  should move, and the earlier ones stay",
                        stage="values",
                        location={"time": t},
                    )


@check(aspect="values", points=2)
def test_rows(submission, draw):
    """each text of a batch is read by itself

    > The texts of a batch never see each other.
    """
    model, text = build(submission, draw), draw.integers(0, V, batch=3, time=6)
    together = score(model, text)
    for row in range(3):
        alone = score(model, tokens(text[row : row + 1]))
        expect(together[row : row + 1], f"logits of row {row}", axes=LOGITS).same_as(
            alone, name="the row alone"
        )


@check(aspect="values", points=3)
def test_positions(submission, draw):
    """with positions the order of what was read matters

    > whether anything besides the causal mask tells positions apart.
    """
    # One layer: with two, the causal mask alone lets a model without positions guess at the order.
    text = tokens(torch.stack([draw.permutation(V)[:6] for _ in range(2)]))
    for norm in ("first", "last"):
        model = build(submission, draw, num_layers=1, norm=norm)
        before = score(model, text)
        swapped = score(model, tokens(text[:, [2, 1, 0, 3, 4, 5]]))
        expect(swapped[:, -1], "logits at position 5", axes="batch token").differs_from(
            before[:, -1],
            why=f'tokens 0 and 2 were exchanged, norm="{norm}": attention alone sees a bag of tokens',
        )


@check(aspect="values", points=3, follows=test_positions)
def test_no_positions(submission, draw):
    """without positions a single layer sees a bag of tokens

    > whether anything besides the causal mask tells positions apart.
    """
    text = tokens(torch.stack([draw.permutation(V)[:6] for _ in range(2)]))
    for norm in ("first", "last"):
        model = build(submission, draw, num_layers=1, norm=norm, positions=False)
        before = score(model, text)
        swapped = score(model, tokens(text[:, [2, 1, 0, 3, 4, 5]]))
        fingerprint_facts(submission, order_matters=apart(swapped[:, -1], before[:, -1]))
        expect(swapped[:, -1], "logits at position 5", axes="batch token").same_as(
            before[:, -1],
            name="those before",
            why=f'tokens 0 and 2 were exchanged, norm="{norm}", positions=False',
            size=LARGEST,
        )


def silent(submission, draw, text, scale=1.0, **sizes):
    """Return the logits of a model whose sublayers all add 0."""
    model = submission.LanguageModel(**{**SIZES, **sizes}).to(draw.device)
    given_module(submission, "probes").quiet(model, draw.seed, [V, LONGEST], scale)
    return score(model, text)


@check(aspect="values", points=4)
def test_norm_first(submission, draw):
    """with norm="first" a stream to which no sublayer adds anything reaches the head as it was, whatever the depth

    > "first": x + f(norm(x)) around each sublayer, and one norm before the head.
    """
    text = tokens(torch.stack([draw.permutation(V)[:5] for _ in range(2)]))
    MODELS["expect_norm_first"](submission, partial(silent, submission, draw, text), "token")


@check(aspect="values", points=2, follows=test_norm_first)
def test_final_norm(submission, draw):
    """with norm="first" one norm comes before the head: a stream four times as large gives the same scores

    > and one norm before the head.
    """
    text = draw.integers(0, V, batch=2, time=5)
    MODELS["expect_final_norm"](submission, partial(silent, submission, draw, text))


@check(aspect="values", points=4)
def test_norm_last(submission, draw):
    """with norm="last" every sublayer's sum is normed, even if the sublayer adds nothing

    > "last": norm(x + f(x)).
    """
    text = tokens(torch.stack([draw.permutation(V)[:5] for _ in range(2)]))
    MODELS["expect_norm_last"](submission, partial(silent, submission, draw, text))


@check(aspect="parameters", points=4)
def test_sizes(submission, draw):
    """the model is built in the sizes asked for, each layer with parameters of its own

    > the sizes. Each layer has attention, then a feed-forward network, with
    > parameters of its own.
    """

    def count(**sizes):
        return size(submission.LanguageModel(**{**SIZES, **sizes}))

    one, two, three = (count(num_layers=n) for n in (1, 2, 3))
    grown = {"layers": ["more" if more else "no more" for more in (two - one, three - two)]}
    fingerprint_facts(submission, **grown)
    expect(two - one, "parameters that a second layer adds").is_between(
        4 * D**2 + 2 * D * SIZES["d_ff"], float("inf"), why="four matrices of attention, two of the network"
    )
    expect(three - two, "parameters that a third layer adds").is_value(two - one)
    for name, larger in {"vocab_size": 25, "d_ff": 30, "d_model": 24}.items():
        more = count(**{name: larger}) - two
        fingerprint_facts(submission, **grown, ignored=name if more == 0 else "none so far")
        expect(more, f"parameters that {name}={larger} adds").is_between(
            1, float("inf"), why=f"it was {SIZES[name]}"
        )
    expect(size(submission.LanguageModel(9)), "parameters of LanguageModel(9)").is_value(
        size(submission.LanguageModel(9, 64, 4, 128, 2, 64)),
        why="those of LanguageModel(9, 64, 4, 128, 2, 64)",
    )
    text = draw.integers(0, V, batch=2, time=6)
    few, many = (score(build(submission, draw, num_heads=heads), text) for heads in (2, 4))
    fingerprint_facts(submission, heads_matter=apart(few, many))
    expect(many, "logits with num_heads=4", axes=LOGITS).differs_from(
        few, why="2 heads with the same parameters give others"
    )


@check(aspect="values", points=2)
def test_scores(submission, draw):
    """logits are scores of any sign, not probabilities

    > free numbers.
    """
    logits = score(build(submission, draw), draw.integers(0, V, batch=2, time=6))
    MODELS["expect_free_scores"](submission, logits, "give the head's scores as they are")


@check(aspect="arguments", points=2, follows=[test_shapes, test_causal, test_rows])
def test_promises(submission, draw):
    """however a model is called, its logits are those of these tokens and parameters, in its dtype

    > Logits have the model's dtype
    > Arguments are left as they were and need not be contiguous in memory.
    > All of it works for any sizes, one token and one text included.
    """
    found = score(build(submission, draw).double(), draw.integers(0, V, batch=2, time=6))
    fingerprint_facts(submission, logits=str(found.dtype))
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(2, 6, V), dtype=torch.float64)
    made = {**SIZES, "num_heads": 4, "max_len": 66, "norm": "first", "positions": True}
    left_out = ("num_heads", "norm", "positions")
    part = Part(
        "LanguageModel", made, ["logits"], [LOGITS], [torch.float64, torch.bfloat16], defaults=left_out
    )
    part.expect(submission, None, draw, [{"tokens": draw.integers(0, V, batch=2, time=t)} for t in (1, 66)])


@check(aspect="gradient", points=4)
def test_gradients(submission, draw):
    """gradients reach every parameter

    > gradients reach every parameter
    """
    # Few hidden features: where one is near 0, relu has a corner there, and a difference says nothing of the slope.
    model = build(submission, draw, num_layers=1, d_ff=4).double()
    text = draw.integers(0, V, batch=2, time=3)
    expect_parameter_gradients(
        model,
        lambda: model(text),
        draw,
        "logits",
        LOGITS,
        shape=(2, 3, V),
        notes=(".detach(), .data and torch.no_grad() cut a path off",),
    )


# --- train ---


@check(aspect="learning", points=4)
def test_start(submission, draw):
    """with 0 steps train returns the model as it starts: it knows nothing, and pays about ln V for a token

    > 0 gives the model as it starts.
    > about ln V for a token
    """
    text = some_text(draw, 641, 57)
    train = partial(submission.train, text, 57)
    TRAINING["expect_start"](submission, draw, 57, train, lambda model: nats(model, text))


@check(aspect="shape", points=3)
def test_rows_of_training(submission, draw):
    """train returns the model and a row (step, loss, rate) for each step, the first about ln V

    > (model, rows): a row (step, loss, rate) for each step, from 1 on.
    """
    found = submission.train(some_text(draw, vocab=57), 57, 4, 3)
    TRAINING["expect_rows"](submission, found, 57)


def begun(submission, text, steps):
    """Return the model after so many steps; torch's global generator stands where it did."""
    given_module(submission, "probes").reseed(1)
    with precondition("train must return (model, rows)"):
        model, _ = expect(submission.train(text, V, steps, 5, warmup=0), "result").is_tuple(2)
    return model


@check(aspect="learning", points=3)
def test_updates(submission, draw):
    """updates move the parameters against their gradients

    > Train a new LanguageModel to predict the next token
    """
    # Of a text of one token all pieces are alike, wherever they are drawn, and so are their targets.
    text = with_axes(torch.full((400,), draw.size(0, V - 1), device=draw.device), "time")
    start, end = (begun(submission, text, steps) for steps in (0, 2))
    logits = start(tokens(text[None, :32]))
    with precondition("forward must give finite logits [B, T, V]"):
        expect(logits, "logits", axes=LOGITS).is_tensor(shape=(1, 32, V)).is_finite()
    if logits.requires_grad:
        F.cross_entropy(logits.flatten(0, 1), text[:32]).backward()
    MODELS["expect_downhill"](submission, start, end)


@check(aspect="arguments", follows=test_rows_of_training)
def test_training_arguments(submission, draw):
    """train takes its arguments by name, and a text in any memory order, which it leaves as it was

    > Arguments are left as they were and need not be contiguous in memory.
    """
    text, losses = some_text(draw, 200), []
    for given in (text, draw.noncontiguous(text)):
        _, rows = as_asked(submission.train(tokens=given, vocab_size=11, steps=1, seed=3), 1)
        expect_unchanged(submission)
        losses.append(rows[0][1])
    expect(losses[1], "loss of step 1 with tokens that are not contiguous").is_between(
        losses[0] - 1e-3, losses[0] + 1e-3
    )


@check(aspect="learning", points=4, needs=test_updates)
def test_seeds(submission, draw):
    """the same seed gives the same run, whatever was drawn before, and another seed another run

    > The same seed gives the same run, whatever ran before.
    """
    TRAINING["expect_seeds"](submission, partial(trained, submission, some_text(draw), 11), "pieces")


@check(aspect="values", points=3, needs=[test_rows_of_training, test_updates], follows=test_seeds)
def test_losses(submission, draw):
    """the loss of a row is what the model pays for the batch of its step, before the update

    > loss is the mean of -log p over the batch of
    """
    steps, runs, pays = (0, 1, draw.size(2, 5)), [], []
    # Texts of one token, as above: which pieces were drawn does not matter.
    for word in draw.permutation(9)[:2].tolist():
        text = with_axes(torch.full((400,), word, device=draw.device), "time")
        states = [parameters_of(trained(submission, text, 9, count, 5)[0]) for count in steps]
        rows = trained(submission, text, 9, steps[-1] + 1, 5)[1]
        runs += [(text, state, rows[count]) for count, state in zip(steps, states, strict=True)]
    lengths, other = True, some_text(draw, 400, 9)
    models = MODELS["carried"](
        submission, lambda: trained(submission, other, 9, 0, 5)[0], [state for _, state, _ in runs]
    )
    for (text, _, _), model in zip(runs, models, strict=True):
        with precondition("max_len must be a number"):
            longest = expect(model.max_len, "max_len").is_between(1, 10_000).actual
        logits = score(model, tokens(text[None, : int(longest)]), 9)[0].double().cpu()
        costs = -logits.log_softmax(dim=-1)[:, int(text[0])]
        pays.append(costs.cumsum(0) / torch.arange(1, len(costs) + 1))  # for pieces of each length
    for (_, _, (step, told, _)), paid, later in zip(runs, pays, [*pays[1:], pays[0]], strict=True):
        lengths = ((paid - told).abs() < 2e-3) & lengths
        late = step == 1 and bool(((later - told).abs() < 2e-3).any())  # as after the update
        fingerprint_facts(
            submission, first=step == 1, late=late, loss=TRAINING["of_a_loss"](told, paid.tolist())
        )
        if not lengths.any():
            fail(
                f"wrong loss  of step {step}  got {told:.4f}",
                f"  after {step - 1} steps the model pays {paid.min():.4f} to {paid.max():.4f} nats for a token",
                "  of this text: the mean of -log p, in a new process with the parameters that train gave it",
                stage="values",
            )


@check(aspect="learning", points=5, needs=test_updates)
def test_warmup(submission, draw):
    """the rate rises in equal steps up to step warmup, is full at once without warm-up, and never exceeds that

    > s / warmup of the full rate while s < warmup, and the full rate at step warmup. 0:
    > never rises above the full rate, which is the same for every warmup.
    """
    TRAINING["expect_warmup"](submission, partial(trained, submission, some_text(draw), 11))


@check(aspect="learning", points=4, needs=test_updates, follows=test_warmup)
def test_rate_used(submission, draw):
    """the rate of a row is the one that its update uses

    > rate is what the update uses.
    """
    TRAINING["expect_rate_used"](submission, partial(trained, submission, some_text(draw), 11))


@check(aspect="learning", points=4, needs=test_updates)
def test_settings(submission, draw):
    """norm, positions and num_layers reach the model that is trained

    > norm, positions, num_layers: of the model.
    """
    train = partial(trained, submission, some_text(draw, vocab=V), V)
    TRAINING["expect_depth"](submission, train, default=2)
    row = tokens(draw.permutation(V)[None, :6])
    swapped = tokens(row[:, [2, 1, 0, 3, 4, 5]])
    for norm in ("first", "last"):
        bag, _ = train(0, 1, num_layers=1, positions=False, norm=norm)
        given_module(submission, "probes").refill(bag, draw.seed)
        there, here = score(bag, swapped)[:, -1], score(bag, row)[:, -1]
        fingerprint_facts(submission, order_matters=apart(there, here))
        expect(there, f"logits with positions=False and norm={norm!r}", axes="batch token").same_as(
            here, name="those of the same tokens in another order", size=LARGEST
        )
    TRAINING["expect_norm_last"](submission, draw, train, [V], lambda model: score(model, row))


@check(aspect="learning", points=4, needs=test_updates, trained=True)
def test_next_token(submission, draw):
    """it learns to predict the token that comes next: on a text that repeats itself it soon makes no mistake

    > predict the next token
    """
    period = draw.permutation(7)
    text = with_axes(period.repeat(80), "time")
    model, rows = trained(submission, text, 7, 40, 1)
    model.eval()
    found = score(model, tokens(text[None, :21]), 7)
    best = found.argmax(dim=-1)[0].cpu()
    ahead = [
        far for far in range(7) if bool((best[7:] == text[7 + far : 21 + far].cpu()).double().mean() > 0.9)
    ]
    if ahead and ahead != [1]:
        fingerprint_facts(submission, predicts="what it reads" if ahead == [0] else "what comes later")
    expect(found.argmax(dim=-1), "best next token", axes="batch time").equals(
        tokens(text[None, 1:22]), why="after 40 steps on a text in which each token has one successor"
    )
    expect(rows[-1][1], "loss of step 40").is_between(
        0, 0.7, why="at the start it is about ln 7, which is 1.946"
    )


@check(aspect="learning", points=8, trained=True, needs=[test_rows_of_training, test_updates])
def test_learning(submission, draw):
    """trained on stories in a new language for {STEPS} steps, it pays {LESS} nats less than a bigram for the next ones

    > makes up a language
    """
    tongue, vocab = TONGUES["Tongue"](draw.size(0, 1 << 30)), len(STORY["CHARACTERS"])
    read, asked = (STORY["encode"](tongue.stories(count)) for count in (RUNS["STORIES"], 20))
    text = with_axes(read, "time").to(draw.device)
    model, rows = trained(submission, text, vocab, STEPS, draw.size(10, 1 << 20))
    other = some_text(draw, len(text), vocab)
    new = MODELS["carried"](
        submission, lambda: trained(submission, other, vocab, 0, 1)[0], [parameters_of(model)]
    )
    for learned in new:
        learned.eval()
        expect(nats(learned, asked.to(draw.device)), "nats for a character").is_between(
            0.1,
            bigram_nats(read, asked, vocab) - LESS,
            why=f"of 20 stories that it has not read; its own last row says {rows[-1][1]:.3f}",
        )


# --- generate ---


def scripted(submission, draw, max_len=64, dropout=0.0, scale=2.0):
    table = draw.normal(state=STATES, token=WORDS, scale=scale)
    return given_module(submission, "probes").ScriptedModel(table, max_len, dropout), table


def watched(submission, table, max_len):
    """Return a scripted model that has its logits from here, and the lengths of the texts that it was given."""
    lengths = []

    def forward(text):
        expect(text, "what the model was given").is_tensor(shape=(None, None))
        expect(text.numel(), "tokens that the model was given at once").is_between(1, 1000)
        lengths.append(text.shape[1])
        state, states = torch.zeros_like(text[:, 0]), []
        for token in text.unbind(dim=1):
            state = (5 * state + token + 1) % STATES
            states.append(state)
        return table[torch.stack(states, dim=1)]

    return given_module(submission, "probes").ScriptedModel(
        table, max_len, forward=callback(forward)
    ), lengths


def continued(table, prompt, count, longest):
    """Return the right greedy continuation [B, T + count]."""
    best, rows = table.argmax(dim=-1).tolist(), []
    for row in prompt.tolist():
        for _ in range(count):
            state = 0
            for token in row[-longest:]:
                state = (5 * state + token + 1) % STATES
            row = [*row, best[state]]
        rows.append(row)
    return tokens(torch.tensor(rows))


def chance(draw, seed):
    return torch.Generator(draw.device).manual_seed(seed)


@check(aspect="values", points=3)
def test_greedy(submission, draw):
    """at temperature 0 each token that is written is the best one after all that is there

    > 0 takes the best token.
    > int64 [B, T + count]: tokens, then what was written.
    """
    model, table = scripted(submission, draw)
    for length, count in ((3, 8), (1, 5), (4, 0)):
        prompt = draw.integers(0, WORDS, batch=3, time=length)
        found = submission.generate(model, prompt, count, temperature=0.0)
        expect_unchanged(submission)
        expect(found, "tokens", axes="batch time").is_tensor(shape=(3, length + count), dtype=torch.int64)
        expect(found, "tokens", axes="batch time").equals(
            continued(table.cpu(), prompt.cpu(), count, 64).to(found.device)
        )


@check(aspect="values", points=4, follows=test_greedy)
def test_long(submission, draw):
    """after max_len tokens the model reads the last max_len of them, no more and no fewer

    > The model never reads more than the last max_len tokens.
    """
    model, table = scripted(submission, draw, max_len=5)
    for length in (3, 9):
        prompt = draw.integers(0, WORDS, batch=4, time=length)
        found = submission.generate(model, prompt, 8, temperature=0.0)
        expect(found, "tokens", axes="batch time").is_tensor(shape=(4, length + 8), dtype=torch.int64)
        read = [
            far
            for far in range(1, 5)
            if torch.equal(found.cpu(), continued(table.cpu(), prompt.cpu(), 8, far))
        ]
        if read:
            fingerprint_facts(submission, reads="too few")
        expect(found, "tokens", axes="batch time").equals(
            continued(table.cpu(), prompt.cpu(), 8, 5).to(found.device), why="max_len is 5"
        )
    model, lengths = watched(submission, table, max_len=5)
    submission.generate(model, draw.integers(0, WORDS, batch=4, time=9), 8, temperature=0.0)
    expect(max(lengths, default=0), "the longest text that the model was given").is_between(1, 5)


@check(aspect="values", points=4)
def test_temperature(submission, draw):
    """tokens are drawn from the softmax of the logits over the temperature, each row by itself

    > the logits are divided by it before they are drawn from
    > each row by itself
    """
    # Scores lie so far apart that every temperature shows.
    scores = torch.linspace(-1.5, 1.5, WORDS, device=draw.device)[draw.permutation(WORDS)]
    table = scores.expand(STATES, WORDS).contiguous()
    model = given_module(submission, "probes").ScriptedModel(with_axes(table, "state", "token"))
    prompt = tokens(torch.zeros(2000, 2, dtype=torch.int64, device=draw.device))
    for temperature in (1.0, 0.5, 2.0):
        found = submission.generate(model, prompt, 1, temperature=temperature, generator=chance(draw, 3))
        expect(found, "tokens", axes="batch time").is_tensor(shape=(2000, 3), dtype=torch.int64)
        shares = torch.bincount(found[:, -1].cpu().clamp(0, WORDS - 1), minlength=WORDS) / 2000
        wanted, ignored, multiplied = (
            (scores.cpu() * sharpness).softmax(dim=-1) for sharpness in (1 / temperature, 1, temperature)
        )
        fingerprint_facts(
            submission,
            at=temperature,
            one_for_all_rows=bool(shares.max() == 1),
            best=bool(shares[scores.argmax()] == 1),
            ignored=bool((shares - ignored).abs().max() < 0.06),
            multiplied=bool((shares - multiplied).abs().max() < 0.06),
        )
        for token in range(WORDS):
            if abs(float(shares[token] - wanted[token])) > 0.06:  # more than five deviations
                fail(
                    f"too far  share of token {token} at temperature {temperature}  got {shares[token]:.3f}"
                    f"  want {wanted[token]:.3f}",
                    "  2,000 rows with the same text, one token drawn for each",
                    stage="values",
                )


@check(aspect="values", points=2)
def test_generator(submission, draw):
    """all draws come from the generator, whose seed decides; without one torch's own goes on

    > what is drawn from, each row by itself; None is torch's own.
    """
    model, _ = scripted(submission, draw, scale=0.5)
    prompt, probes = draw.integers(0, WORDS, batch=4, time=2), given_module(submission, "probes")

    def sample(seed, left, **options):
        probes.reseed(left)
        found = submission.generate(model, prompt, 8, generator=chance(draw, seed), **options)
        return expect(found, "tokens", axes="batch time").is_tensor(shape=(4, 10), dtype=torch.int64).actual

    first, again, other = sample(1, 1), sample(1, 2), sample(2, 1)
    fingerprint_facts(submission, same_seed=torch.equal(first, again), other_seed=torch.equal(first, other))
    expect(again, "tokens", axes="batch time").same_as(
        first, name="the same seed before", why="a generator of the same seed was given"
    )
    expect(other, "tokens", axes="batch time").differs_from(first, why="the generator had another seed")
    said = sample(1, 1, temperature=1.0)
    expect(first, "tokens by default", axes="batch time").same_as(said, name="those at temperature 1")
    one, next_one = (submission.generate(model, prompt, 8) for _ in range(2))
    expect(next_one, "tokens", axes="batch time").differs_from(one, why="torch's own generator goes on")


@check(aspect="arguments", follows=[test_long, test_temperature])
def test_writing_promises(submission, draw):
    """however generate is called, its tokens are those of this model, text and count

    > Arguments are left as they were and need not be contiguous in memory.
    > All of it works for any sizes, one token and one text included.
    """
    # Scores so far apart that at temperature 1, the default, the best token is certain.
    table = 100.0 * draw.normal(state=STATES, token=WORDS).argsort(dim=-1)
    model = given_module(submission, "probes").ScriptedModel(with_axes(table, "state", "token"), 5)
    call = {"model": model, "tokens": draw.integers(0, WORDS, batch=2, time=3), "count": 4}
    Part("generate", outputs=["tokens"], axes=["batch time"]).expect(
        submission, lambda model, tokens, count: continued(table.cpu(), tokens, count, 5), draw, [call]
    )


@check(
    aspect="mode",
    points=3,
    on_workers_word="modes are facts of state, seen in dropout and in whether gradients are recorded",
)
def test_modes(submission, draw):
    """it writes in eval mode without gradients, and leaves both as they were

    > may be in train or eval mode and is left as it was; it writes in eval mode, without gradients.
    """
    model, table = scripted(submission, draw, dropout=0.5)
    prompt = draw.integers(0, WORDS, batch=3, time=3)
    wanted = continued(table.cpu(), prompt.cpu(), 8, 64)
    written, left, grad = {}, {}, {}
    for training in (True, False):
        model.train(training)
        found = submission.generate(model, prompt, 8, temperature=0.0)
        written[training] = expect(found, "tokens", axes="batch time").is_tensor(
            shape=(3, 11), dtype=torch.int64
        )
        with keep_grad_mode(submission):
            first, second = model(prompt), model(prompt)
        left[training], grad[training] = not torch.equal(first, second), first.requires_grad
    right = [torch.equal(found.actual.cpu(), wanted) for found in written.values()]
    fingerprint_facts(submission, right=right, left=list(left.values()), grad=list(grad.values()))
    written[True].equals(wanted.to(prompt.device), why="this model has dropout=0.5 and came in train mode")
    for training in (True, False):
        expect(left[training], "model.training afterwards").is_value(training)
        expect(grad[training], "torch.is_grad_enabled() afterwards").is_value(True)
    with torch.no_grad():
        submission.generate(model, prompt, 8, temperature=0.0)
    with keep_grad_mode(submission):
        recorded = model(prompt).requires_grad
    expect(recorded, "torch.is_grad_enabled() after a call under torch.no_grad()").is_value(False)


# --- the log ---


@check(aspect="shape", points=2)
def test_log(submission, draw):
    """the log can be read: a header, and in each line a run, a seed, a step, a loss and a rate

    > the header "run,seed,step,loss,rate", then a line for each step that runs.py logs.
    """
    LOGS["expect_readable"](submission, submission.training_log(), RUNS)


@check(aspect="values", points=3, needs=[test_log, test_updates])
def test_log_whole(submission, draw):
    """the log has all runs of the lesson, each to its last step, and base runs of different seeds

    > a line for each step that runs.py logs.
    """
    LOGS["expect_complete"](submission, submission.training_log(), RUNS)


@check(aspect="values", points=2, needs=[test_log, test_updates], follows=[test_log_whole, test_warmup])
def test_log_rates(submission, draw):
    """the log's rates are those that your train uses

    > Its rates follow the warm-up that each run had
    """
    LOGS["expect_rates"](submission, submission.training_log(), RUNS)


@check(aspect="values", points=3, needs=[test_log, test_updates], follows=test_log_whole)
def test_log_falls(submission, draw):
    """every curve begins at about ln V and falls, and that of the base run falls below what a bigram pays

    > Its curves begin at about ln V and fall
    """
    LOGS["expect_falls"](submission, submission.training_log(), RUNS, len(STORY["CHARACTERS"]), 0.1, 2.05)


@check(
    aspect="learning",
    points=6,
    needs=[test_log, test_rows_of_training, test_updates],
    follows=[test_log_whole, test_seeds, test_losses, test_warmup],
)
def test_log_repeated(submission, draw):
    """run again with your train, each logged run begins with the losses of the log, for {BEGUN} steps

    > begins each run again with your `train`
    """
    log = submission.training_log()
    text, vocab = with_axes(stories(0, RUNS["STORIES"]), "time").to(draw.device), len(STORY["CHARACTERS"])
    train = partial(trained, submission, text, vocab)
    LOGS["expect_repeated"](log, RUNS, train, f"text, {vocab}", BEGUN)


@check(aspect="scratch", points=2)
def test_from_scratch(submission, draw):
    """none of torch's transformer classes is used

    > torch's transformer classes and its MultiheadAttention are excluded
    """
    for norm in ("first", "last"):
        score(build(submission, draw, norm=norm), draw.integers(0, V, batch=2, time=5))
    trained(submission, some_text(draw), 11, 1, 1)
    expect_from_scratch(submission)
