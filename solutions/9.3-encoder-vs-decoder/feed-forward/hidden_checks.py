"""Hidden checks of 9.3.4: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, expect_unchanged, oracle

AXES = "batch time width"
ACTIVATIONS = ("relu", "gelu", "swiglu")


def state_of(draw, d_model, d_ff, activation):
    """Draw every weight and bias of a module of these sizes."""
    layers = {"linear1": (d_ff, d_model), "linear2": (d_model, d_ff)}
    if activation == "swiglu":
        layers["gate"] = (d_ff, d_model)
    state = {}
    for name, (rows, columns) in layers.items():
        state[f"{name}.weight"] = draw.normal(out=rows, width=columns, scale=columns**-0.5)
        state[f"{name}.bias"] = draw.normal(out=rows)
    return state


def build(package, state, *arguments, **options):
    """Build a module of either package and load these parameters."""
    d_ff, d_model = state["linear1.weight"].shape
    module = package.FeedForward(d_model, d_ff, *arguments, **options)
    module.load_state_dict(state, strict=False)
    return module


def function(reference, activation, state):
    """Return the reference's (x, *parameters) -> output, as an oracle takes it."""
    names = list(state)

    def forward(x, *tensors):
        module = build(reference, state, activation).to(x.dtype)
        return torch.func.functional_call(module, dict(zip(names, tensors, strict=True)), (x,))

    return forward


@check(
    "a network keeps its promises at every size, in float64 and half precision, however it is called",
    aspect="values",
    points=4.5,
    asked=[
        "Both work for any sizes, a single position and hundreds, an inner width below the outer one too",
        "float64 stays float64 and bfloat16 bfloat16, and float64 is computed in float64",
        "Gradients reach x and every weight and bias.",
    ],
)
def test_network_contract(submission, reference, draw):
    half = [torch.bfloat16]
    for activation, dtypes in (("relu", [torch.float64, *half]), ("gelu", half), ("swiglu", half)):
        d_model, d_ff = draw.sizes(2, 2, 19)
        part = Part(
            "FeedForward",
            {"d_model": d_model, "d_ff": d_ff, "activation": activation},
            outputs=[f"output for {activation}"],
            axes=[AXES],
            dtypes=dtypes,
        )
        sizes = {"relu": (1, 3), "gelu": (3, 1), "swiglu": draw.sizes(2, 2, 9)}
        batch, time = sizes[activation]
        part.expect(submission, reference, draw, [{"x": draw.normal(batch=batch, time=time, width=d_model)}])


@check(
    "gelu keeps its promises for any shape and size of number, however it is called",
    aspect="values",
    points=1.5,
    asked=["It is meant exactly, from the error function", "any shape; it is not changed"],
)
def test_gelu_contract(submission, reference, draw):
    part = Part("gelu", outputs=["gelu(x)"], axes=["row width"], dtypes=[torch.bfloat16])
    rows, width = draw.sizes(2, 2, 17)
    sizes = ((1e-3, rows, width), (0.3, 1, width), (3.0, rows, 1), (30.0, rows, 70))
    calls = [{"x": draw.normal(row=row, width=column, scale=scale)} for scale, row, column in sizes]
    part.expect(submission, reference, draw, calls)
    number = draw.normal(row=1)[0]
    expect(submission.gelu(number), "gelu of a number").close_to(oracle(reference.gelu, number))
    expect_unchanged(submission)
    # √2 may be kept in float32, but not in fewer digits.
    fine = draw.uniform(low=-2.5, high=2.5, row=60, dtype=torch.float64)
    expect(submission.gelu(fine), "gelu in float64").close_to(oracle(reference.gelu, fine), tolerance=3e-8)


@check(
    "dropout takes the share asked for, on average changes nothing, and ends with eval()",
    aspect="mode",
    points=1.5,
    asked=[
        "the share of the F activations that is set to zero in train mode",
        "The expected value of what linear2 is given stays the same",
    ],
)
def test_any_dropout(submission, reference, draw):
    for activation in ACTIVATIONS:
        for p in (0.1, 0.8):
            state = state_of(draw, 17, 13, activation)
            state["linear1.bias"] += 1.0  # so that relu leaves something to drop
            module = build(submission, state, activation, p).to(draw.device)
            row = draw.normal(batch=1, time=1, width=17)
            x = row.expand(8, 500, 17).contiguous()
            module.eval()
            plain = expect(module(x), "output", axes=AXES).is_tensor(shape=(8, 500, 17)).actual.detach().cpu()
            expect(module(x), "output in eval mode", axes=AXES).same_as(plain, name="that of another call")
            module.train()
            y = (
                expect(module(x), "output", axes=AXES)
                .is_tensor(shape=(8, 500, 17))
                .is_finite()
                .actual.detach()
                .cpu()
            )
            # The mean of 4000 outputs, each a sum of 13 units that a coin scales: 8 standard errors.
            error = y.double().std(dim=(0, 1)) / 4000**0.5
            gap = (y.double().mean(dim=(0, 1)) - plain[0, 0].double()).abs()
            worst = float((gap / (8 * error + 1e-5)).max())
            name = f"{activation}, dropout={p}: how far the mean is off, in 8 standard errors"
            expect(worst, name).is_between(0.0, 1.0)
            # With the mean kept, the spread tells p: a unit h contributes h² · p / (1 - p).
            w2 = state["linear2.weight"].cpu().double()
            hidden = torch.linalg.lstsq(w2, (plain[0, 0] - state["linear2.bias"].cpu()).double()).solution
            spread = ((w2 * hidden) ** 2).sum(dim=1) * p / (1 - p)
            ratio = float(y.double().var(dim=(0, 1)).sum() / spread.sum())
            expect(ratio, f"{activation}, dropout={p}: variance, as a share of the right one").is_between(
                0.6, 1.6
            )


@check(
    "hundreds of positions and a thousand hidden units work as a few do",
    aspect="values",
    points=0.5,
    asked="Both work for any sizes, a single position and hundreds, an inner width below the outer one too",
)
def test_large(submission, reference, draw):
    for activation in ACTIVATIONS:
        d_ff, time = draw.size(1030, 1300), draw.size(520, 700)
        state = state_of(draw, 6, d_ff, activation)
        module = build(submission, state, activation).to(draw.device)
        module.eval()
        for scale in (1.0, 1e5):  # no activation has a largest number
            x = draw.normal(batch=2, time=time, width=6, scale=scale)
            wanted = oracle(function(reference, activation, state), x, *state.values())
            expect(module(x), f"output for {activation}", axes=AXES).close_to(wanted)
