"""Hidden checks of 9.6.2: what is right only on the visible sizes, or remembers the call before, fails here."""

from __future__ import annotations

import torch

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


@check(
    "stacks of any depth, given as any sequence of modules of any make",
    aspect="values",
    points=2,
    asked="layers: from the first to the last.",
)
def test_any_stack(submission, draw):
    probes = given_module(submission, "probes")
    for count in (2, 7, 12):
        stack = probes.layers(count, 3)
        lr, decay = 1e-3, 0.7
        for plain in (False, True):
            found = probes.facts(submission.layerwise_groups, stack, lr, decay, plain)
            rates = torch.tensor([rate for rate, _ in found])
            wanted = torch.tensor([lr * decay ** (count - 1 - i) for i in range(count)])
            expect(rates, f"rates of {count} layers", axes="layer").close_to(wanted, 1e-8)
            names = [name for _, each in found for name in each]
            expect(len(set(names)), "parameters in all groups").is_value(2 * count)


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
        body = probes.Body(30, 5, pad)
        heads = {name: submission.ClassHead(5, 3 + place) for place, name in enumerate(names)}
        model = submission.MultiTask(body, heads)
        model.eval()
        models.append((model, body, heads, pad))
    for _ in range(2):
        for model, body, heads, pad in models:
            tokens = draw.integers(8, 30, batch=3, time=6)
            tokens[1, 2:] = pad
            with torch.no_grad():
                for task, head in heads.items():
                    wanted = head(body(tokens), tokens != pad)
                    expect(model(tokens, task), f"answer of {task}").same_as(wanted, name="the head's own")
