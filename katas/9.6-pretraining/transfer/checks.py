"""Checks of 9.6.2. Heads are compared with F.linear in float64; what may learn is seen from the worker's side."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import (
    check,
    expect,
    expect_gradients,
    expect_raises,
    expect_unchanged,
    fail,
    given_module,
    oracle,
    presupposed,
)

TOKENS = "batch time"
D, LABELS, CLASSES = 6, 5, 4
SIZES = {"TokenHead": (D, LABELS), "SpanHead": (D,), "RegressionHead": (D,), "ClassHead": (D, CLASSES)}
"""What each head is built with."""
OUT = {"TokenHead": LABELS, "SpanHead": 2, "RegressionHead": 1, "ClassHead": CLASSES}


# --- the oracles ---


def mean(hidden, mask):
    """Return the mean over real tokens, row by row."""
    return torch.stack([row[real].mean(dim=0) for row, real in zip(hidden, mask, strict=True)])


# --- helpers ---


def fresh(submission, kind):
    return getattr(submission, kind)(*SIZES[kind])


def head_of(submission, draw, kind):
    """Build a head with drawn parameters; return it with its weight and bias."""
    head = fresh(submission, kind)
    head.to(draw.device)
    weight, bias = draw.normal(out=OUT[kind], width=D), draw.normal(out=OUT[kind])
    own = head.state_dict()
    for name, tensor in (("linear.weight", weight), ("linear.bias", bias)):
        if name not in own:
            fail(f"no parameter  {name}  it cannot be loaded", stage="names")
        if list(own[name].shape) != list(tensor.shape):
            fail(f"wrong size  {name}  is {list(own[name].shape)}; want {list(tensor.shape)}", stage="names")
    head.load_state_dict({"linear.weight": weight, "linear.bias": bias}, strict=False)
    head.eval()
    return head, weight, bias


def ragged(draw, batch=3, time=7):
    """Return hidden [B, T, D] and a mask with padding in front, between and behind."""
    hidden = draw.normal(batch=batch, time=time, width=D)
    mask = torch.ones(batch, time, dtype=torch.bool)
    mask[0, 5:], mask[1, :2], mask[2, 1:] = False, False, False
    return hidden, mask.to(draw.device)


def everything_real(hidden):
    return torch.ones(hidden.shape[:2], dtype=torch.bool, device=hidden.device)


# --- heads ---


@check(
    "labels [B, T, L], two scores [B, T], a number [B], classes [B, C]; one text of one token included",
    aspect="shape",
    points=1.5,
    asked=[
        "Return logits [B, T, L].",
        "each [B, T]: a softmax over T is to choose.",
        "Return [B].",
        "Return logits [B, C].",
    ],
)
def test_head_shapes(submission, draw):
    for batch, time in ((3, 7), (1, 1)):
        hidden = draw.normal(batch=batch, time=time, width=D)
        mask = everything_real(hidden)
        shapes = {
            "TokenHead": (batch, time, LABELS),
            "RegressionHead": (batch,),
            "ClassHead": (batch, CLASSES),
        }
        for kind, shape in shapes.items():
            head = fresh(submission, kind)
            head.to(draw.device)
            expect(head(hidden, mask), f"what {kind} gives").is_tensor(shape=shape, dtype=torch.float32)
        head = fresh(submission, "SpanHead")
        head.to(draw.device)
        for part in expect(head(hidden, mask), "what SpanHead gives").is_tuple(2):
            expect(part, "beginnings or ends").is_tensor(shape=(batch, time), dtype=torch.float32)


@check(
    "each head has one linear layer, with a bias, and no other parameters",
    aspect="parameters",
    points=1.5,
    asked=["nn.Linear from D to L, with a bias; all there is.", "nn.Linear from D to 2, with a bias"],
)
def test_head_parameters(submission):
    for kind in SIZES:
        with torch.no_grad():
            found = dict(fresh(submission, kind).named_parameters())
        expect(list(found), f"parameters of {kind}").has_names(["linear.weight", "linear.bias"])
        expect(list(found["linear.weight"].shape), f"linear.weight of {kind}").is_value([OUT[kind], D])


@check(
    "a token's labels come from its own vector",
    aspect="values",
    points=2,
    follows=["test_head_shapes", "test_head_parameters"],
    asked="Label each token by its own vector.",
)
def test_token_head(submission, draw):
    head, weight, bias = head_of(submission, draw, "TokenHead")
    hidden, mask = ragged(draw)
    found = expect(head(hidden, mask)[mask], "logits of real tokens", axes="token label")
    found.close_to(oracle(lambda h, w, b: F.linear(h[mask.cpu()], w, b), hidden, weight, bias))


@check(
    "the first score is that of beginnings, the second that of ends",
    aspect="values",
    points=2,
    follows=["test_head_shapes", "test_head_parameters"],
    asked="its first row scores beginnings, its second ends.",
)
def test_span_head(submission, draw):
    head, weight, bias = head_of(submission, draw, "SpanHead")
    hidden = draw.normal(batch=2, time=5, width=D)
    parts = expect(head(hidden, everything_real(hidden)), "what SpanHead gives").is_tuple(2)
    for place, name in enumerate(("beginnings", "ends")):
        wanted = oracle(lambda h, w, b, i=place: F.linear(h, w, b)[..., i], hidden, weight, bias)
        expect(parts[place], name, axes=TOKENS).close_to(wanted)


@check(
    "no span begins or ends in padding",
    aspect="masks",
    points=2,
    follows=["test_span_head"],
    asked="Padding has -inf.",
)
def test_span_padding(submission, draw):
    head, _, _ = head_of(submission, draw, "SpanHead")
    hidden, mask = ragged(draw)
    for found, name in zip(
        expect(head(hidden, mask), "what SpanHead gives").is_tuple(2), ("beginnings", "ends"), strict=True
    ):
        with torch.no_grad():
            padding = found[~mask]
        expect(padding, f"{name} at padding", axes="token").equals(torch.full_like(padding, -torch.inf))
        expect(found[mask], f"{name} at real tokens", axes="token").is_finite()


@check(
    "a class comes from the mean over real tokens",
    aspect="values",
    points=3.5,
    follows=["test_head_shapes", "test_head_parameters"],
    asked="Name a text's class, from the mean of its real tokens' vectors.",
)
def test_class_head(submission, draw):
    head, weight, bias = head_of(submission, draw, "ClassHead")
    hidden, mask = ragged(draw)
    wanted = oracle(lambda h, w, b: F.linear(mean(h, mask.cpu()), w, b), hidden, weight, bias)
    expect(head(hidden, mask), "logits", axes="batch class").close_to(wanted)


@check(
    "a number comes from the mean over real tokens",
    aspect="values",
    points=2,
    follows=["test_head_shapes", "test_head_parameters"],
    asked="Give a number for a text, from the mean of its real tokens' vectors.",
)
def test_regression_head(submission, draw):
    head, weight, bias = head_of(submission, draw, "RegressionHead")
    hidden, mask = ragged(draw)
    wanted = oracle(lambda h, w, b: F.linear(mean(h, mask.cpu()), w, b).squeeze(-1), hidden, weight, bias)
    expect(head(hidden, mask), "numbers", axes="batch").close_to(wanted)


@check(
    "gradients go through the heads to the hidden vectors, and to no padding",
    aspect="gradient",
    points=2,
    follows=["test_class_head", "test_span_head"],
    asked="gradients reach the hidden vectors",
)
def test_head_gradients(submission, draw):
    mask = ragged(draw)[1]
    hidden = draw.normal(batch=3, time=7, width=D, requires_grad=True)
    head, weight, bias = head_of(submission, draw, "ClassHead")
    expect_gradients(
        head(hidden, mask),
        {"hidden": hidden},
        draw,
        oracle=lambda h: F.linear(mean(h, mask.cpu()), weight.cpu().to(h), bias.cpu().to(h)),
    )
    hidden = draw.normal(batch=3, time=7, width=D, requires_grad=True)
    head, weight, bias = head_of(submission, draw, "SpanHead")
    start, end = expect(head(hidden, mask), "what SpanHead gives").is_tuple(2)
    expect_gradients(
        (start[mask], end[mask]),
        {"hidden": hidden},
        draw,
        oracle=lambda h: F.linear(h, weight.cpu().to(h), bias.cpu().to(h))[mask.cpu()].unbind(-1),
        names=("beginnings", "ends"),
    )


@check(
    "hidden and mask are left as they were, in memory as they come, and results have the head's dtype",
    aspect="arguments",
    points=1.5,
    follows=["test_class_head", "test_span_head", "test_regression_head"],
    asked=["Arguments are left as they were and need not be contiguous in memory", "of the module's dtype"],
)
def test_head_arguments(submission, draw):
    for kind in SIZES:
        head, _, _ = head_of(submission, draw, kind)
        hidden, mask = ragged(draw)
        found = head(hidden, mask)
        expect_unchanged(submission)
        again = head(draw.noncontiguous(hidden), draw.noncontiguous(mask))
        expect_unchanged(submission)
        with presupposed(f"{kind} must return tensors"):
            parts = (found, again) if kind != "SpanHead" else (found[0], again[0])
        real = parts[0][mask] if kind in ("TokenHead", "SpanHead") else parts[0]
        scattered = parts[1][mask] if kind in ("TokenHead", "SpanHead") else parts[1]
        expect(scattered, f"what {kind} gives").same_as(real, name="that for contiguous tensors")
        head.double()
        wide = head(hidden.double(), mask)
        wide = wide[0] if kind == "SpanHead" else wide
        expect(wide, f"what {kind} gives in float64").is_tensor(dtype=torch.float64)


# --- freeze ---


@check(
    "no parameter of a frozen module learns, however deep inside",
    aspect="gradient",
    points=2,
    asked="Let no parameter of the module learn any more.",
)
def test_freeze(submission):
    probes = given_module(submission, "probes")
    module = probes.WithBuffer(4)
    other = probes.layers(2, 4)
    submission.freeze(module)
    probes.modes(module)  # judged below; seen here, it tells eval mode from nothing at all
    expect(probes.learns(module), "whether parameters take gradients").is_value([False] * 7)
    expect(probes.learns(other), "whether those of another module do").is_value([True] * 4)


@check(
    "freezing changes no number and no mode, and lets gradients through",
    aspect="mode",
    points=2,
    follows=["test_freeze"],
    asked=[
        "Gradients still pass through to what lies before it.",
        "Its numbers stay as they are, and so do train and eval mode",
    ],
)
def test_freeze_leaves(submission, draw):
    probes = given_module(submission, "probes")
    for training in (True, False):
        module = probes.WithBuffer(4)
        module.to(draw.device)
        module.train(training)
        before = probes.held(module)
        submission.freeze(module)
        expect(probes.modes(module), "train mode, module by module").is_value([training] * 6)
        for number, (old, now) in enumerate(zip(before, probes.held(module), strict=True)):
            expect(now, f"tensor {number} of the module").equals(old)
        x = draw.normal(batch=3, width=4, requires_grad=True)
        found = module(x)
        if not found.requires_grad:
            fail(
                "cut off  what a frozen module gives has no gradient with respect to what went in",
                "  layers in front of it could not learn: only its own parameters stand still",
                stage="gradient",
            )


# --- layerwise_groups ---


@check(
    "a group for each layer, in order, and every parameter in its own",
    aspect="values",
    points=2,
    asked="One group for each layer, in their order",
)
def test_groups(submission):
    probes = given_module(submission, "probes")
    stack = probes.layers(4, 3)
    found = probes.facts(submission.layerwise_groups, stack, 0.1, 0.5)
    names = [names for _, names in found]
    expect(names, "parameters, group by group").is_value([[f"{i}.bias", f"{i}.weight"] for i in range(4)])


@check(
    "the last layer learns at lr, each earlier one at decay times the rate behind it",
    aspect="values",
    points=2,
    follows=["test_groups"],
    asked="of the last layer; each earlier one has `decay` times the rate of the one behind it.",
)
def test_rates(submission):
    probes = given_module(submission, "probes")
    for count, lr, decay in ((4, 0.1, 0.5), (3, 2e-5, 0.95), (1, 0.3, 0.1)):
        stack = probes.layers(count, 3)
        rates = torch.tensor(
            [rate for rate, _ in probes.facts(submission.layerwise_groups, stack, lr, decay)]
        )
        wanted = torch.tensor([lr * decay ** (count - 1 - i) for i in range(count)])
        expect(rates, "rates, group by group", axes="layer").close_to(wanted, 1e-6 * lr)


@check(
    "an optimizer takes the groups as they are, and moves each layer at its rate",
    aspect="values",
    points=1.5,
    follows=["test_rates"],
    asked="Make a group of parameters for each layer, as torch.optim takes them",
)
def test_groups_step(submission, draw):
    probes = given_module(submission, "probes")
    stack = probes.layers(3, 4)
    stack.to(draw.device)
    moved = probes.moved_by_a_step(
        submission.layerwise_groups, stack, 0.2, 0.5, draw.normal(batch=5, width=4)
    )
    expect(torch.tensor(moved), "rate that each layer moved at", axes="layer").close_to(
        torch.tensor([0.05, 0.1, 0.2]), 1e-4
    )


# --- MultiTask ---


def tasks(submission, draw):
    """Build a body and heads of all kinds, and the model of them."""
    probes = given_module(submission, "probes")
    body = probes.Body(20, D, 3)
    heads = {
        "tags": submission.TokenHead(D, LABELS),
        "span": submission.SpanHead(D),
        "degree": submission.RegressionHead(D),
        "topic": submission.ClassHead(D, CLASSES),
    }
    model = submission.MultiTask(body, heads)
    model.to(draw.device)
    model.eval()
    return model, body, heads


def texts(draw, batch=3, time=6):
    tokens = draw.integers(4, 20, batch=batch, time=time)
    tokens[0, 4:], tokens[1, :2] = 3, 3  # padding is what body.pad_id says; 0 is a word like others
    tokens[2, :3] = 0
    return tokens


@check(
    "a task's answer is its own head's, of the body's vectors and the mask of real tokens",
    aspect="values",
    points=2.5,
    follows=["test_head_shapes"],
    asked="Return what the task's head gives for the body's hidden and the mask of real tokens.",
)
def test_multi_task(submission, draw):
    model, body, heads = tasks(submission, draw)
    tokens = texts(draw)
    mask = tokens != 3
    with torch.no_grad():
        hidden = body(tokens)
        for task, head in heads.items():
            found, wanted = model(tokens, task), head(hidden, mask)
            if task == "span":
                found = expect(found, "answer of span").is_tuple(2)[0]
                wanted = wanted[0]
            if task in ("tags", "span"):
                found, wanted = found[mask], wanted[mask]
            expect(found, f"answer of {task}").same_as(wanted, name="the head's own")


@check(
    "the model holds the very body and heads that it was given, and no other parameters",
    aspect="parameters",
    points=1.5,
    asked=[
        "the body, the same object.",
        "the same objects: together with the body's, their parameters are all there",
    ],
)
def test_multi_task_parameters(submission, draw):
    model, body, heads = tasks(submission, draw)
    with torch.no_grad():
        found = [name for name, _ in model.named_parameters()]
        wanted = [f"body.{name}" for name, _ in body.named_parameters()]
        for task, head in heads.items():
            wanted += [f"heads.{task}.{name}" for name, _ in head.named_parameters()]
    expect(found, "parameters").has_names(wanted)
    same = given_module(submission, "probes").same_objects(model, body, heads)
    expect(same, "whether body and heads are the objects that were given").is_value(True)


@check(
    "a task teaches the body and its own head, and leaves the other heads alone",
    aspect="gradient",
    points=1.5,
    follows=["test_multi_task", "test_multi_task_parameters"],
    asked="One body and a head for each task.",
)
def test_multi_task_gradients(submission, draw):
    model, _, heads = tasks(submission, draw)
    probes = given_module(submission, "probes")
    for task in heads:
        reached = probes.gradients_reach(model, texts(draw), task)
        expect(reached, f"what learns from {task}").is_value(["body", f"heads.{task}"])


@check(
    "a task that there is no head for is a ValueError",
    aspect="errors",
    points=1,
    asked="ValueError: there is no such task.",
)
def test_unknown_task(submission, draw):
    model, _, _ = tasks(submission, draw)
    for task in ("summary", ""):
        with expect_raises("ValueError", what=f"no head is called {task!r}"):
            model(texts(draw), task)
