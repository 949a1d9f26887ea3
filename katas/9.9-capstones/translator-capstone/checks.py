"""Checks of 9.9.2. How the model is built and trained is the learner's affair, so both are checked for what they do.

The log comes as text that `training_log` returns. It is read here, as data, and its runs are begun anew with the
learner's own `train`.
"""

from __future__ import annotations

import runpy
from functools import partial
from pathlib import Path

import torch

from grader.checks import (
    Part,
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
    same_tensors,
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
LANGUAGE = runpy.run_path(str(Path(__file__).parents[2] / "given" / "language.py"))
READ, WRITTEN, D, LONGEST = 19, 17, 12, 16
SIZES = {
    "source_vocab": READ,
    "target_vocab": WRITTEN,
    "d_model": D,
    "num_heads": 3,
    "d_ff": 20,
    "num_layers": 2,
    "max_len": LONGEST,
}
"""The model that most checks build."""
STATES, WORDS = 97, 7
PAD, BOS, EOS = 0, 1, 2
STEPS, ACCURACY = RUNS["STEPS"], 0.8
"""After so many steps this share of new sentences has to be translated without a slip."""
BEGUN = 8
"""So many steps of each logged run are run again."""
TABLES = [READ, WRITTEN, LONGEST]


# --- helpers ---


def build(submission, draw, **sizes):
    """Build a model and give its parameters random values, the same for models built alike."""
    model = submission.TranslationModel(**{**SIZES, **sizes}).to(draw.device)
    given_module(submission, "probes").refill(model, draw.seed)
    return model


def tokens(rows):
    return with_axes(rows.contiguous(), "batch", "time")


def words(draw, batch, time, vocab, pad_id=PAD):
    """Draw int tokens [batch, time], none of them padding."""
    return (pad_id + 1 + draw.integers(0, vocab - 1, batch=batch, time=time)) % vocab


def pair(draw, batch=2, source=6, time=5, pad_id=PAD):
    """Draw a source and a target of words."""
    return words(draw, batch, source, READ, pad_id), words(draw, batch, time, WRITTEN, pad_id)


def distinct(draw, count, vocab):
    """Draw [2, count] tokens, none of them padding, none twice in a row of them."""
    return tokens(torch.stack([draw.permutation(vocab - 1)[:count] + 1 for _ in range(2)]))


def score(model, source, target, vocab=WRITTEN):
    """Return the logits [B, T, V]; that there are any is another check's affair."""
    with precondition("forward must give finite logits [B, T, V]"):
        return score_for_certain(model, source, target, vocab)


def score_for_certain(model, source, target, vocab=WRITTEN):
    with torch.no_grad():
        found = model(source, target)
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(*target.shape, vocab)).is_finite()
    return found


def trained(submission, pairs, sizes, steps, seed, **settings):
    """Train, and return (model, rows), each row (step, loss, rate); that they are sound is another check's affair."""
    with precondition("train must return (model, rows), a row (step, loss, rate) for each step"):
        return as_asked(submission.train(*pairs, *sizes, steps, seed, **settings), steps)


def some_pairs(draw, count=120, source=7, target=6):
    """Draw pairs of random words, EOS at the end of each target: nothing can be learned from them but habits."""
    read, wanted = (
        words(draw, count, source, READ),
        3 + draw.integers(0, WRITTEN - 3, batch=count, time=target),
    )
    wanted[:, -1] = EOS
    return read, tokens(wanted)


BOTH = (READ, WRITTEN)


def after_bos(target):
    """Return what a decoder reads: BOS, and of each target all words but the last."""
    return torch.cat((torch.full_like(target[:, :1], BOS), target[:, :-1]), dim=1)


def nats(model, source, target):
    """Return what a model pays for a word of the targets, in nats."""
    logits = score(model, source, tokens(after_bos(target)), WRITTEN)
    return float(torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten()))


# --- the model ---


@check(aspect="shape", points=3)
def test_shapes(submission, draw):
    """source [B, S] and target [B, T] become logits [B, T, V], from one token up to max_len

    > logits [B, T, V]
    > the longest source and the longest target that must work.
    """
    for sizes, batch, source, time in (
        ((19, 17, 12, 3, 20, 2, 18), 2, 18, 9),
        ((11, 13, 10, 5, 7, 1, 6), 3, 4, 6),
        ((9, 8), 1, 16, 16),
        ((14, 9), 2, 1, 1),
    ):
        model = submission.TranslationModel(*sizes).to(draw.device)
        read, written = words(draw, batch, source, sizes[0]), words(draw, batch, time, sizes[1])
        found = score_for_certain(model, read, written, sizes[1])
        expect(found, "logits", axes=LOGITS).is_tensor(
            shape=(batch, time, sizes[1]), dtype=torch.float32, device=draw.device
        )
    expect(submission.TranslationModel(9, 8, pad_id=3).pad_id, "pad_id").is_value(3)


@check(aspect="causality", points=5)
def test_causal(submission, draw):
    """a target word changes the logits from its own position on, and none before, with either norm and any depth

    > Those at t depend on target tokens 0 to t and on the whole source.
    """
    for sizes in ({}, {"norm": "last", "num_layers": 6}, {"positions": False}, {"num_layers": 1}):
        model, (source, target) = build(submission, draw, **sizes), pair(draw, time=6)
        before = score(model, source, target)
        told = ", ".join(f"{name}={value!r}" for name, value in sizes.items()) or "no options"
        sees = {}
        for place in (0, 3, 5):
            changed = target.clone()
            changed[:, place] = changed[:, place] % (WRITTEN - 1) + 1
            sees[place] = dependence(before, score(model, source, tokens(changed))).tolist()
        fingerprint_facts(submission, sees=list(sees.values()))
        for place, moved in sees.items():
            for t in range(6):
                if moved[t] != (t >= place):
                    fail(
                        f"{'depends' if t < place else 'does not depend'}  logits at position {t}"
                        f"  on the target word at {place}",
                        f"  that word was changed, of a model with {told}: logits from position {place} on",
                        "  should move, and the earlier ones stay",
                        stage="values",
                        location={"time": t},
                    )


@check(aspect="values", points=4)
def test_source(submission, draw):
    """every source word changes the logits at every position of the target

    > Those at t depend on target tokens 0 to t and on the whole source.
    """
    for sizes in ({}, {"norm": "last"}):
        model, (source, target) = build(submission, draw, **sizes), pair(draw)
        before = score(model, source, target)
        sees = {}
        for place in (0, 2, 5):
            changed = source.clone()
            changed[:, place] = changed[:, place] % (READ - 1) + 1
            sees[place] = dependence(before, score(model, tokens(changed), target)).tolist()
        fingerprint_facts(submission, sees=list(sees.values()))
        for place, moved in sees.items():
            for t in range(5):
                if not moved[t]:
                    fail(
                        f"does not depend  logits at position {t}  on the source word at {place}",
                        "  the decoder looks at the whole memory from each of its positions",
                        stage="values",
                        location={"time": t},
                    )


@check(aspect="padding", points=5)
def test_padding(submission, draw):
    """padding after a source changes nothing, whatever token it is

    > What is at such positions of the source changes nothing.
    """
    for pad_id, norm, layers in ((PAD, "first", 2), (4, "last", 6)):
        model = build(submission, draw, pad_id=pad_id, norm=norm, num_layers=layers)
        source, target = pair(draw, pad_id=pad_id)
        padded = torch.cat((source, torch.full_like(source[:, :3], pad_id)), dim=1)
        expect(score(model, tokens(padded), target), f"logits with pad_id={pad_id}", axes=LOGITS).same_as(
            score(model, source, target),
            name="those of the same source without padding",
            why="three tokens of padding follow",
            size=LARGEST,
        )


@check(aspect="padding", points=2, follows=test_source)
def test_pad_id(submission, draw):
    """token 0 is a word like any other when pad_id is not 0

    > the token that is padding.
    """
    model, (source, target) = build(submission, draw, pad_id=4), pair(draw, pad_id=4)
    longer = torch.cat((source, torch.zeros_like(source[:, :2])), dim=1)
    expect(score(model, tokens(longer), target), "logits with pad_id=4", axes=LOGITS).differs_from(
        score(model, source, target), why="two words that are token 0 come after the source"
    )


@check(aspect="values", points=2)
def test_rows(submission, draw):
    """each pair of a batch is translated by itself

    > The pairs of a batch never see each other.
    """
    model, (source, target) = build(submission, draw), pair(draw, batch=3)
    together = score(model, source, target)
    for row in range(3):
        alone = score(model, tokens(source[row : row + 1]), tokens(target[row : row + 1]))
        expect(together[row : row + 1], f"logits of row {row}", axes=LOGITS).same_as(
            alone, name="the row alone"
        )


def tell_of_order(submission, before, source_swapped, target_swapped):
    fingerprint_facts(
        submission,
        of_the_source=apart(source_swapped, before),
        of_the_target=apart(target_swapped[:, -1], before[:, -1]),
    )


@check(aspect="values", points=4)
def test_positions(submission, draw):
    """with positions the order of the source matters, and so does that of the target

    > whether anything besides the causal mask tells positions apart, in source and target.
    """
    source, target = distinct(draw, 6, READ), distinct(draw, 5, WRITTEN)
    for norm in ("first", "last"):
        model = build(submission, draw, num_layers=1, norm=norm)
        before = score(model, source, target)
        elsewhere = score(model, tokens(source[:, [2, 1, 0, 3, 4, 5]]), target)
        swapped = score(model, source, tokens(target[:, [2, 1, 0, 3, 4]]))
        tell_of_order(submission, before, elsewhere, swapped)
        expect(elsewhere, "logits", axes=LOGITS).differs_from(
            before,
            why=f'source words 0 and 2 were exchanged, norm="{norm}": attention alone sees a bag of words',
        )
        expect(swapped[:, -1], "logits at position 4", axes="batch token").differs_from(
            before[:, -1], why=f'target words 0 and 2 were exchanged, norm="{norm}"'
        )


@check(aspect="values", points=3, follows=test_positions)
def test_no_positions(submission, draw):
    """without positions the source is a bag of words, and so is the target to a single layer

    > whether anything besides the causal mask tells positions apart, in source and target.
    """
    source, target = distinct(draw, 6, READ), distinct(draw, 5, WRITTEN)
    for norm in ("first", "last"):
        model = build(submission, draw, num_layers=1, norm=norm, positions=False)
        before = score(model, source, target)
        elsewhere = score(model, tokens(source[:, [2, 1, 0, 3, 4, 5]]), target)
        swapped = score(model, source, tokens(target[:, [2, 1, 0, 3, 4]]))
        tell_of_order(submission, before, elsewhere, swapped)
        expect(elsewhere, "logits", axes=LOGITS).same_as(
            before,
            name="those before",
            why="source words 0 and 2 were exchanged, positions=False",
            size=LARGEST,
        )
        expect(swapped[:, -1], "logits at position 4", axes="batch token").same_as(
            before[:, -1],
            name="those before",
            why="target words 0 and 2 were exchanged, positions=False",
            size=LARGEST,
        )


def silent(submission, draw, source, target, scale=1.0, **sizes):
    """Return the logits of a model whose sublayers all add 0."""
    model = submission.TranslationModel(**{**SIZES, **sizes}).to(draw.device)
    given_module(submission, "probes").quiet(model, draw.seed, TABLES, scale)
    return score(model, source, target)


@check(aspect="values", points=3)
def test_norm_first(submission, draw):
    """with norm="first" a stream to which no sublayer adds anything reaches the head as it was, whatever the depth

    > "first": x + f(norm(x)) around each sublayer, and one norm after each stack.
    """
    source, target = distinct(draw, 6, READ), distinct(draw, 5, WRITTEN)
    MODELS["expect_norm_first"](submission, partial(silent, submission, draw, source, target), "word")


@check(aspect="values", points=2, follows=test_norm_first)
def test_final_norm(submission, draw):
    """with norm="first" one norm comes before the head: a stream four times as large gives the same scores

    > one norm after each stack.
    """
    source, target = pair(draw)
    MODELS["expect_final_norm"](submission, partial(silent, submission, draw, source, target))


@check(aspect="values", points=2, follows=test_norm_first)
def test_encoder_norm(submission, draw):
    """with norm="first" one norm comes after the encoder: how large its stream is does not reach the decoder

    > one norm after each stack.
    """
    (source, target), model = pair(draw), build(submission, draw, norm="first", positions=False)
    held, found = parameters_of(model), []
    for size in (1e3, 4e3):
        # So large that what the encoder's layers add is nothing next to it. All matrices are small, so that a memory
        # of that size would be neither nothing to the decoder nor all that it sees.
        model.load_state_dict(
            {
                name: value * (size if READ in value.shape else 1 if WRITTEN in value.shape else 0.03)
                for name, value in held.items()
                if value.dim() > 1
            },
            strict=False,
        )
        found.append(score(model, source, target))
    fingerprint_facts(submission, size_reaches_the_decoder=apart(*found))
    expect(found[1], "logits", axes=LOGITS).same_as(
        found[0],
        name="those before",
        why="the source's embeddings were made four times as large: after a norm they are what they were",
        tolerance=0.01,
    )


@check(aspect="values", points=3)
def test_norm_last(submission, draw):
    """with norm="last" every sublayer's sum is normed, even if the sublayer adds nothing

    > "last": norm(x + f(x)).
    """
    source, target = distinct(draw, 6, READ), distinct(draw, 5, WRITTEN)
    MODELS["expect_norm_last"](submission, partial(silent, submission, draw, source, target))


@check(aspect="parameters", points=4)
def test_sizes(submission, draw):
    """both halves are built in the sizes asked for, each layer with parameters of its own

    > the sizes.
    > of the encoder, and of the decoder, each layer with parameters of its own.
    """

    def count(**sizes):
        return size(submission.TranslationModel(**{**SIZES, **sizes}))

    one, two, three = (count(num_layers=n) for n in (1, 2, 3))
    both = 3 * 4 * D**2 + 2 * 2 * D * SIZES["d_ff"]
    kinds = [
        "none" if not more else "too few" if more < both else "enough" for more in (two - one, three - two)
    ]
    grown = {"layers": kinds}
    fingerprint_facts(submission, **grown)
    expect(two - one, "parameters that a second layer adds").is_between(
        both,
        float("inf"),
        why="one layer for each stack: three attentions and two feed-forward networks",
    )
    expect(three - two, "parameters that a third layer adds").is_value(two - one)
    for name, larger in {"source_vocab": 25, "target_vocab": 25, "d_ff": 30, "d_model": 24}.items():
        more = count(**{name: larger}) - two
        fingerprint_facts(submission, **grown, ignored=name if more == 0 else "none so far")
        expect(more, f"parameters that {name}={larger} adds").is_between(
            1, float("inf"), why=f"it was {SIZES[name]}"
        )
    expect(size(submission.TranslationModel(9, 8)), "parameters of TranslationModel(9, 8)").is_value(
        size(submission.TranslationModel(9, 8, 48, 4, 96, 1, 16)),
        why="those of TranslationModel(9, 8, 48, 4, 96, 1, 16)",
    )
    source, target = pair(draw)
    few, many = (score(build(submission, draw, num_heads=heads), source, target) for heads in (2, 4))
    fingerprint_facts(submission, heads_matter=apart(few, many))
    expect(many, "logits with num_heads=4", axes=LOGITS).differs_from(
        few, why="2 heads with the same parameters give others"
    )


@check(aspect="values", points=2)
def test_scores(submission, draw):
    """logits are scores of any sign, not probabilities

    > free numbers.
    """
    logits = score(build(submission, draw), *pair(draw))
    MODELS["expect_free_scores"](submission, logits, "give the head's own scores")


@check(aspect="arguments", points=2, follows=[test_shapes, test_causal, test_rows])
def test_promises(submission, draw):
    """however a model is called, its logits are those of these tokens and parameters, in its dtype

    > Logits have the model's dtype
    > Arguments are left as they were and need not be contiguous in memory.
    > All of it works for any sizes, one word and one sentence included.
    """
    found = score(build(submission, draw).double(), *pair(draw))
    fingerprint_facts(submission, logits=str(found.dtype))
    expect(found, "logits", axes=LOGITS).is_tensor(shape=(2, 5, WRITTEN), dtype=torch.float64)
    made = {**SIZES, "num_heads": 4, "max_len": 66, "norm": "first", "positions": True, "pad_id": 4}
    left_out = ("num_heads", "norm", "positions")
    part = Part(
        "TranslationModel", made, ["logits"], [LOGITS], [torch.float64, torch.bfloat16], defaults=left_out
    )
    pairs = (pair(draw, source=source, time=time, pad_id=4) for source, time in ((1, 66), (5, 4)))
    part.expect(submission, None, draw, [{"source": source, "target": target} for source, target in pairs])


@check(aspect="gradient", points=4)
def test_gradients(submission, draw):
    """gradients reach every parameter, those of the encoder too

    > gradients reach every parameter
    """
    # Few hidden features: where one is near 0, relu has a corner there, and a difference says nothing of the slope.
    # Two layers: one that is there and never called has no part in the logits.
    model = build(submission, draw, num_layers=2, d_ff=4).double()
    source, target = pair(draw, batch=1, source=3, time=2)
    expect_parameter_gradients(
        model,
        lambda: model(source, target),
        draw,
        "logits",
        LOGITS,
        shape=(1, 2, WRITTEN),
        notes=(".detach(), .data and torch.no_grad() cut a path off",),
    )


# --- train ---


@check(aspect="learning", points=4)
def test_start(submission, draw):
    """with 0 steps train returns the model as it starts: it knows nothing, and pays about ln V for a word

    > 0 gives the model as it starts.
    > about ln V for a word
    """
    pairs = some_pairs(draw)
    train = partial(submission.train, *pairs, *BOTH)
    TRAINING["expect_start"](submission, draw, WRITTEN, train, lambda model: nats(model, *pairs))


@check(aspect="shape", points=3)
def test_rows_of_training(submission, draw):
    """train returns the model and a row (step, loss, rate) for each step, the first about ln V

    > (model, rows): a row (step, loss, rate) for each step, from 1 on.
    """
    found = submission.train(*some_pairs(draw), *BOTH, 4, 3)
    TRAINING["expect_rows"](submission, found, WRITTEN)


def begun(submission, pairs, steps):
    """Return the model after so many steps; torch's global generator stands where it did."""
    given_module(submission, "probes").reseed(1)
    with precondition("train must return (model, rows)"):
        model, _ = expect(submission.train(*pairs, *BOTH, steps, 5, warmup=0), "result").is_tuple(2)
    return model


def alike(read, wanted, count=60):
    """Return so many pairs of one kind: which of them were drawn does not matter."""
    return tuple(
        tokens(torch.tensor([row] * count, device=read.device)) for row in (read.tolist(), wanted.tolist())
    )


@check(aspect="learning", points=3)
def test_updates(submission, draw):
    """updates move the parameters against their gradients

    > Train a new TranslationModel with teacher forcing
    """
    # One word again and again: what the decoder reads is then what it should say, or BOS.
    read, wanted = words(draw, 1, 7, READ)[0], torch.full((8,), draw.size(3, WRITTEN - 1), device=draw.device)
    wanted[-1] = EOS
    pairs = alike(read, wanted)
    start, end = (begun(submission, pairs, steps) for steps in (0, 2))
    with precondition("forward must give finite logits [B, T, V]"):
        logits = start(*(tokens(part[:1]) for part in (pairs[0], after_bos(pairs[1]))))
        expect(logits, "logits", axes=LOGITS).is_tensor(shape=(1, 8, WRITTEN)).is_finite()
    if logits.requires_grad:
        torch.nn.functional.cross_entropy(logits[0], wanted).backward()
    MODELS["expect_downhill"](submission, start, end)


@check(aspect="arguments", follows=test_rows_of_training)
def test_training_arguments(submission, draw):
    """train takes its arguments by name, and pairs in any memory order, which it leaves as they were

    > Arguments are left as they were and need not be contiguous in memory.
    """
    (source, target), losses = some_pairs(draw), []
    sizes = {"source_vocab": READ, "target_vocab": WRITTEN, "steps": 1, "seed": 3}
    for read, wanted in ((source, target), (draw.noncontiguous(source), draw.noncontiguous(target))):
        _, rows = as_asked(submission.train(source=read, target=wanted, **sizes), 1)
        expect_unchanged(submission)
        losses.append(rows[0][1])
    expect(losses[1], "loss of step 1 with pairs that are not contiguous").is_between(
        losses[0] - 1e-3, losses[0] + 1e-3
    )


@check(aspect="padding", points=4, needs=[test_rows_of_training, test_updates])
def test_loss_padding(submission, draw):
    """padding after sources and targets does not count: with more of it each loss is the same

    > EOS counts, padding does not.
    """
    source, target = some_pairs(draw)
    more = tuple(tokens(torch.cat((part, torch.zeros_like(part[:, :3])), dim=1)) for part in (source, target))
    model, _ = trained(submission, more, BOTH, 0, 5)
    unmoved = not apart(*(score(model, part, more[1]) for part in (source, more[0])))
    plain, again = (trained(submission, (source, target), BOTH, 2, 5)[1] for _ in range(2))
    padded = trained(submission, more, BOTH, 2, 5)[1]
    repeats, keeps = (
        [abs(one[1] - two[1]) < 1e-3 for one, two in zip(plain, other, strict=True)]
        for other in (again, padded)
    )
    fingerprint_facts(submission, repeats=all(repeats), keeps=all(keeps), model_ignores_padding=unmoved)
    for (step, one, _), (_, other, _) in zip(plain, padded, strict=True):
        if abs(one - other) > 1e-3:
            fail(
                f"not the same  loss of step {step}  got {other:.4f} with three columns of padding, {one:.4f} without",
                "  the mean is over words; no target that is padding counts, and nothing looks at padding",
                stage="values",
            )


@check(aspect="learning", points=4, needs=test_updates)
def test_seeds(submission, draw):
    """the same seed gives the same run, whatever was drawn before, and another seed another run

    > The same seed gives the same run, whatever ran before.
    """
    TRAINING["expect_seeds"](submission, partial(trained, submission, some_pairs(draw), BOTH), "pairs")


@check(aspect="values", points=3, needs=[test_rows_of_training, test_updates], follows=test_seeds)
def test_losses(submission, draw):
    """the loss of a row is what the model pays for the batch of its step, before the update

    > loss is the mean of -log p over the words of
    """
    wanted = 3 + draw.integers(0, WRITTEN - 3, time=6)
    wanted[-1] = EOS
    pairs, steps = alike(words(draw, 1, 7, READ)[0], wanted), (0, 1, draw.size(2, 5))
    states = [parameters_of(trained(submission, pairs, BOTH, count, 5)[0]) for count in steps]
    rows = trained(submission, pairs, BOTH, steps[-1] + 1, 5)[1]
    models = MODELS["carried"](
        submission, lambda: trained(submission, some_pairs(draw, 60), BOTH, 0, 5)[0], states
    )
    pays = [nats(model, *(tokens(part[:1]) for part in pairs)) for model in models]
    for count, paid in zip(steps, pays, strict=True):
        step, told, _ = rows[count]
        late = count == 0 and abs(told - pays[1]) < 2e-3  # as after the update
        fingerprint_facts(submission, first=step == 1, late=late, loss=TRAINING["of_a_loss"](told, [paid]))
        expect(told, f"loss of step {step}").is_between(
            paid - 2e-3,
            paid + 2e-3,
            why=f"after {step - 1} steps the model pays {paid:.4f} nats for a word of these pairs, "
            "which are all alike, in a new process with the parameters that train gave it",
        )


@check(aspect="learning", points=5, needs=test_updates)
def test_warmup(submission, draw):
    """the rate rises in equal steps up to step warmup, is full at once without warm-up, and never exceeds that

    > s / warmup of the full rate while s < warmup, and the full rate at step warmup. 0:
    > never rises above the full rate, which is the same for every warmup.
    """
    TRAINING["expect_warmup"](submission, partial(trained, submission, some_pairs(draw), BOTH))


@check(aspect="learning", points=4, needs=test_updates, follows=test_warmup)
def test_rate_used(submission, draw):
    """the rate of a row is the one that its update uses

    > rate is what the update uses.
    """
    TRAINING["expect_rate_used"](submission, partial(trained, submission, some_pairs(draw), BOTH))


@check(aspect="learning", points=4, needs=test_updates)
def test_settings(submission, draw):
    """norm, positions and num_layers reach the model that is trained

    > norm, positions, num_layers: of the model.
    """
    train = partial(trained, submission, some_pairs(draw), BOTH)
    TRAINING["expect_depth"](submission, train, default=1)
    source, target = distinct(draw, 6, READ), distinct(draw, 5, WRITTEN)
    swapped = tokens(source[:, [2, 1, 0, 3, 4, 5]])
    for norm in ("first", "last"):
        bag, _ = train(0, 1, positions=False, norm=norm)
        given_module(submission, "probes").refill(bag, draw.seed)
        there, here = score(bag, swapped, target), score(bag, source, target)
        fingerprint_facts(submission, order_matters=apart(there, here))
        expect(there, f"logits with positions=False and norm={norm!r}", axes=LOGITS).same_as(
            here, name="those of the same words in another order", size=LARGEST
        )
    TRAINING["expect_norm_last"](
        submission, draw, train, [READ, WRITTEN], lambda model: score(model, source, target)
    )


@check(aspect="learning", points=8, trained=True, needs=[test_rows_of_training, test_updates])
def test_learning(submission, draw):
    """trained for {STEPS} steps on a new language, it translates {ACCURACY:.0%} of new sentences without a mistake

    > makes up a language
    """
    (english, foreign), pairs, test = TONGUES["translations"](
        LANGUAGE, draw.size(0, 1 << 30), RUNS["PAIRS"], 100
    )
    given, sizes = [tokens(part.to(draw.device)) for part in pairs], (len(english), len(foreign))
    trained_model, _ = trained(submission, given, sizes, STEPS, draw.size(10, 1 << 20))
    others = [
        tokens(3 + draw.integers(0, vocab - 3, batch=len(part), time=part.shape[1]))
        for vocab, part in zip(sizes, given, strict=True)
    ]
    (model,) = MODELS["carried"](
        submission, lambda: trained(submission, others, sizes, 0, 1)[0], [parameters_of(trained_model)]
    )
    model.eval()
    source, wanted = tokens(test.source.to(draw.device)), test.target
    written = torch.full_like(source[:, :1], BOS)
    for _ in range(wanted.shape[1]):  # our own search: translate is another check's affair
        word = score(model, source, tokens(written), len(foreign))[:, -1].argmax(dim=-1, keepdim=True)
        written = torch.cat((written, word), dim=1)
    spell = LANGUAGE["spell"]
    texts = [
        (spell(row, foreign), spell(row_wanted, foreign))
        for row, row_wanted in zip(written[:, 1:].cpu(), wanted, strict=True)
    ]
    wrong = [row for row, (text, right) in enumerate(texts) if text != right]
    if len(wrong) > (1 - ACCURACY) * len(texts):
        text, right = texts[wrong[0]]
        fail(
            f"too few right  {len(texts) - len(wrong)} of {len(texts)} sentences  want at least {ACCURACY:.0%}",
            f"  it read “{spell(test.source[wrong[0]], english)}”",
            f"  and wrote “{text or '(nothing)'}”, not “{right}”",
            stage="values",
        )


# --- translate ---


def scripted(submission, draw, ends, max_len, pad=PAD, length=3, **options):
    """Return a scripted model, sources, and the right translations: row r ends with its word number ends[r]."""
    while True:  # not every table leads to every fate
        table = draw.normal(state=STATES, token=WORDS, scale=2.0)
        table[:, [PAD, BOS]] = -25.0
        best = table.argmax(dim=-1).tolist()
        found, rows = [], []
        tried = draw.integers(0, 50, batch=80, time=length).cpu().tolist()
        for end in ends:
            for row in tried:
                state, text = 0, []
                for word in row:
                    state = (5 * state + 3 * word + 1) % STATES
                state = (5 * state + BOS + 1) % STATES
                while len(text) < max_len and (not text or text[-1] != EOS):
                    text.append(best[state])
                    state = (5 * state + best[state] + 1) % STATES
                fits = len(text) == end and text[-1] == EOS if end else text[-1] != EOS
                if fits and row not in found:
                    found.append(row)
                    rows.append(text)
                    break
        if len(found) == len(ends):
            model = given_module(submission, "probes").ScriptedTranslator(table, pad, **options)
            return model, tokens(torch.tensor(found, device=draw.device)), rows


def expect_translations(found, rows, pad=PAD, why=""):
    length = max(map(len, rows))
    expect(found, "translations", axes="batch time").is_tensor(shape=(len(rows), None), dtype=torch.int64)
    expect(found.shape[1] >= length, "long enough translations").is_value(
        True, why=f"the longest has {length} words"
    )
    wanted = [row + [pad] * (found.shape[1] - len(row)) for row in rows]
    expect(found, "translations", axes="batch time").equals(
        tokens(torch.tensor(wanted)).to(found.device), why=why
    )


def standing_behind(found, rows, pad):
    """Return what comes after translations that are right up to their ends: one token, 0, or nothing known."""
    if not isinstance(found, torch.Tensor) or found.dim() != 2 or len(found) != len(rows):
        return None
    texts = found.tolist()
    behind = {token for text, row in zip(texts, rows, strict=True) for token in text[len(row) :]}
    right = all(text[: len(row)] == row for text, row in zip(texts, rows, strict=True))
    if not right or len(behind) != 1 or behind == {pad}:
        return None
    return "0" if behind == {0} else "another token"


@check(aspect="values", points=3)
def test_greedy(submission, draw):
    """each word that is written is the best next one, from BOS up to EOS

    > always with the best next word
    > without BOS, up to EOS where it was written
    """
    for ends, max_len in (((4, 4), 6), ((0, 0), 5), ((1,), 3)):
        model, source, rows = scripted(submission, draw, ends, max_len)
        found = submission.translate(model, source, max_len=max_len)
        expect_unchanged(submission)
        expect(found, "translations", axes="batch time").is_tensor(shape=(len(rows), None), dtype=torch.int64)
        expect_translations(found, rows)


@check(aspect="padding", points=4, follows=test_greedy)
def test_ends(submission, draw):
    """each sentence ends at its own EOS and is filled up with pad_id

    > with model.pad_id after that.
    """
    for pad in (PAD, 5):
        model, source, rows = scripted(submission, draw, (2, 0, 4, 1), 6, pad)
        found = submission.translate(model, source, max_len=6)
        if behind := standing_behind(found, rows, pad):
            fingerprint_facts(submission, stands_behind=behind)
        expect_translations(
            found, rows, pad, why=f"rows have {', '.join(str(len(row)) for row in rows)} words"
        )


@check(aspect="shape", points=3)
def test_long(submission, draw):
    """no translation is longer than max_len

    > how many tokens a translation has at most, EOS included.
    """
    for max_len in (1, 4, 7):
        model, source, _ = scripted(submission, draw, (0, 0), max_len)
        found = submission.translate(model, source, max_len=max_len)
        expect(found, "translations", axes="batch time").is_tensor(shape=(2, max_len), dtype=torch.int64)


@check(aspect="arguments", follows=[test_greedy, test_ends])
def test_search_promises(submission, draw):
    """however translate is called, it writes what this model makes of these sources

    > Arguments are left as they were and need not be contiguous in memory.
    > All of it works for any sizes, one word and one sentence included.
    """
    for length in (1, 67):
        model, source, rows = scripted(submission, draw, (2, 0), 4, length=length)
        with same_tensors(submission):
            for given in (tokens(source.flip(0)), source):
                found = submission.translate(model, draw.noncontiguous(given), max_len=4)
        expect_translations(found, rows, why=f"sources have {length} words, and are not contiguous in memory")
        expect_translations(submission.translate(model=model, source=source, max_len=4), rows)


@check(
    aspect="mode",
    points=3,
    on_workers_word="modes are facts of state, seen in dropout and in whether gradients are recorded",
)
def test_modes(submission, draw):
    """it writes in eval mode without gradients, and leaves both as they were

    > It may be in train or eval mode and is left as it was; it writes in eval
    """
    model, source, rows = scripted(submission, draw, (0, 0, 3), 8, dropout=0.5)
    target = tokens(torch.full_like(source, BOS))
    written, left, grad = {}, {}, {}
    for training in (True, False):
        model.train(training)
        written[training] = submission.translate(model, source, max_len=8)
        with keep_grad_mode(submission):
            first, second = model(source, target), model(source, target)
        left[training], grad[training] = not torch.equal(first, second), first.requires_grad
    wanted = torch.tensor([row + [PAD] * (8 - len(row)) for row in rows])
    right = [isinstance(one, torch.Tensor) and torch.equal(one.cpu(), wanted) for one in written.values()]
    fingerprint_facts(submission, right=right, left=list(left.values()), grad=list(grad.values()))
    expect_translations(written[True], rows, why="this model has dropout=0.5 and came in train mode")
    for training in (True, False):
        expect(left[training], "model.training afterwards").is_value(training)
        expect(grad[training], "torch.is_grad_enabled() afterwards").is_value(True)
    with torch.no_grad():
        submission.translate(model, source, max_len=8)
    with keep_grad_mode(submission):
        recorded = model(source, target).requires_grad
    expect(recorded, "torch.is_grad_enabled() after a call under torch.no_grad()").is_value(False)


@check(aspect="values", points=2, needs=test_causal)
def test_own_model(submission, draw):
    """your own model translates with its own best words

    > with your model or any that has pad_id.
    """
    model, (source, _) = build(submission, draw), pair(draw, batch=6)
    found = submission.translate(model, source, max_len=6)
    expect(found, "translations", axes="batch time").is_tensor(shape=(6, None), dtype=torch.int64)
    begun = torch.cat((torch.full_like(found[:, :1], BOS), found[:, :-1]), dim=1)
    after = score(model, source, tokens(begun))
    behind = (found == EOS).cumsum(dim=1) - (found == EOS).int() > 0
    chosen = after.gather(-1, found.clamp(0, WRITTEN - 1)[..., None]).squeeze(-1)
    best = after.amax(dim=-1)
    expect(torch.where(behind, best, chosen), "logit of the word chosen", axes="batch step").same_as(
        best, name="the best", why="the logits are those of one pass over the result", size=LARGEST
    )


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
    """every curve begins at about ln V and falls, and those of the base runs below 0.5

    > Its curves begin at about ln V and fall
    """
    LOGS["expect_falls"](submission, submission.training_log(), RUNS, len(LANGUAGE["TARGET_WORDS"]), 0.0, 0.5)


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
    pairs = [tokens(part.to(draw.device)) for part in LANGUAGE["splits"](RUNS["PAIRS"], 1)[0]]
    sizes = len(LANGUAGE["SOURCE_WORDS"]), len(LANGUAGE["TARGET_WORDS"])
    train = partial(trained, submission, pairs, sizes)
    LOGS["expect_repeated"](log, RUNS, train, f"source, target, {sizes[0]}, {sizes[1]}", BEGUN)


@check(aspect="scratch", points=2)
def test_from_scratch(submission, draw):
    """none of torch's transformer classes is used

    > torch's transformer classes and its MultiheadAttention are excluded
    """
    for norm in ("first", "last"):
        score(build(submission, draw, norm=norm), *pair(draw))
    trained(submission, some_pairs(draw), BOTH, 1, 1)
    expect_from_scratch(submission)
