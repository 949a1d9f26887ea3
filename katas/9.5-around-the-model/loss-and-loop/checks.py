"""Checks of 9.5.4. Losses are compared with torch's; a run that was cut, with one that never was."""

from __future__ import annotations

import torch

from grader.checks import (
    Expected,
    Part,
    callback,
    check,
    expect,
    expect_from_scratch,
    expect_gradients,
    expect_raises,
    expect_unchanged,
    fail,
    fingerprint_facts,
    given_module,
    new_worker,
    oracle,
    precondition,
    same_tensors,
    supposing,
)

FLOATS = [torch.float64, torch.bfloat16]
IGNORED = -100
FILE, CUT = "run.pt", "cut.pt"
WORDS, WIDTH = 7, 4
WORD = "gradients, and states after steps on drawn batches, are compared with those computed here or of an uncut run"
"""Why what models and runs of the helper return is enough."""


# --- what is right ---


def right_loss(logits, targets, ignore=IGNORED):
    counts = targets != ignore
    if not counts.any():
        return (logits * 0).sum()
    return -torch.log_softmax(logits, -1)[counts].gather(-1, targets[counts][:, None]).mean()


def right_batch(values, parts):
    """Return the mean loss of all parts together and its gradients, in float64."""
    leaves = [value.detach().cpu().double().requires_grad_() for value in values]
    logits = torch.cat([(leaves[0][x.cpu()] @ leaves[1]).flatten(0, -2) for x, _ in parts])
    loss = right_loss(logits, torch.cat([targets.cpu().flatten() for _, targets in parts]))
    loss.backward()
    return loss.item(), [leaf.grad for leaf in leaves]


# --- helpers ---


def generator(seed):
    return torch.Generator().manual_seed(seed)


def some_ignored(draw, targets, ignore=IGNORED):
    """Put `ignore` in some places: the first of all, and none in the last row, so that rows differ."""
    places = draw.mask(keep=0.4, row=len(targets), place=targets.shape[1])
    places[0, 0], places[0, 1], places[-1] = True, False, False
    return targets.masked_fill(places, ignore)


def drawn_windows(submission, tokens, length, batch, seed):
    """Draw windows; return where in the text, which has no token twice, the tokens of x and of y are."""
    found = submission.windows(tokens, length, generator(seed), batch)
    fingerprint_facts(submission, **facts(tokens, found))
    x, y = expect(found, "what windows returns").is_tuple(2)
    for value, name in ((x, "x"), (y, "y")):
        expect(value, name, axes="batch time").is_tensor(shape=(batch, length), dtype=torch.int64)
    return tuple(tokens.cpu().argsort()[value.cpu().clamp(0, len(tokens) - 1)] for value in (x, y))


def facts(tokens, found):
    """Tell what is true of windows wherever they begin: their forms, steps to the next token and from x to y."""
    if not (isinstance(found, tuple | list) and all(isinstance(part, torch.Tensor) for part in found)):
        return {"returned": type(found).__name__}
    forms = [f"{part.dtype} {list(part.shape)}" for part in found]
    if len(found) != 2 or any(part.dim() != 2 or part.is_floating_point() for part in found):
        return {"forms": forms}
    order = tokens.cpu().argsort()
    x, y = (order[part.cpu().clamp(0, len(tokens) - 1)] for part in found)
    steps = [(part[:, 1:] - part[:, :-1]).unique()[:3].tolist() for part in (x, y)]
    width = min(x.shape[1], y.shape[1])
    return {"forms": forms, "steps": steps, "shift": (y[:, :width] - x[:, :width]).unique()[:3].tolist()}


def parts_of_a_batch(draw, *counts):
    """Draw the parts of a batch, each of another size, with so many targets that count in each."""
    parts = []
    for place, count in enumerate(counts):
        x = draw.integers(0, WORDS, batch=1 + place % 3, time=7 - place % 3)
        targets = torch.full((x.numel(),), IGNORED, device=draw.device)
        targets[draw.permutation(x.numel())[:count]] = draw.integers(0, WORDS, place=count)
        parts.append((x, draw.noncontiguous(targets.view(x.shape))))
    return parts


def values_of(draw):
    return [draw.normal(word=WORDS, width=WIDTH), draw.normal(width=WIDTH, word=WORDS)]


def expect_accumulated(submission, draw, parts, said="", begin=None, train=True):
    """Compare what `accumulate` returns and leaves with what is right."""
    helper, values = helper_for(submission, "accumulate"), values_of(draw)
    model = helper.Model(*values)
    model.train(train)
    if begin is not None:
        model.begin_with(begin)
    found = submission.accumulate(model, parts, helper.mean_loss)
    expect_unchanged(submission)
    mean, gradients = right_batch(values, parts)
    left = model.gradients()
    expect(found, f"mean{said}").is_scalar(float)
    number(found, f"mean{said}", mean)
    for place, (name, wanted) in enumerate(zip(("table", "layer"), gradients, strict=True)):
        wanted = wanted if begin is None else wanted + begin[place].cpu()
        expect(left[place], f"gradient of the {name}{said}").close_to(Expected(wanted, 1e-5, torch.float32))
    return model


def number(found, name, wanted):
    """Compare a Python float with what is right."""
    right = Expected(torch.tensor(wanted, dtype=torch.float64), 1e-5, torch.float64)
    expect(torch.tensor(found, dtype=torch.float64), name).close_to(right)


def helper_for(submission, *names):
    """Return the helper in the worker of these names: what `log_softmax` may not use is there."""
    for name in names:
        getattr(submission, name)
    return given_module(submission, "runs")


def new_run(submission, draw, values=None, **options):
    """Put a run into the worker, whose calls are the learner's."""
    helper = helper_for(submission, "save", "load")
    return helper.Run(submission.save, submission.load, *(values or values_of(draw)), **options)


def expect_state(found, wanted, when):
    """Demand that a run goes on from exactly this."""
    for name, value in wanted.items():
        if name not in found:
            fail(f"nothing there  {name} {when}", stage="values")
        if name != "generator":
            expect(found[name], f"{name} {when}").equals(value.cpu())
        elif not torch.equal(found[name], value):
            fail(f"wrong state  of the generator {when}: it draws other batches", stage="values")


def expect_refused(submission, draw, run, what, path=CUT):
    """Demand that a run refuses a file, and is then what it was."""
    before = run.state()
    with expect_raises("ValueError", what):
        run.load(path)
    expect_state(run.state(), before, f"after a load that was refused: {what}")


# --- the loss ---


@check(aspect="values", points=2)
def test_log_softmax(submission, draw):
    """log_softmax is the logarithm of the softmax, along any axis

    > Return the logarithm of the softmax along an axis.
    > dim: the axis along which probabilities sum to 1.
    """
    x = draw.normal(batch=3, time=4, word=5)
    for options in ({}, {"dim": 0}, {"dim": 1}, {"dim": -2}):
        found = submission.log_softmax(x, **options)
        wanted = oracle(lambda x, dim=-1: torch.log_softmax(x, dim), x, *options.values())
        name = f"log-probabilities along axis {options.get('dim', -1)}"
        expect(found, name, axes="batch time word").close_to(wanted)


@check(aspect="stability", points=1.5, follows=test_log_softmax)
def test_large_scores(submission, draw):
    """scores in the thousands give finite logarithms, -∞ stays -∞ and disturbs nothing else

    > finite wherever x is, -∞ where x is -∞.
    """
    for shift in (0.0, 2000.0, -2000.0):
        x = draw.normal(row=4, word=6, scale=1000.0, shift=shift)
        wanted = oracle(lambda x: torch.log_softmax(x, -1), x, also=(lambda x: x - x.logsumexp(-1, True),))
        expect(submission.log_softmax(x), "log-probabilities", axes="row word").close_to(wanted)
    x = draw.normal(row=3, word=6)
    x[:, 1], x[1, 4] = -torch.inf, -torch.inf
    x.requires_grad_()
    found = submission.log_softmax(x)
    expect(found, "log-probabilities", axes="row word").close_to(torch.log_softmax(x.detach(), -1))
    found.masked_fill(x.isinf(), 0).sum().backward()
    expect(x.grad, "gradient of scores, some of which are -∞", axes="row word").is_finite()


@check(aspect="values", points=2.5)
def test_cross_entropy(submission, draw):
    """cross_entropy is the mean of -log p(target) over all places

    > the mean of -log p(target).
    > `[..]` stands for any number of axes, also none.
    """
    for words, shape in (
        (5, {"batch": 3, "time": 4}), (4, {"time": 4}), (70, {"time": 3}), (6, {"group": 2, "batch": 3, "time": 66}),
        (3, {"batch": 1, "time": 1}), (5, {}),
    ):  # fmt: skip
        logits = draw.normal(**shape, word=words, scale=2.0)
        targets = draw.integers(0, words, **shape) if shape else torch.tensor(2, device=draw.device)
        found = submission.cross_entropy(logits, targets)
        wanted = oracle(right_loss, logits, targets)
        expect(found, f"loss of {len(shape)}-d targets").close_to(wanted)


@check(aspect="values", points=1.5, follows=test_cross_entropy)
def test_ignored(submission, draw):
    """what has the target `ignore` does not count, whether it is -100 or a word

    > the mean over the places that count.
    > It may also be one of the V words, such as that of padding.
    """
    for ignore in (IGNORED, 0, 4, -1, 50):
        logits = draw.normal(batch=3, time=5, word=6, scale=2.0)
        targets = draw.integers(0, 6, batch=3, time=5)
        targets = some_ignored(draw, torch.where(targets == ignore, 3, targets), ignore)
        options = {} if ignore == IGNORED else {"ignore": ignore}
        found = submission.cross_entropy(logits, targets, **options)
        wanted = oracle(right_loss, logits, targets, ignore)
        expect(found, f"loss where {ignore} does not count").close_to(wanted)


@check(aspect="stability", follows=test_ignored)
def test_nothing_counts(submission, draw):
    """where nothing counts the loss is 0, and so is its gradient

    > Where none does it is 0, and so is its gradient.
    """
    logits = draw.normal(batch=2, time=3, word=5, requires_grad=True)
    found = submission.cross_entropy(logits, draw.integers(0, 1, batch=2, time=3) + IGNORED)
    expect(found, "loss where nothing counts").close_to(torch.zeros(()))
    found.backward()
    expect(logits.grad, "gradient", axes="batch time word").equals(torch.zeros(2, 3, 5))


@check(aspect="errors")
def test_outside(submission, draw):
    """a target outside the table is a ValueError unless it is `ignore`

    > ValueError: a target that is not `ignore` is negative, or is not below V.
    """
    logits = draw.normal(batch=2, time=4, word=5)
    for bad, options in ((9, {}), (5, {}), (-1, {}), (IGNORED, {"ignore": 0})):
        targets = draw.integers(0, 5, batch=2, time=4)
        targets[1, 2] = bad
        with expect_raises("ValueError", f"target {bad} is outside a table of 5 words"):
            submission.cross_entropy(logits, targets, **options)


@check(aspect="gradient", follows=[test_cross_entropy, test_ignored])
def test_loss_gradients(submission, draw):
    """the gradient of the loss is p - 1 at the target and p elsewhere, divided by what counts; also of large logits

    > each logit gets p - y, divided by the number of targets that count
    """
    for scale in (2.0, 500.0):
        logits = draw.normal(batch=2, time=4, word=6, scale=scale, requires_grad=True)
        targets = some_ignored(draw, draw.integers(0, 6, batch=2, time=4))
        found = submission.cross_entropy(logits, targets)
        wanted = oracle(lambda logits, targets=targets: right_loss(logits, targets), logits)
        expect(found, "loss").close_to(wanted)
        expect_gradients(
            found, {"logits": logits}, draw, oracle=lambda logits, targets=targets: right_loss(logits, targets)
        )


@check(aspect="arguments", follows=[test_log_softmax, test_cross_entropy, test_ignored])
def test_loss_promises(submission, draw):
    """in every dtype, by name, in any memory order: the loss is that of these arguments, which stay as they were

    > Arguments are left as they were and need not be contiguous in memory.
    > A function of no module
    > returns the dtype of its inputs
    """
    Part("log_softmax", axes=["batch time word"], dtypes=FLOATS, outputs=["log-probabilities"]).expect(
        submission, lambda x, dim=-1: torch.log_softmax(x, dim), draw,
        [{"x": draw.normal(batch=3, time=4, word=5), "dim": 1}, {"x": draw.normal(batch=1, time=2, word=66)}],
    )  # fmt: skip
    targets = some_ignored(draw, draw.integers(0, 5, batch=3, time=4) // 2 * 2, 3)
    call = {"logits": draw.normal(batch=3, time=4, word=5), "targets": targets, "ignore": 3}
    Part("cross_entropy", outputs=["loss"], dtypes=FLOATS, rows=False).expect(submission, right_loss, draw, [call])


@check(aspect="scratch", points=0.5)
def test_scratch(submission, draw):
    """torch's own softmax, log-sum-exp and losses are not used

    > torch's own softmax, log-sum-exp and losses are what you are building
    """
    submission.log_softmax(draw.normal(row=2, word=3))
    submission.cross_entropy(draw.normal(row=2, word=3), draw.integers(0, 3, row=2))
    expect_from_scratch(submission)


# --- windows ---


@check(aspect="values", points=1.5)
def test_windows(submission, draw):
    """x holds pieces of the text, and y the token after each of x's

    > Each row of x is a piece of the text, and y holds the token after each of x's.
    """
    for size, length, batch in ((20, 6, 99), (9, 1, 40), (7, 6, 40), (90, 66, 99), (4, 3, 1)):
        tokens = draw.permutation(size).to(draw.device)
        x, y = drawn_windows(submission, tokens, length, batch, draw.size(0, 99))
        first = x[:, :1]
        if bool((first > size - length - 1).any()):
            fail(f"past the end  a window of {length} begins at {int(first.max())}, in a text of {size} tokens")
        expect(x, "places of x in the text", axes="batch time").equals(first + torch.arange(length))
        expect(y, "places of y in the text", axes="batch time").equals(first + torch.arange(length) + 1)


@check(aspect="values", points=1.5, follows=test_windows)
def test_beginnings(submission, draw):
    """all windows that fit are equally likely, the first and the last too, and each is drawn by itself

    > All
    pieces that fit are equally likely, the first and the last one too.
    > Each is drawn by itself, so a window may occur twice.
    """
    tokens, length, places, batch = draw.permutation(9).to(draw.device), 3, 6, 6000
    x, _ = drawn_windows(submission, tokens, length, batch, draw.size(0, 1 << 20))
    first = x[:, 0]
    steps = (first[1:] - first[:-1]) % places
    kinds = [torch.bincount(drawn, minlength=places) / len(drawn) for drawn in (first, steps)]
    seen = [[round(10 * float(share)) for share in kind] for kind in kinds]
    fingerprint_facts(submission, **facts(tokens, (tokens[x], tokens[x] * 0)), seen=seen)
    shares, next_ones = kinds
    for place, share in enumerate(shares.tolist()):
        if abs(share - 1 / places) > 0.03:
            fail(f"wrong share  {share:.0%} of the windows begin at place {place}; want about {1 / places:.0%}")
    if float((next_ones - 1 / places).abs().max()) > 0.03:
        fail(f"drawn together  a window begins {int(next_ones.argmax())} places after the one before it, "
             f"in {float(next_ones.max()):.0%} of all cases; want {1 / places:.0%}")  # fmt: skip


@check(aspect="arguments", follows=[test_windows, test_beginnings], on_workers_word=WORD)
def test_windows_generator(submission, draw):
    """windows are drawn from the generator and nothing else, anew at each call; tokens stay as they were

    > where each window begins is drawn from it, and nothing else is drawn.
    > Arguments are left as they were and need not be contiguous in memory.
    """
    helper, tokens = helper_for(submission, "windows"), draw.permutation(50).to(draw.device)

    def drawn(text, source):
        return expect(submission.windows(text, 4, source, 8), "what windows returns").is_tuple(2)[0]

    helper.seed(1)
    wanted, after = drawn(tokens, generator(3)), helper.draw()
    helper.seed(1)
    expect(after, "the next number of torch's global generator").is_value(helper.draw())
    source = helper.Source(3)
    first, again = (source.draw(submission.windows, tokens, 4, 8) for _ in range(2))
    expect(first, "windows with the same seed", axes="batch time").equals(wanted.cpu())
    expect(again, "windows of the next call", axes="batch time").differs_from(wanted, why="the generator went on")
    for text, what in ((tokens, "with the same seed"), (draw.noncontiguous(tokens), "of scattered tokens")):
        helper.seed(2)
        expect(drawn(text, generator(3)), f"windows {what}", axes="batch time").equals(wanted.cpu())
        expect_unchanged(submission)
    other = draw.permutation(50).to(draw.device)
    for text in (other, tokens):
        with same_tensors(submission):
            found = submission.windows(tokens=text, length=4, generator=generator(3), batch=8)
        places = tokens.cpu().argsort()[wanted.cpu()]
        expect(found[0], "windows of another text", axes="batch time").equals(text.cpu()[places])


@check(aspect="errors", on_workers_word=WORD)
def test_length(submission, draw):
    """a length for which there is no window is a ValueError, and nothing has been drawn

    > ValueError: length is below 1, or not below N. Nothing has been drawn then.
    """
    tokens, source = draw.integers(0, 9, time=6), helper_for(submission, "windows").Source(4)
    for length in (40, 6, 7, 0, -1):
        with expect_raises("ValueError", f"length {length} does not fit a text of 6 tokens"):
            source.draw(submission.windows, tokens, length, 3)
        if not torch.equal(source.state(), generator(4).get_state()):
            cause = "your windows are drawn before the length is refused; check it first"
            fail(f"drawn already  the generator went on, though length {length} was refused", cause=cause)


# --- accumulate ---


@check(aspect="values", points=3, on_workers_word=WORD)
def test_accumulate(submission, draw):
    """gradients and mean are those of the whole batch, whatever the size and padding of each part

    > The gradient of the whole batch's mean
    > They may differ in size, and in how many targets are
      -100: these do not count.
    """
    for counts in ((6, 1, 7), (5, 2), (4,)):
        expect_accumulated(submission, draw, parts_of_a_batch(draw, *counts), f" of {len(counts)} parts")


@check(aspect="stability", points=1.5, follows=test_accumulate, on_workers_word=WORD)
def test_empty_parts(submission, draw):
    """a part in which nothing counts changes nothing, and if nothing counts at all the mean is 0.0

    > If there are none it is 0.0, and no gradient
      changes.
    > where
      none does it may be NaN.
    """
    for counts in ((0, 5, 2), (3, 0, 0, 4), (0, 0)):
        expect_accumulated(submission, draw, parts_of_a_batch(draw, *counts), f", {counts} of the targets counting")


@check(aspect="gradient", follows=test_accumulate, on_workers_word=WORD)
def test_added(submission, draw):
    """gradients are added to those that are there, and the model stays in its mode, also if it raises

    > is added to each parameter's `.grad`, as `backward` does.
    > A function that is given a model leaves it in the mode in which it came
    """
    begin = values_of(draw)
    for train in (True, False):
        model = expect_accumulated(submission, draw, parts_of_a_batch(draw, 2, 5), ", added to another", begin, train)
        expect(model.training, "whether the model is in train mode").is_value(train)
    helper, values = helper_for(submission, "accumulate"), values_of(draw)
    for train in (True, False):
        model = helper.Model(*values, fails_at=2)
        model.train(train)
        with expect_raises("RuntimeError", "the model raises in its second pass"):
            submission.accumulate(model=model, batches=parts_of_a_batch(draw, 2, 5), loss=helper.mean_loss)
        expect(model.training, "whether the model is in train mode after it raised").is_value(train)


@check(aspect="values", follows=test_accumulate, on_workers_word=WORD)
def test_one_after_the_other(submission, draw):
    """each part goes through the model once, and backward before the next one begins

    > Every part goes
    through the model once, and its backward pass comes before the next part's forward pass.
    """
    passes = []
    helper = helper_for(submission, "accumulate")
    model = helper.Model(*values_of(draw), callback(passes.append))
    submission.accumulate(model, parts_of_a_batch(draw, 3, 5, 2), helper.mean_loss)
    expect(passes, "passes").is_value(["forward", "backward"] * 3)


# --- checkpoints ---


@check(aspect="values", points=3, on_workers_word=WORD)
def test_resumed(submission, draw):
    """a run that was cut goes on bit for bit as if it had never been

    > Read a checkpoint into model, optimizer and generator, which then go on as those that were saved, bit for bit.
    > the step that was saved, a Python int.
    """
    for kind in ("AdamW", "SGD with momentum"):
        cut, resumed = new_run(submission, draw, kind=kind, seed=5), new_run(submission, draw, kind=kind, seed=6)
        cut.train(3)
        cut.save(FILE, 3)
        cut.train(4)  # what the file holds is what was then
        resumed.train(1)
        expect(resumed.load(FILE), "step").is_value(3)
        resumed.train(4)
        expect_state(resumed.state(), cut.state(), f"at step 7, resumed at step 3, with {kind}")


@check(aspect="values", follows=test_resumed, on_workers_word=WORD)
def test_another_process(submission, draw):
    """the file holds all of it: another process goes on with nothing else

    > what `save` has written, in this process or in another.
    """
    cut = new_run(submission, draw, seed=8)
    cut.train(2)
    cut.save(FILE, 2, by_name=True)
    content = helper_for(submission, "save", "load").read(FILE)
    cut.train(3)
    wanted = cut.state()
    new_worker(submission)
    helper_for(submission, "save", "load").write(FILE, content)
    resumed = new_run(submission, draw, seed=9)
    expect(resumed.load(FILE, by_name=True), "step").is_value(2)
    resumed.train(3)
    expect_state(resumed.state(), wanted, "at step 5, resumed at step 2 in another process")


@check(aspect="errors", points=1.5, follows=test_resumed, on_workers_word=WORD)
def test_cut_off(submission, draw):
    """a file that is cut off, or is not a checkpoint, is a ValueError, and nothing has changed

    > ValueError: the file is cut off, or is not a checkpoint
    > Model, optimizer and generator are then exactly as they were.
    """
    helper, run = helper_for(submission, "save", "load"), new_run(submission, draw)
    run.train(2)
    run.save(FILE, 2)
    content = helper.read(FILE)
    run.train(1)
    for share in (0.1, 0.0, 0.5, 0.9):
        helper.write(CUT, content[: int(share * len(content))])
        expect_refused(submission, draw, run, f"the file has {share:.0%} of its bytes")
    helper.write(CUT, content[:-1])
    expect_refused(submission, draw, run, "the file lacks its last byte")
    helper.write(CUT, b"step 2 of 7, and no more than that")
    expect_refused(submission, draw, run, "the file is a text")
    helper.write_tensors(CUT, run.model.state_dict())
    expect_refused(submission, draw, run, "the file holds the parameters of a model, and nothing else")


@check(aspect="errors", points=1.5, follows=test_resumed, on_workers_word=WORD)
def test_another_model(submission, draw):
    """a checkpoint of another model, or of other groups, is a ValueError, and nothing has changed

    > it is that of another model, in which a name or a
      shape differs, or of an optimizer with other groups.
    > Model, optimizer and generator are then exactly as they were.
    """
    own = values_of(draw)
    wide = [draw.normal(word=WORDS, width=WIDTH), draw.normal(width=WIDTH, word=WORDS + 2)]
    for what, values, theirs, mine in (
        ("the layer has another shape", wide, {}, {}),
        ("the file has a parameter that the model lacks", None, {"rename": True}, {}),
        ("the model has a parameter that the file lacks", None, {}, {"rename": True}),
        ("the optimizer has one group, and the file two", None, {"groups": 2}, {}),
    ):
        other, run = new_run(submission, draw, values, seed=3, **theirs), new_run(submission, draw, own, **mine)
        other.train(2)
        other.save(FILE, 2)
        run.train(1)
        expect_refused(submission, draw, run, what, FILE)


@check(aspect="stability", points=1.5, follows=test_resumed, on_workers_word=WORD)
def test_full_disk(submission, draw):
    """a save that fails half-way raises, and the old file is still there, whole

    > If it fails half-way, or the process ends, what was at `path` before is still there, whole.
    """
    helper, run = helper_for(submission, "save", "load"), new_run(submission, draw)
    run.train(2)
    run.save(FILE, 2)
    before = helper.read(FILE)
    run.train(1)
    raised = run.save_on_a_full_disk(FILE, 3)
    if not raised:
        fail("raised nothing  save, on a disk that was full", stage="raises")
    expect(run.model.training, "whether the model is in train mode after save raised").is_value(True)
    with supposing("your new file is written in the place of the old one; write it under another name, then replace"):
        after = helper.read(FILE)
        if after != before:
            fail(f"old file lost  it had {len(before)} bytes, and has {len(after)} after a save that failed")
    run.save(FILE, 3)
    wanted = run.state()
    run.train(1)
    expect(run.load(FILE), "step of a file that replaced another").is_value(3)
    expect_state(run.state(), wanted, "after a file that replaced another")


@check(aspect="mode", follows=test_resumed, on_workers_word=WORD)
def test_left(submission, draw):
    """save and load leave all else as it was: modes, torch's global generator; save changes nothing at all

    > they stay as they are.
    > A function that is given a model leaves it in the mode in which it came
    """
    helper, run = helper_for(submission, "save", "load"), new_run(submission, draw)
    run.train(2)
    before = run.state()
    for train in (True, False):
        run.model.train(train)
        helper.seed(4)
        run.save(FILE, 0)
        expect_state(run.state(), before, "after save")
        expect(run.load(FILE), "step").is_value(0)
        after = helper.draw()
        helper.seed(4)
        expect(after, "the next number of torch's global generator").is_value(helper.draw())
        expect(run.model.training, "whether the model is in train mode after save and load").is_value(train)
        helper.write(CUT, b"nothing")
        with precondition("it must refuse a file that is not a checkpoint"), expect_raises("ValueError", "a text"):
            run.load(CUT)
        expect(run.model.training, "whether the model is in train mode after a refusal").is_value(train)
