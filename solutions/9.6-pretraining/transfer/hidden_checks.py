"""Hidden checks of 9.6.2: what is right only on the visible sizes, or remembers the call before, fails here."""

from __future__ import annotations

import torch

from grader.checks import (
    Part,
    check,
    expect,
    expect_strict,
    given_module,
)

KINDS = {
    "TokenHead": (["labels"], {"num_labels": 9}),
    "SpanHead": (["beginnings", "ends"], {}),
    "RegressionHead": (["numbers"], {}),
    "ClassHead": (["logits"], {"num_classes": 17}),
}


@check(aspect="values", points=3)
def test_heads_contract(submission, reference, draw):
    """heads keep their promises for any sizes and padding, in every dtype, however they are called

    > All of it works for any sizes; gradients reach the hidden vectors.
    > Results are of the module's dtype, and computed in it.
    > from the mean of its real tokens' vectors.
    > Label each token by its own vector.
    """
    for kind, (outputs, sizes) in KINDS.items():
        part = Part(kind, {"d_model": 7} | sizes, outputs=outputs, dtypes=[torch.float64, torch.bfloat16])
        calls = []
        for batch, time in ((3, 5), (1, 70), (2, 1)):
            mask = draw.mask(batch=batch, time=time)
            # What a TokenHead gives at padding is free.
            mask = torch.ones_like(mask) if kind == "TokenHead" else mask
            calls.append({"hidden": draw.normal(batch=batch, time=time, width=7), "mask": mask})
        part.expect(submission, reference, draw, calls)


@check(
    aspect="values",
    points=2,
    on_workers_word="whether a layer is in train mode can be read in the worker alone",
)
def test_any_stack(submission, draw):
    """stacks of any depth, given as any sequence of modules of any make

    > One group for each layer, in their order
    > Arguments are left as they were
    """
    probes = given_module(submission, "probes")
    lr, decay = 1e-3, 0.7
    for stack in (probes.layers(7, 3), [probes.Body(70, 5, 0) for _ in range(3)]):
        layers = [stack[place] for place in range(len(stack))]
        for layer in layers:
            layer.load_state_dict({name: draw.like(value) for name, value in layer.state_dict().items()})
        layers[0].requires_grad_(False)  # frozen for a while: its group is there when it learns again
        for given in (stack, tuple(layers)):
            groups = list(submission.layerwise_groups(layers=given, lr=lr, decay=decay))
            rates = torch.tensor([float(group["lr"]) for group in groups])
            wanted = torch.tensor([lr * decay**i for i in reversed(range(len(layers)))])
            expect(rates, f"rates of {len(layers)} layers", axes="layer").close_to(wanted, 1e-8)
            for place, (group, layer) in enumerate(zip(groups, layers, strict=True)):
                own, held = layer.state_dict(), [value.detach() for value in group["params"]]
                missing = [name for name in own if not any(torch.equal(own[name], one) for one in held)]
                expect(missing, f"parameters of layer {place} that are not in its group").is_value([])
                expect(len(held), f"parameters in group {place}").is_value(len(own))
            modes = [layer.training for layer in layers]
            expect(modes, "training of the layers").is_value([True] * len(layers))
    given = [layers[0], probes.Nested(2, 2).inside[0], layers[1]]  # the one between has no parameters
    rates = [float(group["lr"]) for group in submission.layerwise_groups(given, 1.0, 0.5)]
    expect(rates, "rates of three layers, one of them without parameters").is_value([0.25, 0.5, 1.0])


@check(
    aspect="values",
    points=2,
    on_workers_word="whether a part is in train mode can be read in the worker alone",
)
def test_two_models(submission, draw):
    """two models with different bodies and tasks, which stay in their modes, learning or frozen in part

    > One body and a head for each task.
    > and so do train and eval mode
    """
    probes = given_module(submission, "probes")
    models = []
    for pad, names in ((7, ("mood", "about", "third")), (0, ("mood",))):
        body, heads = probes.Body(70, 5, pad), {name: probes.Head(5, 3 + i) for i, name in enumerate(names)}
        models.append(submission.MultiTask(body=body, heads=heads))
    for model, task, classes in ((models[0], "third", 5), (models[1], "mood", 3), (models[0], "about", 4)):
        found = model(draw.integers(8, 30, batch=1, time=70), task)
        expect(found, f"answer of {task}", axes="batch class").is_tensor(shape=(1, classes)).is_finite()
    model, tokens = models[1], draw.integers(8, 30, batch=3, time=6)
    expect_strict(model)
    model.train()
    with torch.no_grad():
        _, second, third = (model(tokens, "mood") for _ in range(3))
    expect(third, "answer in train mode", axes="batch class").differs_from(second, why="half is dropped")
    body.embedding.requires_grad_(False)
    model(tokens, "mood").sum().backward()
    with torch.no_grad():  # so that they arrive as leaves, with their gradients
        learning = [(name, value.grad) for name, value in model.named_parameters() if value.requires_grad]
    deaf = [name for name, gradient in learning if gradient is None]
    expect(deaf, "parameters that get no gradient where the embeddings are frozen").is_value([])
    submission.freeze(module=model)
    learning = [name for name, value in model.named_parameters() if value.requires_grad]
    expect(learning, "parameters that still learn after freeze").is_value([])
    expect(body.norm.training, "training of a norm inside of what is frozen").is_value(True)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
