"""Hidden checks of 9.6.2: what is right only on the visible sizes, or remembers the call before, fails here."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import (
    Part,
    check,
    expect,
    expect_strict,
    expect_unchanged,
    given_module,
    oracle,
    same_tensors,
)

KINDS = {
    "TokenHead": (["labels"], {"num_labels": 9}),
    "SpanHead": (["beginnings", "ends"], {}),
    "RegressionHead": (["numbers"], {}),
    "ClassHead": (["logits"], {"num_classes": 17}),
}


@check(
    "heads keep their promises for any sizes and padding, in every dtype, however they are called",
    aspect="values",
    points=3,
    asked=[
        "All of it works for any sizes; gradients reach the hidden vectors.",
        "Results are of the module's dtype, and computed in it.",
        "from the mean of its real tokens' vectors.",
        "Label each token by its own vector.",
    ],
)
def test_heads_contract(submission, reference, draw):
    for kind, (outputs, sizes) in KINDS.items():
        part = Part(kind, {"d_model": 7} | sizes, outputs=outputs, dtypes=[torch.float64, torch.bfloat16])
        calls = []
        for batch, time in ((3, 5), (1, 70), (2, 1)):
            mask = draw.mask(batch=batch, time=time)
            # What a TokenHead gives at padding is free.
            mask = torch.ones_like(mask) if kind == "TokenHead" else mask
            calls.append({"hidden": draw.normal(batch=batch, time=time, width=7), "mask": mask})
        part.expect(submission, reference, draw, calls)


def drawn(draw, shapes):
    """Draw numbers for parameters of these shapes."""
    return {
        name: draw.normal(**{f"axis{place}": size for place, size in enumerate(shape)}, scale=0.7)
        for name, shape in shapes.items()
    }


BODY = {
    "embedding.weight": (70, 5), "linear.weight": (5, 5), "linear.bias": (5,), "norm.weight": (5,), "norm.bias": (5,)
}  # fmt: skip
LINEAR = {"weight": (3, 3), "bias": (3,)}
"""Parameters of the layers that the probes make: of a body, which has parts of its own, and of a linear layer."""


@check(
    "stacks of any depth, given as any sequence of modules of any make",
    aspect="values",
    points=2,
    asked=["One group for each layer, in their order", "Arguments are left as they were"],
    on_workers_word="whether a layer is in train mode can be read in the worker alone",
)
def test_any_stack(submission, draw):
    probes = given_module(submission, "probes")
    lr, decay = 1e-3, 0.7
    for count, shapes in ((7, LINEAR), (3, BODY), (12, LINEAR)):
        stack = probes.layers(count, 3) if shapes is LINEAR else [probes.Body(70, 5, 0) for _ in range(count)]
        state = [drawn(draw, shapes) for _ in range(count)]
        layers = [stack[place] for place in range(count)]
        for layer, own in zip(layers, state, strict=True):
            layer.load_state_dict(own)
        layers[0].requires_grad_(False)  # frozen for a while: its group is there when it learns again
        for given in (stack, tuple(layers)):
            groups = list(submission.layerwise_groups(layers=given, lr=lr, decay=decay))
            rates = torch.tensor([float(group["lr"]) for group in groups])
            wanted = torch.tensor([lr * decay ** (count - 1 - i) for i in range(count)])
            expect(rates, f"rates of {count} layers", axes="layer").close_to(wanted, 1e-8)
            for place, (group, own) in enumerate(zip(groups, state, strict=True)):
                held = [value.detach().cpu() for value in group["params"]]
                missing = [
                    name
                    for name, value in own.items()
                    if not any(torch.equal(value.cpu(), one) for one in held)
                ]
                expect(missing, f"parameters of layer {place} that are not in its group").is_value([])
                expect(len(held), f"parameters in group {place}").is_value(len(own))
            expect([layer.training for layer in layers], "training of the layers").is_value([True] * count)
    given = [layers[0], probes.Nested(2, 2).inside[0], layers[1]]  # the one between has no parameters
    rates = [float(group["lr"]) for group in submission.layerwise_groups(given, 1.0, 0.5)]
    expect(rates, "rates of three layers, one of them without parameters").is_value([0.25, 0.5, 1.0])


def answer(body, head, tokens, pad):
    """Return what a task's head gives: a linear layer on the sum of real tokens' vectors."""
    x = F.embedding(tokens.cpu(), body["embedding.weight"])
    mixed = x + F.linear(x.roll(1, dims=1), body["linear.weight"], body["linear.bias"]).tanh()
    hidden = F.layer_norm(mixed, (5,), body["norm.weight"], body["norm.bias"])
    real = (tokens.cpu() != pad).unsqueeze(-1)
    return F.linear((hidden * real).sum(dim=1), head["linear.weight"], head["linear.bias"])


@check(
    "two models with different bodies and tasks, in turn",
    aspect="values",
    points=2,
    asked="One body and a head for each task.",
)
def test_two_models(submission, draw):
    probes = given_module(submission, "probes")
    models = []
    for pad, names in ((7, ("mood", "about", "third")), (0, ("mood",))):
        body, heads = probes.Body(70, 5, pad), {}
        numbers = {"body": drawn(draw, BODY)}
        body.load_state_dict(numbers["body"])
        for place, name in enumerate(names):
            heads[name] = probes.Head(5, 3 + place)
            numbers[name] = drawn(draw, {"linear.weight": (3 + place, 5), "linear.bias": (3 + place,)})
            heads[name].load_state_dict(numbers[name])
        model = submission.MultiTask(body=body, heads=heads)
        model.to(draw.device)
        model.eval()
        models.append((model, names, numbers, pad))
    for dtype, batch, time in (
        (torch.float32, 3, 6),
        (torch.float32, 3, 6),
        (torch.float32, 1, 70),
        (torch.float64, 2, 1),
        (torch.bfloat16, 3, 6),
    ):
        for model, names, numbers, pad in models:
            tokens = draw.integers(8, 30, batch=batch, time=time)
            tokens[1:2, 2:] = pad
            model.to(dtype)
            for task in names:
                # Then not: who kept the first tokens would be given these very ones, refilled.
                with same_tensors(submission) if dtype == torch.float32 else torch.no_grad():
                    found = model(tokens=draw.noncontiguous(tokens), task=task)
                expect_unchanged(submission)
                cast = [
                    {name: value.to(dtype) for name, value in numbers[part].items()}
                    for part in ("body", task)
                ]
                wanted = oracle(
                    lambda body, head, tokens=tokens, pad=pad: answer(body, head, tokens, pad), *cast
                )
                expect(found, f"answer of {task}", axes="batch class").close_to(wanted)
    model = models[1][0]
    expect_strict(model)
    tokens = draw.integers(8, 30, batch=3, time=6)
    model.train()
    with torch.no_grad():
        _, second, third = (model(tokens, "mood") for _ in range(3))
    expect(third, "answer in train mode", axes="batch class").differs_from(second, why="half is dropped")
    body.embedding.requires_grad_(False)
    model.float()
    model(tokens, "mood").sum().backward()
    with torch.no_grad():  # so that they arrive as leaves, with their gradients
        deaf = [
            name for name, value in model.named_parameters() if value.requires_grad and value.grad is None
        ]
    expect(deaf, "parameters that get no gradient where the embeddings are frozen").is_value([])
    submission.freeze(module=model)
    learning = [name for name, value in model.named_parameters() if value.requires_grad]
    expect(learning, "parameters that still learn after freeze").is_value([])
