"""Hidden checks of 9.6.2: what is right only on the visible sizes, or remembers the call before, fails here."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from grader.checks import check, expect, given_module, oracle

KINDS = {"TokenHead": (9,), "SpanHead": (), "RegressionHead": (), "ClassHead": (17,)}


def pair(submission, reference, draw, kind, d_model, *sizes):
    """Build the submission's head and an oracle, with the same random parameters."""
    trusted, head = (getattr(each, kind)(d_model, *sizes) for each in (reference, submission))
    state = {
        name: draw.normal(out=len(tensor), width=tensor[0].numel()).view(tensor.shape)
        for name, tensor in trusted.state_dict().items()
    }
    head.load_state_dict(state)

    def forward(hidden, mask):
        module = getattr(reference, kind)(d_model, *sizes).to(hidden.dtype)
        given = {name: tensor.to(hidden) for name, tensor in state.items()}
        return torch.func.functional_call(module, given, (hidden, mask))

    return head, forward


@check(
    "heads of other widths, longer texts, any padding; nothing is kept from the batch before",
    aspect="values",
    points=3,
    asked=["from the mean of its real tokens' vectors.", "Label each token by its own vector."],
)
def test_other_sizes(submission, reference, draw):
    for kind, sizes in KINDS.items():
        head, forward = pair(submission, reference, draw, kind, 13, *sizes)
        for batch, time in ((4, draw.size(40, 90)), (2, 3), (4, 50)):
            hidden, mask = draw.normal(batch=batch, time=time, width=13), draw.mask(batch=batch, time=time)
            mask[:, -1] = True
            found = head(hidden, mask)
            if kind == "SpanHead":
                parts = expect(found, "what SpanHead gives").is_tuple(2)
                for place in range(2):
                    real = mask.cpu()
                    wanted = oracle(lambda h, f=forward, m=real, i=place: f(h, m)[i][m], hidden)
                    expect(parts[place][mask], "scores of a span").close_to(wanted)
            elif kind == "TokenHead":
                real = mask.cpu()
                wanted = oracle(lambda h, f=forward, m=real: f(h, m)[m], hidden)
                expect(found[mask], "labels of real tokens").close_to(wanted)
            else:
                real = mask.cpu()
                wanted = oracle(lambda h, f=forward, m=real: f(h, m), hidden)
                expect(found, f"what {kind} gives").close_to(wanted)


def drawn(draw, shapes):
    """Draw numbers for parameters of these shapes."""
    return {
        name: draw.normal(**{f"axis{place}": size for place, size in enumerate(shape)}, scale=0.7)
        for name, shape in shapes.items()
    }


@check(
    "stacks of any depth, given as any sequence of modules of any make",
    aspect="values",
    points=2,
    asked="layers: from the first to the last.",
)
def test_any_stack(submission, draw):
    probes = given_module(submission, "probes")
    lr, decay = 1e-3, 0.7
    for count in (2, 7, 12):
        stack = probes.layers(count, 3)
        state = drawn(
            draw,
            {
                f"{i}.{name}": shape
                for i in range(count)
                for name, shape in (("weight", (3, 3)), ("bias", (3,)))
            },
        )
        stack.load_state_dict(state)
        for layers in (stack, [stack[place] for place in range(count)]):
            groups = list(submission.layerwise_groups(layers, lr, decay))
            rates = torch.tensor([float(group["lr"]) for group in groups])
            wanted = torch.tensor([lr * decay ** (count - 1 - i) for i in range(count)])
            expect(rates, f"rates of {count} layers", axes="layer").close_to(wanted, 1e-8)
            held = [value.detach() for group in groups for value in group["params"]]
            missing = [
                name
                for name, value in state.items()
                if not any(torch.equal(value.cpu(), one.cpu()) for one in held)
            ]
            expect(missing, "parameters that are in no group").is_value([])
            expect(len(held), "parameters in all groups").is_value(2 * count)


BODY = {
    "embedding.weight": (30, 5), "linear.weight": (5, 5), "linear.bias": (5,), "norm.weight": (5,), "norm.bias": (5,)
}  # fmt: skip


def answer(body, head, tokens, pad):
    """Return what a task's head gives: a linear layer on the sum of real tokens' vectors."""
    x = F.embedding(tokens.cpu(), body["embedding.weight"])
    mixed = x + F.linear(x.roll(1, dims=1), body["linear.weight"], body["linear.bias"]).tanh()
    hidden = F.layer_norm(mixed, (5,), body["norm.weight"], body["norm.bias"])
    real = (tokens.cpu() != pad).unsqueeze(-1)
    return F.linear((hidden * real).sum(dim=1), head["linear.weight"], head["linear.bias"])


@check(
    "two models of other bodies and other tasks, in turn",
    aspect="values",
    points=2,
    asked="One body and a head for each task.",
)
def test_two_models(submission, draw):
    probes = given_module(submission, "probes")
    models = []
    for pad, names in ((0, ("mood",)), (7, ("mood", "about", "third"))):
        body, heads = probes.Body(30, 5, pad), {}
        numbers = {"body": drawn(draw, BODY)}
        body.load_state_dict(numbers["body"])
        for place, name in enumerate(names):
            heads[name] = probes.Head(5, 3 + place)
            numbers[name] = drawn(draw, {"linear.weight": (3 + place, 5), "linear.bias": (3 + place,)})
            heads[name].load_state_dict(numbers[name])
        model = submission.MultiTask(body, heads)
        model.to(draw.device)
        model.eval()
        models.append((model, names, numbers, pad))
    for _ in range(2):
        for model, names, numbers, pad in models:
            tokens = draw.integers(8, 30, batch=3, time=6)
            tokens[1, 2:] = pad
            for task in names:
                with torch.no_grad():
                    found = model(tokens, task)
                wanted = oracle(
                    lambda body, head, tokens=tokens, pad=pad: answer(body, head, tokens, pad),
                    numbers["body"],
                    numbers[task],
                )
                expect(found, f"answer of {task}", axes="batch class").close_to(wanted)
