"""Checks of 9.6.2. Expected values are computed in float64: heads by F.linear, what learns by taking the same step."""

from __future__ import annotations

import runpy
from functools import partial
from pathlib import Path

import torch
from torch.func import functional_call
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_raises,
    fail,
    fingerprint_facts,
    given_module,
    load_parameters,
    oracle,
    oracle_gradients,
    precondition,
)

PROBES = runpy.run_path(str(Path(__file__).with_name("probes.py")))
"""The modules that are in the worker, to compute with here."""
TOKENS = "batch time"
D, LABELS, CLASSES = 6, 5, 4
DTYPES = (torch.float64, torch.bfloat16)
SIZES = {
    "TokenHead": {"d_model": D, "num_labels": LABELS}, "SpanHead": {"d_model": D},
    "RegressionHead": {"d_model": D}, "ClassHead": {"d_model": D, "num_classes": CLASSES},
}  # fmt: skip
"""What each head is built with."""
OUTPUTS = {
    "TokenHead": {"logits": "batch time label"}, "SpanHead": {"beginnings": TOKENS, "ends": TOKENS},
    "RegressionHead": {"numbers": "batch"}, "ClassHead": {"logits": "batch class"},
}  # fmt: skip
"""What each head returns, and the axes of that."""
OUT = {"TokenHead": LABELS, "SpanHead": 2, "RegressionHead": 1, "ClassHead": CLASSES}


# --- the oracles ---


def mean(hidden, mask):
    """Return the mean over real tokens, row by row."""
    return torch.stack([row[real].mean(dim=0) for row, real in zip(hidden, mask, strict=True)])


def linear(state, x):
    return F.linear(x, state["linear.weight"], state["linear.bias"])


RIGHT = {
    "TokenHead": lambda state, hidden, mask: linear(state, hidden),
    "SpanHead": lambda state, hidden, mask: (
        linear(state, hidden).masked_fill(~mask[..., None], -torch.inf).unbind(-1)
    ),
    "RegressionHead": lambda state, hidden, mask: linear(state, mean(hidden, mask)).squeeze(-1),
    "ClassHead": lambda state, hidden, mask: linear(state, mean(hidden, mask)),
}
"""What each head gives, with its parameters by name."""


# --- helpers ---


def moved(module, draw):
    """Move a module to the device of the draw; to ask for what holds already takes two calls."""
    if draw.device.type != "cpu":
        module.to(draw.device)


def fresh(submission, draw, kind):
    head = getattr(submission, kind)(*SIZES[kind].values())
    moved(head, draw)
    return head


def head_of(submission, draw, kind):
    """Build a head with drawn parameters; return it with them."""
    head = fresh(submission, draw, kind)
    state = {"linear.weight": draw.normal(out=OUT[kind], width=D), "linear.bias": draw.normal(out=OUT[kind])}
    load_parameters(head, state)
    head.eval()
    return head, state


def ragged(draw, batch=3, time=7):
    """Return hidden [B, T, D] and a mask with padding in front, between and at the end."""
    hidden = draw.normal(batch=batch, time=time, width=D)
    mask = torch.ones(batch, time, dtype=torch.bool)
    mask[0, 5:], mask[1:2, :2], mask[2:, 1:] = False, False, False
    return hidden, mask.to(draw.device)


def heads(submission, draw, kind):
    """Yield a head and its parameters, with hidden vectors and a mask of several sizes."""
    made = head_of(submission, draw, kind)
    for batch, time in ((3, 7), (1, 66), (1, 1)):
        yield *made, *ragged(draw, batch, time)


def part(kind, draw):
    """Return the contract of a head, the right function, and a call; what a TokenHead gives at padding is free."""
    hidden, mask = ragged(draw)
    call = {"hidden": hidden, "mask": mask | (kind == "TokenHead")}
    names, axes = zip(*OUTPUTS[kind].items(), strict=True)
    return Part(kind, SIZES[kind], names, axes, DTYPES, gradients=False), RIGHT[kind], call


def everything_real(hidden):
    return torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)


# --- heads ---


@check(aspect="shape", points=1.5)
def test_head_shapes(submission, draw):
    """labels [B, T, L], two scores [B, T], a number [B], classes [B, C]; for one text of one token as well

    > Return logits [B, T, L].
    > each [B, T], for a softmax over T.
    > Return [B].
    > Return logits [B, C].
    """
    for kind in SIZES:
        head = fresh(submission, draw, kind)
        for batch, time in ((3, 7), (1, 1)):
            hidden = draw.normal(batch=batch, time=time, width=D)
            found = head(hidden, everything_real(hidden))
            shape = {
                "TokenHead": (batch, time, LABELS), "SpanHead": (batch, time),
                "RegressionHead": (batch,), "ClassHead": (batch, CLASSES),
            }[kind]  # fmt: skip
            for one in expect(found, f"what {kind} gives").is_tuple(2) if kind == "SpanHead" else (found,):
                expect(one, f"what {kind} gives").is_tensor(shape=shape, dtype=torch.float32)
    hidden = draw.normal(batch=3, time=7, width=D)
    for kind, shape in (("TokenHead", (3, 7, 1)), ("ClassHead", (3, 1))):
        head = getattr(submission, kind)(D, 1)
        moved(head, draw)
        expect(head(hidden, everything_real(hidden)), f"what {kind}(.., 1) gives").is_tensor(shape=shape)


@check(aspect="parameters", points=1.5)
def test_head_parameters(submission, draw):
    """each head has one linear layer, with a bias, and no other parameters

    > nn.Linear from D to L, with a bias; there are no other parameters.
    > nn.Linear from D to 2, with a bias
    """
    for kind in SIZES:
        with torch.no_grad():
            found = dict(fresh(submission, draw, kind).named_parameters())
        expect(list(found), f"parameters of {kind}").has_names(["linear.weight", "linear.bias"])
        expect(list(found["linear.weight"].shape), f"linear.weight of {kind}").is_value([OUT[kind], D])


@check(aspect="values", points=2, follows=[test_head_shapes, test_head_parameters])
def test_token_head(submission, draw):
    """a token's labels come from its own vector

    > Label each token by its own vector.
    """
    for head, state, hidden, mask in heads(submission, draw, "TokenHead"):
        found = expect(head(hidden, mask)[mask], "logits of real tokens", axes="token label")
        found.close_to(oracle(lambda state, x, mask: linear(state, x)[mask], state, hidden, mask))


@check(aspect="values", points=2, follows=[test_head_shapes, test_head_parameters])
def test_span_head(submission, draw):
    """the first score is that of beginnings, the second that of ends

    > its first row scores beginnings, its second ends.
    """
    for head, state, hidden, _ in heads(submission, draw, "SpanHead"):
        parts = expect(head(hidden, everything_real(hidden)), "what SpanHead gives").is_tuple(2)
        for place, name in enumerate(("beginnings", "ends")):
            wanted = oracle(lambda *given, i=place: linear(*given)[..., i], state, hidden)
            expect(parts[place], name, axes=TOKENS).close_to(wanted)


@check(aspect="masks", points=2, follows=test_span_head)
def test_span_padding(submission, draw):
    """no span begins or ends in padding

    > Padding gets -inf.
    """
    head, _ = head_of(submission, draw, "SpanHead")
    hidden, mask = ragged(draw)
    for found, name in zip(
        expect(head(hidden, mask), "what SpanHead gives").is_tuple(2), ("beginnings", "ends"), strict=True
    ):
        with torch.no_grad():
            padding = found[~mask]
        expect(padding, f"{name} at padding", axes="token").equals(torch.full_like(padding, -torch.inf))
        expect(found[mask], f"{name} at real tokens", axes="token").is_finite()


@check(aspect="values", points=3.5, follows=[test_head_shapes, test_head_parameters])
def test_class_head(submission, draw):
    """a class comes from the mean over real tokens

    > Predict a text's class from the mean of its real tokens' vectors.
    """
    for head, state, hidden, mask in heads(submission, draw, "ClassHead"):
        wanted = oracle(RIGHT["ClassHead"], state, hidden, mask)
        expect(head(hidden, mask), "logits", axes="batch class").close_to(wanted)


@check(aspect="values", points=2, follows=[test_head_shapes, test_head_parameters])
def test_regression_head(submission, draw):
    """a number comes from the mean over real tokens

    > Predict a number for a text from the mean of its real tokens' vectors.
    """
    for head, state, hidden, mask in heads(submission, draw, "RegressionHead"):
        wanted = oracle(RIGHT["RegressionHead"], state, hidden, mask)
        expect(head(hidden, mask), "numbers", axes="batch").close_to(wanted)


@check(
    aspect="gradient",
    points=2,
    follows=[test_token_head, test_class_head, test_span_head, test_regression_head],
)
def test_head_gradients(submission, draw):
    """gradients go through the heads to the hidden vectors, but not to padding

    > gradients reach the hidden vectors
    """
    for kind in SIZES:
        contract, right, call = part(kind, draw)
        contract.expect_gradients(submission, right, draw, [call])


@check(
    aspect="arguments",
    points=1.5,
    follows=[test_token_head, test_class_head, test_span_head, test_span_padding, test_regression_head],
)
def test_head_promises(submission, draw):
    """however a head is called, its result is that of these arguments and parameters, which it leaves as they were

    > Arguments are left as they were and need not be contiguous in memory
    > Results are of the module's dtype, and computed in it.
    """
    for kind in SIZES:
        contract, right, call = part(kind, draw)
        contract.expect(submission, right, draw, [call])


# --- modules in the worker ---


def drawn_state(draw, module):
    """Draw numbers for everything that a module holds."""
    return {
        name: draw.normal(**{f"axis{place}": size for place, size in enumerate(tensor.shape)}, scale=0.7)
        for name, tensor in module.state_dict().items()
    }


def brought(submission, draw, kind, *sizes):
    """Make a module of `probes` in the worker, with drawn numbers; return it, its numbers and a twin of it here."""
    module, twin = getattr(given_module(submission, "probes"), kind)(*sizes), PROBES[kind](*sizes)
    state = drawn_state(draw, twin)
    module.load_state_dict(state)
    moved(module, draw)
    return module, state, twin


def after_a_step(loss, rates, state, *others):
    """Return what a step of SGD makes of numbers, each with a rate of its own, the loss being loss(state, *others)."""

    def step(numbers, *others):
        with torch.enable_grad():
            leaves = {name: value.detach().clone().requires_grad_() for name, value in numbers.items()}
            slopes = torch.autograd.grad(loss(leaves, *others), list(leaves.values()), materialize_grads=True)
        return tuple(leaves[name] - rates[name] * slope for name, slope in zip(leaves, slopes, strict=True))

    return dict(zip(state, oracle(step, state, *others), strict=True))


# --- freeze ---


def computes(twin, training):
    """Return what a Nested with given numbers computes in train or in eval mode."""
    return lambda state, x: functional_call(twin.train(training), state, (x,))


def shown_mode(found, twin, state, x):
    """Return the mode that the output of a Nested comes from, or "another" when it is none of both."""
    for training, name in ((True, "train mode"), (False, "eval mode")):
        with torch.no_grad():
            wanted = computes(twin, training)({n: value.cpu() for n, value in state.items()}, x.cpu())
        if torch.allclose(found.detach().cpu(), wanted, atol=1e-4):
            return name
    return "another"


@check(
    aspect="gradient",
    points=2,
    on_workers_word="a layer after the module has to learn from drawn numbers as one computed here does",
)
def test_freeze(submission, draw):
    """no parameter of a frozen module trains, however deep inside

    > Make sure that no parameter of the module trains any more.
    """
    module, state, twin = brought(submission, draw, "Nested", 4, 3)
    layer, numbers, behind = brought(submission, draw, "Nested", 4, 1)
    x = draw.normal(batch=5, width=4)
    submission.freeze(module)
    mode = shown_mode(
        module(x), twin, state, x
    )  # judged below; known here, it tells eval mode from nothing at all
    module.eval()
    before = module.state_dict()
    given_module(submission, "probes").train([module, layer], x)
    after = module.state_dict()
    moved = [name for name, old in before.items() if not torch.equal(after[name], old)]
    fingerprint_facts(submission, moved=moved, mode=mode)
    if moved:
        fail(
            f"still learns  {moved[0]} moved in a step of training",
            f"  {len(moved)} of {len(list(twin.parameters()))} parameters of the frozen module did; want none",
            stage="gradient",
        )

    def loss(own, frozen, x):
        parts = (computes(twin, False), frozen), (computes(behind, True), own)
        return PROBES["through"]([partial(*part) for part in parts], x).square().sum()

    wanted = after_a_step(loss, dict.fromkeys(numbers, 0.1), numbers, before, x)
    for name, found in layer.state_dict().items():
        expect(found, f"{name} of a layer that follows the module, after a step").close_to(wanted[name])


@check(
    aspect="mode",
    points=2,
    follows=test_freeze,
    on_workers_word="what the module gives for drawn inputs, and its gradients, are computed here as well",
)
def test_freeze_leaves(submission, draw):
    """freezing changes no value and no mode, and lets gradients pass through

    > Gradients still pass through to what lies before it.
    > Its numbers stay as they are, and so do train and eval mode
    """
    for training in (True, False):
        module, state, twin = brought(submission, draw, "Nested", 4, 3)
        module.train(training)
        submission.freeze(module=module)
        for name, now in module.state_dict().items():
            expect(now, f"{name} of the module").equals(state[name])
        x = draw.normal(batch=3, width=4, requires_grad=True)
        found = module(x)
        mode = "train mode" if training else "eval mode"
        shown = shown_mode(found, twin, state, x.detach())
        fingerprint_facts(submission, mode=mode, shown=shown, passes=found.requires_grad)
        if shown not in (mode, "another"):
            fail(f"wrong mode  a module in {mode} computes in {shown} once it is frozen", stage="mode")
        if not found.requires_grad:
            fail(
                "cut off  the output of a frozen module has no gradient with respect to its input",
                "  layers before it could not train: only the module's own parameters are frozen",
                stage="gradient",
            )
        right = computes(twin, training)
        expect(found, f"output of a frozen module in {mode}").close_to(oracle(right, state, x))
        slope = oracle_gradients(
            lambda x, *values, right=right, names=tuple(state): right(
                dict(zip(names, values, strict=True)), x
            ),
            {"x": x, **state},
            cotangent := draw.like(found),
        )["x"]
        (found * cotangent).sum().backward()
        expect(x.grad, "gradient of the module's input").close_to(slope)


# --- layerwise_groups ---


def is_parameter(found, value):
    """Tell whether something is a parameter of these numbers; a copy that was detached does not learn."""
    return (
        isinstance(found, torch.Tensor)
        and found.requires_grad
        and torch.equal(found.detach().cpu(), value.cpu())
    )


@check(aspect="values", points=2)
def test_groups(submission, draw):
    """one group for each layer, in order, with all of its parameters

    > One group for each layer, in their order
    """
    stack, state, _ = brought(submission, draw, "layers", 4, 66)
    found = []
    # Parameters are recognised by their numbers, which are drawn.
    for group in submission.layerwise_groups(stack, 0.1, 0.5):
        names = (
            next((name for name, value in state.items() if is_parameter(each, value)), "unknown")
            for each in group["params"]
        )
        found.append(sorted(names))
    expect(found, "parameters, group by group").is_value([[f"{i}.bias", f"{i}.weight"] for i in range(4)])


@check(aspect="values", points=2, follows=test_groups)
def test_rates(submission, draw):
    """the last layer learns at lr, each earlier one at decay times the rate after it

    > of the last layer; each earlier one has `decay` times the rate of the one after it.
    """
    for count, lr, decay in ((4, 0.1, 0.5), (3, 2e-5, 0.95), (1, 0.3, 0.1)):
        stack, *_ = brought(submission, draw, "layers", count, 3)
        layers = tuple(stack[place] for place in range(count))
        groups = submission.layerwise_groups(layers=layers, lr=lr, decay=decay)
        rates = torch.tensor([float(group["lr"]) for group in groups])
        wanted = torch.tensor([lr * decay ** (count - 1 - i) for i in range(count)])
        expect(rates, "rates, group by group", axes="layer").close_to(wanted, 1e-6 * lr)


@check(
    aspect="values",
    points=1.5,
    follows=test_rates,
    on_workers_word="the layers have to move from drawn numbers as in a step that is computed here",
)
def test_groups_step(submission, draw):
    """an optimizer takes the groups as they are, and updates each layer at its own rate

    > Make a group of parameters for each layer, in torch.optim's format
    > A function that is given a model leaves it in the mode in which it came
    """
    stack, state, _ = brought(submission, draw, "layers", 3, 4)
    x = draw.normal(batch=5, width=4)
    given_module(submission, "probes").train(stack, x, submission.layerwise_groups, 0.2, 0.5)
    expect(stack.training, "training of the layers").is_value(True)
    rates = dict(zip(state, (0.05, 0.05, 0.1, 0.1, 0.2, 0.2), strict=True))

    def loss(numbers, x):
        for place in range(3):
            x = F.linear(x, numbers[f"{place}.weight"], numbers[f"{place}.bias"]).tanh()
        return x.square().sum()

    wanted = after_a_step(loss, rates, state, x)
    for name, found in stack.state_dict().items():
        expect(found, f"{name} after a step with rates 0.05, 0.1 and 0.2").close_to(wanted[name])


# --- MultiTask ---

TASKS = {"tags": 5, "span": 2, "degree": 1}
"""How many numbers the head of each task gives."""
TWINS = {"body": PROBES["Body"](20, D, 3).eval()}
TWINS |= {f"heads.{task}": PROBES["Head"](D, size) for task, size in TASKS.items()}


def tasks(submission, draw):
    """Build a body, heads and the model of them in the worker; return it, these parts, and their numbers by name."""
    made = {"body": brought(submission, draw, "Body", 20, D, 3)}
    made |= {f"heads.{task}": brought(submission, draw, "Head", D, size) for task, size in TASKS.items()}
    parts = {part: module for part, (module, _, _) in made.items()}
    numbers = {
        f"{part}.{name}": value for part, (_, state, _) in made.items() for name, value in state.items()
    }
    model = submission.MultiTask(parts["body"], {task: parts[f"heads.{task}"] for task in TASKS})
    moved(model, draw)
    model.eval()
    return model, parts, numbers


def part_of(numbers, part):
    return {
        name.removeprefix(f"{part}."): value for name, value in numbers.items() if name.startswith(f"{part}.")
    }


def answer(numbers, tokens, task):
    """Return what the head of a task gives."""
    head, tokens = f"heads.{task}", tokens.cpu()
    hidden = functional_call(TWINS["body"], part_of(numbers, "body"), (tokens,))
    return functional_call(TWINS[head], part_of(numbers, head), (hidden, tokens != 3))


def texts(draw, batch=3, time=6):
    tokens = draw.integers(4, 20, batch=batch, time=time)
    tokens[0, 4:], tokens[1:2, :2] = 3, 3  # padding is what body.pad_id says; 0 is a word like others
    tokens[2:, :3] = 0
    return tokens


@check(aspect="values", points=2)
def test_multi_task(submission, draw):
    """a task's output is that of its own head, given the body's vectors and the mask of real tokens

    > Return the output of the task's head for the body's hidden and the mask of real tokens.
    """
    model, _, numbers = tasks(submission, draw)
    for task, tokens in zip(TASKS, (texts(draw), texts(draw, 1, 66), texts(draw, 1, 1)), strict=True):
        with torch.no_grad():
            found = model(tokens, task)
        wanted = oracle(answer, numbers, tokens, task)
        expect(found, f"answer of {task}", axes="batch number").close_to(wanted)


@check(aspect="parameters", points=1.5)
def test_multi_task_parameters(submission, draw):
    """the model holds the very body and heads that it was given, and no other parameters

    > the body, the same object.
    > the same objects: together with the body's, their parameters are all there
    """
    model, parts, numbers = tasks(submission, draw)
    with torch.no_grad():
        found = [name for name, _ in model.named_parameters()]
    expect(found, "parameters").has_names(list(numbers))
    loaded = {}
    for part, module in parts.items():
        # Anyone who holds a copy does not see what is loaded into the part that was given.
        state = {name: draw.like(value) for name, value in part_of(numbers, part).items()}
        module.load_state_dict(state)
        loaded |= {f"{part}.{name}": value for name, value in state.items()}
    now = model.state_dict()
    copied = [name for name, value in loaded.items() if not torch.equal(now[name], value)]
    fingerprint_facts(submission, copied=copied)
    if copied:
        fail(
            f"a copy  {copied[0]} stays as it is when other numbers are loaded into the module that was given",
            "  the body and the heads must be the same objects: other tasks must see what one of them learns",
            stage="values",
        )


@check(aspect="gradient", follows=[test_multi_task, test_multi_task_parameters])
def test_multi_task_gradients(submission, draw):
    """a task trains the body and its own head, and leaves the other heads alone

    > One body and a head for each task.
    """
    model, parts, numbers = tasks(submission, draw)
    tokens = texts(draw)
    for task, size in TASKS.items():
        model.zero_grad()
        cotangent = draw.normal(batch=3, number=size)
        found = model(tokens, task)
        with precondition("its output must be a tensor of the head's shape"):
            expect(found, "answer").is_tensor(shape=(3, size))
        (found * cotangent).sum().backward()
        with torch.no_grad():
            named = dict(model.named_parameters())
            learning = [name for name, one in named.items() if one.requires_grad]
            slopes = {name: one.grad for name, one in named.items() if one.grad is not None}
        reached = [
            part for part in parts if any(bool(slope.any()) for slope in part_of(slopes, part).values())
        ]
        expect(reached, f"what learns from {task}").is_value(["body", f"heads.{task}"])
        # The other heads' turn comes, perhaps in the same step.
        expect(learning, f"parameters that may learn after {task}").has_names(list(numbers))


@check(aspect="arguments", follows=[test_multi_task, test_multi_task_gradients])
def test_multi_task_promises(submission, draw):
    """however the model is called, its answer is that of these tokens and parameters, which it leaves as they were

    > Return the output of the task's head for the body's hidden and the mask of real tokens.
    > Results are of the module's dtype, and computed in it.
    """
    _, parts, _ = tasks(submission, draw)
    made = {"body": parts["body"], "heads": {task: parts[f"heads.{task}"] for task in TASKS}}
    contract = Part("MultiTask", made, ["answer"], ["batch number"], DTYPES, gradients=False)
    contract.expect(submission, answer, draw, [{"tokens": texts(draw), "task": "tags"}])


@check(aspect="errors")
def test_unknown_task(submission, draw):
    """an unknown task raises ValueError

    > ValueError: there is no such task.
    """
    model, *_ = tasks(submission, draw)
    for task in ("summary", ""):
        with expect_raises("ValueError", what=f"no head is called {task!r}"):
            model(texts(draw), task)
