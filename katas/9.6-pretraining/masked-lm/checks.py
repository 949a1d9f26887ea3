"""Checks of 9.6.1. How the model names its parameters is its own affair, so its checks compare it with itself."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_dropped_apart,
    expect_from_scratch,
    expect_parameter_gradients,
    expect_unchanged,
    fail,
    fingerprint_facts,
    given_module,
    precondition,
    same_tensors,
    with_axes,
)

TEXT, BODY, LOGITS = "batch time", "batch time width", "batch time word"
MASK, SPECIAL, VOCAB = 3, (0, 1, 3), 400
SMALL = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2, "max_len": 16}
WORDS = 23
FIRST = {"vocab_size": 400, "d_model": 64}
TOO_LARGE = 2 * math.log(400)
"""Rows of length 1, and less, begin at 6 to 7, rows as long as 2.4 at 18, those of nn.Embedding, 8 long, at 60."""
IGNORED = -100


def load_harbor():
    spec = importlib.util.spec_from_file_location("kata_harbor", Path(__file__).with_name("harbor.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


harbor = load_harbor()


# --- helpers ---


def generator(seed):
    return torch.Generator().manual_seed(seed)


def text(draw, batch=60, time=500, vocab_size=VOCAB):
    """Draw tokens of all kinds, special ones too: 30,000, so that shares are sharp."""
    return draw.integers(0, vocab_size, batch=batch, time=time)


def hidden(submission, draw, tokens, *, rate=0.15, special_ids=SPECIAL, vocab_size=VOCAB, mask_id=MASK):
    """Hide words; insist on two tensors like the tokens."""
    found = submission.hide(
        tokens, mask_id=mask_id, vocab_size=vocab_size, special_ids=special_ids, rate=rate,
        generator=generator(draw.size(0, 1 << 20)),
    )  # fmt: skip
    fingerprint_facts(submission, returned=described(found))
    inputs, targets = expect(found, "what hide returns").is_tuple(2)
    shape = tuple(tokens.shape)
    return tuple(
        expect(value, name, axes=TEXT).is_tensor(shape=shape, dtype=torch.int64).actual.cpu()
        for value, name in ((inputs, "inputs"), (targets, "targets"))
    )


def special_in(tokens, special_ids=SPECIAL):
    return torch.isin(tokens.cpu(), torch.tensor(special_ids))


def described(found):
    if isinstance(found, tuple | list):
        return [described(part) for part in found]
    return f"{found.dtype} {list(found.shape)}" if isinstance(found, torch.Tensor) else type(found).__name__


def about(share):
    """Round a share for recognising a mistake, so coarsely that no draw moves it; what is rare is told from nothing."""
    return round(float(share) * 20) / 20 if not 0 < share < 0.05 else "few"


def shares(*which):
    return [about(one.double().mean()) if one.numel() else "none" for one in which]


def equal(one, other):
    return isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and torch.equal(one, other)


def apart(one, other):
    """Tell whether two results differ by more than rounding."""
    return bool((one - other).abs().max() > 1e-3)


def alike(one, other):
    """Tell of each part of two results whether it is the same in both."""
    both = isinstance(one, tuple) and isinstance(other, tuple)
    return [equal(*parts) for parts in zip(one, other, strict=False)] if both else described(one)


def fates_of(inputs, tokens):
    """Tell of each token whether it became the mask (2), stayed (1) or became another (0)."""
    return torch.where(inputs == MASK, 2, (inputs == tokens.cpu()).int())


def expect_share(found, wanted, margin, what, *why):
    if abs(found - wanted) > margin:
        fail(f"wrong share  {what}: {found:.0%}; want about {wanted:.0%}", *why)


def masked_lm(submission, draw, vocab_size=WORDS, **options):
    """Build a small model in eval mode, with noise on every parameter: small and zero beginnings hide much."""
    model = submission.MaskedLM(vocab_size, **{**SMALL, **options})
    with torch.no_grad():
        learned = {name: value for name, value in model.named_parameters() if value.requires_grad}
        noisy = {
            name: value + torch.randn(value.shape, generator=draw.generator).to(value) * 0.3
            for name, value in learned.items()
        }
        state = model.state_dict()
        # A table that is one parameter may have several names.
        for name, value in state.items():
            twin = next(
                (n for n, old in learned.items() if old.shape == value.shape and bool((old == value).all())),
                None,
            )
            if name not in noisy and twin is not None:
                noisy[name] = noisy[twin]
    model.load_state_dict({**state, **noisy})
    model.to(draw.device)
    model.eval()
    return model


def tables_of(submission, model, vocab_size, d_model):
    """Return the parameters of shape [V, D] of a model that a helper made."""
    with torch.no_grad():
        found = list(submission.MaskedLM.parameters(model))
    return [one.detach() for one in found if tuple(one.shape) == (vocab_size, d_model)]


def real_tokens(draw, batch=3, time=6):
    """Draw tokens without padding (0)."""
    return draw.integers(1, WORDS, batch=batch, time=time)


def looks_at(model, draw, pad_id=0):
    """Tell of a token's body whether it depends on the others, on padding, and on the others where there is padding."""
    tokens = torch.full((1, 4), pad_id + 1, device=draw.device)
    others, padded = tokens.clone(), tokens.clone()
    others[:, 1:], padded[:, 2:] = pad_id + 2, pad_id
    both = padded.clone()
    both[:, 1] = pad_id + 2
    found = [
        read(model, with_axes(one, "batch", "time")).actual[:, 0] for one in (tokens, others, padded, both)
    ]
    return [apart(found[0], found[1]), apart(found[0], found[2]), apart(found[2], found[3])]


def read(model, tokens, name="body"):
    with torch.no_grad():
        found = model.body(tokens)
    return expect(found, name, axes=BODY).is_tensor(shape=(*tokens.shape, SMALL["d_model"])).is_finite()


def scores(model, tokens, name="logits", vocab_size=WORDS):
    with torch.no_grad():
        found = model(tokens)
    return expect(found, name, axes=LOGITS).is_tensor(shape=(*tokens.shape, vocab_size)).is_finite()


# --- hide ---


@check(aspect="shape")
def test_hide_shapes(submission, draw):
    """hide returns inputs and targets [B, T], for a single token as well

    > inputs [B, T], what the model reads, and targets [B, T]
    """
    for batch, time in ((3, 5), (1, 6), (2, 1), (1, 1)):
        hidden(submission, draw, text(draw, batch, time))


@check(aspect="values", points=2, follows=test_hide_shapes)
def test_hide_targets(submission, draw):
    """targets are the original tokens where one was chosen, and -100 elsewhere

    > the token as it was where it was chosen, else -100
    """
    tokens = text(draw)
    inputs, targets = hidden(submission, draw, tokens)
    chosen = targets != IGNORED
    before = tokens.cpu()
    fingerprint_facts(
        submission,
        asked=about(chosen.double().mean()),
        answers=shares(*((targets == one)[chosen] for one in (before, inputs, 0))),
        read=shares((inputs == before)[~chosen], inputs == IGNORED),
    )
    if chosen.all():
        fail("nothing is -100  every position has a target, at rate=0.15", "  the model would learn to copy")
    expect(targets[chosen], "targets where one was chosen", axes="chosen").equals(tokens.cpu()[chosen])
    expect(inputs[~chosen], "inputs where none was chosen", axes="other").equals(tokens.cpu()[~chosen])


@check(aspect="values", points=2, follows=test_hide_shapes)
def test_hide_rate(submission, draw):
    """of the tokens that are not special, about the share `rate` is chosen

    > Each token that is not special is chosen with probability `rate`.
    """
    tokens = text(draw)
    tokens[:, ::2] = 0  # half of them are special: they count for nothing
    ordinary = ~special_in(tokens)
    seen = []
    for rate in (0.15, 0.6):
        _, targets = hidden(submission, draw, tokens, rate=rate)
        found = float((targets[ordinary] != IGNORED).double().mean())
        fingerprint_facts(submission, chosen=(seen := [*seen, about(found)]))
        expect_share(found, rate, 0.03, f"chosen of the tokens that are not special, at rate={rate}")
    chosen = (targets != IGNORED)[:, 1::2]  # at rate 0.6, where neither all nor none of 60 happens by itself
    together = (chosen | ~ordinary[:, 1::2]).all(dim=0) | (~chosen).all(dim=0)
    fingerprint_facts(submission, chosen=seen, together=shares(together))
    if bool(together.any()):
        fail(
            f"drawn together  at {int(together.sum())} of {len(together)} places all rows are chosen or none",
            "  at rate=0.6; each token is drawn by itself",
        )


@check(aspect="values", follows=[test_hide_shapes, test_hide_rate])
def test_hide_by_itself(submission, draw):
    """each token is drawn independently: how many are chosen, and what becomes of those in a column, is left to chance

    > Each token that is not special is chosen with probability `rate`.
    """
    lowest = max(SPECIAL) + 1
    fixed, found = [], []
    for batch, time, rate in ((4000, 5, 0.05), (1000, 20, 0.15)):
        tokens = draw.integers(lowest, VOCAB, batch=batch, time=time)
        chosen = hidden(submission, draw, tokens, rate=rate)[1] != IGNORED
        counts = chosen.sum(dim=1)
        fixed.append(bool((counts == counts[0]).all()))
        found.append(about(chosen.double().mean()))
        fingerprint_facts(submission, fixed=fixed, chosen=found)
        if fixed[-1]:
            fail(
                f"as many in each row  {int(counts[0])} of {time} tokens are chosen in all {batch} rows",
                f"  at rate={rate}; each token is drawn by itself",
            )
    row = draw.integers(lowest, VOCAB, batch=1, time=6)
    counts = [int((hidden(submission, draw, row, rate=0.5)[1] != IGNORED).sum()) for _ in range(14)]
    fingerprint_facts(submission, fixed=[*fixed, len(set(counts)) == 1], chosen=found)
    if len(set(counts)) == 1:
        fail(
            f"as many each time  {counts[0]} of 6 tokens are chosen in {len(counts)} calls",
            "  at rate=0.5; each token is drawn by itself",
        )
    tokens = draw.integers(lowest, VOCAB, batch=60, time=200)
    inputs, targets = hidden(submission, draw, tokens, rate=0.6)
    alone, fates = targets == IGNORED, fates_of(inputs, tokens)
    columns = torch.stack([(alone | (fates == fate)).all(dim=0) for fate in range(3)]).any(dim=0)
    fingerprint_facts(submission, fixed=fixed, columns=shares(columns))
    if (
        columns.sum() > 20 and len(fates[~alone].unique()) > 1
    ):  # by chance 0.1; all alike is test_hide_mix's affair
        fail(
            f"drawn together  in {int(columns.sum())} of 200 columns all chosen tokens of 60 rows become the same:",
            "  mask_id, another token, or what they were; each is drawn by itself",
        )


@check(aspect="values", points=3, follows=[test_hide_shapes, test_hide_targets])
def test_hide_mix(submission, draw):
    """of the chosen tokens 80% become mask_id, 10% a random token, and 10% stay

    > Of the chosen, 80% become mask_id, 10% a random token
    """
    rows = text(draw)
    inputs, targets = hidden(submission, draw, rows, rate=0.9)
    chosen = (targets != IGNORED) & ~special_in(rows)
    at_another_rate = shares(inputs[chosen] == MASK)
    masks = [set((row[asked] == MASK).tolist()) for row, asked in zip(inputs, chosen, strict=True)]
    if all(len(row) == 1 for row in masks) and len(set.union(*masks)) > 1:
        fingerprint_facts(submission, becomes="one thing in each row")
        fail(
            f"drawn together  in each of {len(masks)} rows all chosen tokens become mask_id, or none does",
            "  what becomes of each is drawn by itself",
        )
    tokens = text(draw, 1, 30_000)  # one row: what all rows share is another check's affair
    inputs, targets = hidden(submission, draw, tokens, rate=0.5)
    before = tokens.cpu()
    chosen = (targets != IGNORED) & ~special_in(tokens)
    if not chosen.any():
        fail("nothing chosen  every target is -100 at rate=0.5")
    masked, same = inputs[chosen] == MASK, inputs[chosen] == before[chosen]
    fingerprint_facts(
        submission,
        masked=shares(masked),
        stayed=shares(same),
        exchanged=shares(~masked & ~same),
        at_another_rate=at_another_rate,
    )
    for which, share, what in (
        (masked, 0.8, "became mask_id"),
        (same, 0.1, "stayed as they were"),
        (~masked & ~same, 0.1, "became another token"),
    ):
        expect_share(float(which.double().mean()), share, 0.03, f"of the chosen that {what}")


@check(aspect="masks", points=2, follows=test_hide_shapes)
def test_hide_special(submission, draw):
    """special tokens are never chosen

    > special_ids: tokens that are never chosen and never inserted at random.
    """
    tokens = text(draw, vocab_size=12)
    inputs, targets = hidden(submission, draw, tokens, rate=0.9, vocab_size=12)
    special = special_in(tokens)
    asked, before = targets[special] != IGNORED, tokens.cpu()[special]
    fingerprint_facts(
        submission,
        asked=(bool(asked.any()), bool(asked.all())),
        answers=bool((targets[special] == before)[asked].all()),
        read=bool((inputs[special] == before).all()),
    )
    expect(targets[special], "targets of special tokens", axes="special").equals(
        torch.full_like(targets[special], IGNORED)
    )
    expect(inputs[special], "inputs at special tokens", axes="special").equals(tokens.cpu()[special])


@check(aspect="values", points=2, follows=[test_hide_shapes, test_hide_mix])
def test_hide_random_tokens(submission, draw):
    """random tokens are never special, and all others are equally likely

    > 10% a random token that is not special, all equally likely
    """
    tokens = torch.full_like(text(draw), 5)
    facts = {}
    for special_ids in ((0, 4, MASK, 11), (4, MASK, 10)):  # at both ends and between; then neither end
        inputs, _ = hidden(submission, draw, tokens, rate=0.9, special_ids=special_ids, vocab_size=12)
        put_in = inputs[(inputs != MASK) & (inputs != 5)]
        special = [token for token in special_ids if token != MASK]
        ordinary = [token for token in range(12) if token not in (*special_ids, 5)]
        counts = torch.bincount(put_in.clamp(0, 12), minlength=13)
        never = [token for token in ordinary if not counts[token]]
        many = len(ordinary) - len(never)
        facts[len(special_ids)] = [
            bool(counts[special].any()),
            bool(counts[12] or (put_in < 0).any()),
            never if len(never) < 3 else f"all but {min(many, 2)}",
        ]
        fingerprint_facts(submission, **{f"special_{number}": fact for number, fact in facts.items()})
        for token in special:
            if counts[token]:
                times = int(counts[token])
                fail(f"special token inserted  {token} is in inputs {times} times; it is special")
        if counts[12] or (put_in < 0).any():
            fail("no such token  inputs hold tokens beyond vocab_size - 1 = 11")
        wanted = 1 / len(ordinary)
        margin = max(0.05, 2 * max(1, len(put_in)) ** -0.5)  # nearly six deviations, however few there are
        for token in ordinary:
            share = float(counts[token]) / max(1, len(put_in))
            what = f"of the {len(ordinary)} other words, token {token}"
            expect_share(share, wanted, min(margin, wanted * 0.98), what)


@check(aspect="values", follows=test_hide_shapes)
def test_hide_ends(submission, draw):
    """a rate of 0 hides nothing, and a rate of 1 chooses everything

    > Each token that is not special is chosen with probability `rate`.
    """
    tokens = draw.integers(max(SPECIAL) + 1, VOCAB, batch=4, time=30)
    inputs, targets = hidden(submission, draw, tokens, rate=0.0)
    fingerprint_facts(
        submission, at_0=bool((targets != IGNORED).any()), read=bool((inputs == tokens.cpu()).all())
    )
    expect(inputs, "inputs at rate=0", axes=TEXT).equals(tokens.cpu())
    expect(targets, "targets at rate=0", axes=TEXT).equals(torch.full_like(targets, IGNORED))
    lowest = max(SPECIAL) + 1
    tokens[0, :lowest] = torch.arange(lowest)  # where none is special, 0 is a word as well
    _, targets = hidden(submission, draw, tokens, rate=1.0, special_ids=())
    missed = tokens.cpu()[targets != tokens.cpu()].tolist()
    fingerprint_facts(submission, at_1=shares(targets == tokens.cpu()), missed=missed[:2])
    expect(targets, "targets at rate=1", axes=TEXT).equals(tokens.cpu())
    alone = with_axes(tokens.view(-1, 1), "batch", "time")
    _, targets = hidden(submission, draw, alone, rate=1.0, special_ids=())
    expect(targets, "targets of one token a row at rate=1", axes=TEXT).equals(alone.cpu())


@check(aspect="arguments", points=2, follows=test_hide_shapes)
def test_hide_generator(submission, draw):
    """everything is drawn from the generator, from torch's global one when there is none, and anew at each call

    > All draws come from the generator
    """
    tokens, options = (
        text(draw, 8, 40),
        {"mask_id": MASK, "vocab_size": VOCAB, "special_ids": SPECIAL, "rate": 0.5},
    )
    first, second, other = (
        submission.hide(tokens, **options, generator=generator(seed)) for seed in (1, 1, 2)
    )
    seeded = {"same_seed": alike(first, second), "other_seed": alike(first, other)}
    fingerprint_facts(submission, **seeded)
    if seeded["same_seed"] == [False, True]:  # are they masked alike, so that only the random tokens differ?
        seeded["same_masks"] = equal(*(found[0] == MASK for found in (first, second)))
        fingerprint_facts(submission, **seeded)
    for place, name in enumerate(("inputs", "targets")):
        one, two, three = (
            expect(found, "what hide returns").is_tuple(2)[place] for found in (first, second, other)
        )
        expect(two, name, axes=TEXT).same_as(one, name="that from the same seed")
        expect(three, name, axes=TEXT).differs_from(one, why="the generator has another seed")
    found = []
    for seed in (7, 7, None):
        if seed is not None:
            given_module(submission, "probes").seed(seed)
        found.append(submission.hide(tokens, **options))
    first, second, third = found
    fingerprint_facts(submission, **seeded, global_seed=alike(first, second), next_call=alike(second, third))
    for place, name in enumerate(("inputs without a generator", "targets without a generator")):
        one, two, three = (
            expect(found, "what hide returns").is_tuple(2)[place] for found in (first, second, third)
        )
        expect(two, name, axes=TEXT).same_as(one, name="that after the same torch.manual_seed")
        expect(three, name, axes=TEXT).differs_from(one, why="it is the second call after torch.manual_seed")


@check(aspect="arguments", follows=[test_hide_shapes, test_hide_generator])
def test_hide_arguments(submission, draw):
    """hide leaves the tokens as they were, contiguous in memory or not

    > tokens: int64 [B, T]; left as it is.
    > need not be contiguous in memory
    """
    tokens = text(draw, 6, 40)
    options = {"mask_id": MASK, "vocab_size": VOCAB, "special_ids": SPECIAL, "rate": 0.7}
    found = []
    # The second gets the memory of the first: what is kept of that is stale.
    for given in (with_axes(tokens.flip(0), "batch", "time"), tokens, draw.noncontiguous(tokens)):
        with same_tensors(submission):
            found.append(submission.hide(given, **options, generator=generator(1)))
        fingerprint_facts(submission, looked_at="the tokens handed in")
        expect_unchanged(submission)
    for place, name in enumerate(("inputs", "targets")):
        _, plain, scattered = (expect(one, "what hide returns").is_tuple(2)[place] for one in found)
        expect(scattered, f"{name} of tokens that are not contiguous", axes=TEXT).same_as(
            plain, name="those of contiguous ones"
        )


# --- MaskedLM ---


@check(aspect="shape")
def test_shapes(submission, draw):
    """tokens [B, T] give a body [B, T, D] and logits [B, T, V], up to max_len tokens

    > [B, T, D]. Positions matter
    > logits [B, T, V]
    > the longest sequence that must work.
    """
    model = masked_lm(submission, draw, max_len=130)
    for batch, time in ((3, 5), (1, 1), (2, 130)):
        tokens = real_tokens(draw, batch, time)
        read(model, tokens)
        scores(model, tokens)


@check(aspect="parameters", follows=test_shapes)
def test_sizes(submission, draw):
    """the model is built in the sizes asked for: layers, widths and heads

    > d_model, num_heads, d_ff, num_layers: sizes of the encoder.
    """

    def count(**sizes):
        with torch.no_grad():
            return sum(one.numel() for one in submission.MaskedLM(WORDS, **{**SMALL, **sizes}).parameters())

    three_heads, tokens = masked_lm(submission, draw), real_tokens(draw)
    six_heads = submission.MaskedLM(WORDS, **{**SMALL, "num_heads": 6})
    six_heads.load_state_dict(three_heads.state_dict())
    six_heads.to(draw.device).eval()
    few, many = (scores(model, tokens).actual for model in (three_heads, six_heads))
    larger, two = {"num_layers": 3, "d_ff": 30}, count()
    added = {name: count(**{name: number}) - two for name, number in larger.items()}
    facts = {"ignored": [name for name, more in added.items() if more == 0], "heads_matter": apart(few, many)}
    fingerprint_facts(submission, **facts)
    for name, more in added.items():
        if more <= 0:
            fail(
                f"no more parameters with {name}={larger[name]} than with {name}={SMALL[name]}",
                "  is it used?",
            )
    with precondition("a token must look at others"):
        if not looks_at(three_heads, draw)[0]:
            fail("it does not")
    found = scores(six_heads, tokens, "logits with num_heads=6")
    fingerprint_facts(submission, **facts)  # once more, in place of these logits
    found.differs_from(few, why="3 heads with the same parameters give others")


@check(aspect="values", follows=test_shapes)
def test_first_loss(submission, draw):
    """a new model's loss is about ln V, at most twice that

    > A new model's loss is about ln V.
    """
    tokens, targets = (draw.integers(1, FIRST["vocab_size"], batch=16, time=20) for _ in range(2))
    model = given_module(submission, "probes").new(submission.MaskedLM, FIRST)
    model.to(draw.device)
    model.eval()
    with torch.no_grad():
        logits = submission.MaskedLM.forward(model, tokens)
        found = (
            expect(logits, "logits", axes=LOGITS).is_tensor(shape=(*tokens.shape, FIRST["vocab_size"])).actual
        )
    tables = tables_of(submission, model, **FIRST)
    length = max([float(one.norm(dim=1).mean()) for one in tables], default=0.0)
    loss = float(torch.nn.functional.cross_entropy(found.flatten(0, 1).float(), targets.flatten()))
    known = math.log(FIRST["vocab_size"])
    too_large = not loss <= TOO_LARGE
    fingerprint_facts(submission, too_large=too_large, long_rows=length > 3)
    if too_large:
        fail(
            f"too large  a new model of 400 words has a loss of {loss:.1f}; want about ln 400 = {known:.1f}",
            f"  the table's rows are about {length:.1f} long: they are the output layer's as well",
        )


@check(aspect="parameters", points=2, follows=test_shapes)
def test_tied(submission, draw):
    """the output layer's weight is the token embedding's

    > what `body` returns, times the token embedding's weight; a bias [V] may be added.
    """
    model, tokens = masked_lm(submission, draw), real_tokens(draw)
    with torch.no_grad():
        tables = {n: v for n, v in model.named_parameters() if tuple(v.shape) == (WORDS, SMALL["d_model"])}
    new = given_module(submission, "probes").new(submission.MaskedLM, {"vocab_size": WORDS, **SMALL})
    first, *others = tables_of(submission, new, WORDS, SMALL["d_model"]) or [None]
    twins = bool(others) and all(equal(one, first) for one in others)
    fingerprint_facts(submission, tables=len(tables), begin_alike=twins)
    if len(tables) != 1:
        fail(
            f"{len(tables)} tables  parameters of shape [V, D]: {sorted(tables)}; want one",
            "  it gives the words their vectors, and it is the weight of the output layer",
        )
    (table,) = tables.values()
    body, logits = read(model, tokens).actual, scores(model, tokens).actual
    # A bias is the same at each position: it goes in the difference.
    products = body.double() @ table.double().T
    found, wanted = logits[:, 1:] - logits[:, :1], (products[:, 1:] - products[:, :1]).to(logits.dtype)
    factor = ((found * wanted).sum() / (wanted * wanted).sum()).item()
    fingerprint_facts(
        submission,
        sums_to_1=bool((logits.sum(dim=-1) - 1).abs().max() < 1e-3),
        exponentials_do=bool(logits.logsumexp(dim=-1).abs().max() < 1e-3),
        factor=(factor > 1) - (factor < 1) if (found - factor * wanted).abs().max() < 1e-3 else "none",
    )
    expect(found, "logits less those of position 0", axes=LOGITS).same_as(
        wanted,
        name="body times the table, less that of position 0",
    )


@check(aspect="causality", points=2, follows=test_shapes)
def test_both_sides(submission, draw):
    """each position sees what comes before it and after it

    > Read int tokens [B, T] from both sides.
    """
    model, tokens = masked_lm(submission, draw), real_tokens(draw)
    with precondition("a text without padding must be read"):
        before = read(model, tokens).actual
    hangs = looks_at(model, draw)
    after = {}
    for place, seen in ((5, 0), (0, 5)):
        changed = tokens.clone()
        changed[:, place] = tokens[:, place] % (WORDS - 1) + 1
        after[place, seen] = read(model, with_axes(changed, "batch", "time")).actual[:, seen]
    unseen = [place for (place, seen), one in after.items() if equal(one, before[:, seen])]
    fingerprint_facts(submission, unseen=unseen, looks_at=hangs)
    for (place, seen), one in after.items():
        expect(one, f"body at position {seen}", axes="batch width").differs_from(
            before[:, seen], why=f"the token at position {place} is another one"
        )


@check(aspect="values", points=2, follows=test_shapes)
def test_positions(submission, draw):
    """the order of words matters

    > Positions matter; padding never changes the vector of a real token.
    """
    model = masked_lm(submission, draw, max_len=4)  # the last position there can be is one of its own, too
    hangs = looks_at(model, draw)
    tokens = with_axes(torch.tensor([[4, 7, 9, 11], [4, 7, 11, 9]], device=draw.device), "batch", "time")
    body = read(model, tokens).actual
    order_matters = not equal(body[1:, 0], body[:1, 0])
    fingerprint_facts(submission, order_matters=order_matters, looks_at=hangs)
    expect(body[1:, 0], "body at position 0", axes="batch width").differs_from(
        body[:1, 0], why="two words after it have changed places"
    )


@check(aspect="padding", points=2, follows=test_shapes)
def test_padding(submission, draw):
    """padding never changes the vector of a real token

    > Positions matter; padding never changes the vector of a real token.
    """
    for pad_id, time in ((0, 6), (5, 1)):
        model = masked_lm(submission, draw, pad_id=pad_id)
        tokens = real_tokens(draw, time=time)
        tokens[tokens == pad_id] = pad_id + 1
        with precondition("a text without padding must be read"):
            alone = scores(model, tokens).actual
        hangs = looks_at(model, draw, pad_id)
        padded = torch.full((3, 10), pad_id, dtype=tokens.dtype, device=draw.device)
        padded[:, :time] = tokens
        beside = scores(model, with_axes(padded, "batch", "time")).actual[:, :time]
        fingerprint_facts(submission, padding=pad_id, looks_at=hangs)
        expect(beside, f"logits with padding at the end, pad_id={pad_id}", axes=LOGITS).same_as(
            alone, name="the same text without padding"
        )


@check(aspect="gradient", follows=test_shapes)
def test_gradients(submission, draw):
    """gradients of the logits reach every parameter

    > what `body` returns, times the token embedding's weight
    """
    # Few hidden features: where one is near 0, relu has a corner there, and a difference says nothing of the slope.
    # Every word is read once: no row of a table goes without.
    model = masked_lm(submission, draw, vocab_size=7, num_layers=1, d_ff=4)
    model.double()
    tokens = with_axes(draw.permutation(6).view(2, 3).to(draw.device) + 1, "batch", "time")
    expect_parameter_gradients(model, lambda: model(tokens), draw, "logits", LOGITS, shape=(2, 3, 7))


@check(aspect="mode", follows=test_shapes)
def test_dropout(submission, draw):
    """dropout acts in train mode and never in eval mode

    > dropout: passed on to the encoder; it acts in train mode only.
    """
    model, tokens = masked_lm(submission, draw, dropout=0.5), real_tokens(draw)
    same = scores(model, tokens).actual
    again = scores(model, tokens, "logits in eval mode")
    fingerprint_facts(submission, eval_mode=equal(again.actual, same))
    again.same_as(same, name="the call before")
    model.train()
    trained = scores(model, tokens, "logits in train mode")
    fingerprint_facts(submission, train_mode=equal(trained.actual, same))
    trained.differs_from(same, why="half of everything is dropped")
    sizes = {"d_model": 16, "num_heads": 2, "d_ff": 1, "num_layers": 1, "dropout": 0.015}
    model = masked_lm(submission, draw, **sizes)
    model.train()
    expect_dropped_apart(lambda tokens: scores(model, tokens).actual, real_tokens(draw)[0, :1].expand(4))
    # What makes a feature of a sublayer's output gets no gradient where that feature is dropped.
    model = masked_lm(submission, draw, d_model=16, num_heads=2, dropout=0.5)
    model.train()
    model(real_tokens(draw, 1, 1)).sum().backward()
    with torch.no_grad():
        found = [one.grad for _, one in model.named_parameters()]
    makers = [one.view(16, -1) for one in found if one is not None and one.shape[:1] == (16,)]
    if not any(0 < int((one == 0).all(dim=1).sum()) < 16 for one in makers):
        fail("no dropout in the encoder  every feature of each sublayer's output is kept, at dropout=0.5")


@check(aspect="arguments", follows=[test_shapes, test_padding, test_dropout])
def test_model_promises(submission, draw):
    """however a model is called, what it returns is that of these tokens and of its state_dict

    > it computes in the dtype of its parameters
    > Arguments are left as they were and need not be contiguous in memory.
    > Nothing is kept from one call to the next.
    """
    made, tokens = {"vocab_size": WORDS, **SMALL, "max_len": 66}, real_tokens(draw, 2, 66)
    tokens[0, 40:] = 0
    for name, output, axes in (("MaskedLM.body", "body", BODY), ("MaskedLM", "logits", LOGITS)):
        part = Part(name, made, [output], [axes], [torch.float64, torch.bfloat16])
        part.expect(submission, None, draw, [{"tokens": tokens}])


@check(aspect="arguments", follows=[test_shapes, test_hide_shapes, test_dropout])
def test_defaults(submission, draw):
    """the defaults are those of the stub: a rate of 0.15, no special tokens, 64 columns, 4 heads, 2 layers and so on

    > rate: float = 0.15,
    > max_len: int = 128,
    > pad_id: int = 0,
    """
    tokens = text(draw, 8, 40)
    said, unsaid = (
        submission.hide(tokens=tokens, mask_id=MASK, vocab_size=VOCAB, generator=generator(1), **options)
        for options in ({"special_ids": (), "rate": 0.15}, {})
    )
    fingerprint_facts(submission, hide=alike(said, unsaid))
    for place, name in enumerate(("inputs", "targets")):
        one, other = (expect(found, "what hide returns").is_tuple(2)[place] for found in (said, unsaid))
        expect(other, name, axes=TEXT).same_as(one, name="that of special_ids=(), rate=0.15")
    said, unsaid = submission.MaskedLM(WORDS, 64, 4, 128, 2, 128, 0, 0.0), submission.MaskedLM(WORDS)
    tokens = draw.integers(0, WORDS, batch=2, time=128)
    fingerprint_facts(submission, model="loads what the stub's sizes make")
    said.load_state_dict(unsaid.state_dict())
    with torch.no_grad():  # in train mode: nothing is dropped by default
        one, other = said.to(draw.device)(tokens), unsaid.to(draw.device)(tokens)
    fingerprint_facts(submission, model="the same" if equal(one, other) else "another")
    expect(other, "logits of MaskedLM(23)", axes=LOGITS).same_as(
        one, name="MaskedLM(23, 64, 4, 128, 2, 128, 0, 0.0) with the same parameters"
    )


@check(aspect="scratch")
def test_from_scratch(submission, draw):
    """built from the given blocks, without torch's own transformer

    > An encoder over tokens and positions
    """
    model = masked_lm(submission, draw)
    with precondition("a text must be read"):
        scores(model, real_tokens(draw))
    expect_from_scratch(submission)


STEPS, WANTED = 200, 1.6


@check(
    aspect="learning",
    trained=True,
    points=3,
    needs=test_hide_targets,
    follows=[test_shapes, test_hide_shapes],
)
def test_learning(submission, draw):
    """trained for 200 steps, it finds hidden words with a loss of at most 1.6; their counts alone reach 3.2

    > On one hidden word in each of 400 new sentences its loss then has to be at most 1.6.
    """
    train, test = (
        harbor.sentences(2000, draw.size(0, 1 << 20)),
        harbor.sentences(400, (1 << 21) + draw.size(0, 1 << 20)),
    )
    model = submission.MaskedLM(len(harbor.WORDS), d_model=32, num_heads=4, d_ff=64, num_layers=2, max_len=12)
    model.to(draw.device)
    given_module(submission, "probes").pretrain(
        model, submission.hide, train.to(draw.device), steps=STEPS, seed=draw.size(0, 1 << 20)
    )
    model.eval()
    # The grader hides for itself: one word of each sentence.
    place = torch.tensor(
        [int(torch.randint(1, int((row != 0).sum()), (), generator=draw.generator)) for row in test]
    )
    rows = torch.arange(len(test))
    inputs = test.clone()
    inputs[rows, place] = harbor.MASK
    logits = scores(model, inputs.to(draw.device), "logits", len(harbor.WORDS)).actual.cpu()[rows, place]
    loss = float(torch.nn.functional.cross_entropy(logits, test[rows, place]))
    if not loss <= WANTED:
        fail(
            f"too little learned  a loss of {loss:.2f} on hidden words after {STEPS} steps; want {WANTED}",
            "  3.7 is chance; 3.2 is what counts of words reach, without a look at the sentence",
        )
