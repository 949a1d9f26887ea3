"""Hidden checks of 9.8.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect, oracle, with_axes

AXES, LOGITS = "batch time width", "batch time token"
DTYPES = (torch.float32, torch.float64, torch.bfloat16)


def random_state(draw, trusted):
    """Draw every parameter of a module, as large as the reference's, norms around one."""
    return {
        name: draw.normal(out=tensor.shape[0], width=tensor.shape[1], scale=1.5 * tensor.shape[1] ** -0.5)
        if tensor.ndim == 2
        else draw.normal(width=len(tensor), shift=1.0, scale=0.4)
        for name, tensor in trusted.state_dict().items()
    }


def filled(module, state):
    """Load a state; a bias that should not be there becomes zero."""
    biases = {
        name: torch.zeros_like(own) for name, own in module.state_dict().items() if name.endswith("bias")
    }
    module.load_state_dict({**biases, **state}, strict=False)
    return module


def cast(state, dtype):
    return {name: tensor.to(dtype) for name, tensor in state.items()}


def pair(submission, reference, draw, name, *sizes):
    """Build the submission's module and an oracle (state, x) -> its first result, with the same random parameters."""
    state = random_state(draw, getattr(reference, name)(*sizes))
    module = filled(getattr(submission, name)(*sizes), state)

    def forward(state, x):
        dtype = next(iter(state.values())).dtype
        trusted = getattr(reference, name)(*sizes).to(dtype)
        result = torch.func.functional_call(trusted, state, (x,))
        return result[0] if isinstance(result, tuple) else result

    return module, state, forward


def first(result):
    return expect(result, "(output, cache)").is_tuple(2)[0]


@check(
    "the norm keeps its promises for any sizes and any eps, in every dtype, however it is called",
    aspect="values",
    points=2.5,
    asked=["y = weight · x / √( mean(x²) + eps )", "It works for any sizes, one position and hundreds"],
)
def test_norm_contract(submission, reference, draw):
    for width, eps, sizes in ((70, 1e-6, ((1, 4), (3, 1))), (draw.size(2, 9), 0.1, ((3, 5),))):
        part = Part("RMSNorm", {"d_model": width, "eps": eps}, axes=[AXES], dtypes=DTYPES[1:])
        calls = [{"x": draw.normal(batch=b, time=t, width=width, shift=-0.5)} for b, t in sizes]
        part.expect(submission, reference, draw, calls)


@check(
    "attention is right for any numbers of heads and groups, any sizes, and in every dtype",
    aspect="values",
    points=6.5,
    asked=[
        "It works for any sizes, one position and hundreds, any G that divides H.",
        "Outputs have the dtype of the module",
        "for s ≤ t only",
    ],
)
def test_any_groups(submission, reference, draw):
    for place, (num_heads, num_kv_heads, d_head) in enumerate(((6, 3, 2), (8, 2, 4), (9, 3, 4), (5, 1, 8))):
        dtype = DTYPES[place % 3]
        batch, time = draw.sizes(2, 2, 9)
        if dtype == torch.bfloat16:
            time += 300  # positions above 256 are not numbers of bfloat16
        sizes = (num_heads * d_head, num_heads, num_kv_heads)
        module, state, forward = pair(submission, reference, draw, "GroupedQueryAttention", *sizes)
        # Scores in the hundreds: what is blocked stays blocked, however far below another score the allowed ones are.
        x = draw.normal(batch=batch, time=time, width=sizes[0], scale=15.0 if dtype == torch.float64 else 1.0)
        x = x.to(dtype)
        found = first(module.to(dtype)(with_axes(x, *AXES.split())))
        expect(found, f"output in {str(dtype).removeprefix('torch.')}", axes=AXES).close_to(
            oracle(forward, cast(state, dtype), x)
        )


@check(
    "models of any size are right, in every dtype, and save nothing but their parameters",
    aspect="values",
    points=7,
    asked=[
        "logits = head(norm(y_last))",
        "It works for any sizes, one position and hundreds",
        "Make any buffer with persistent=False: the trained weights hold none.",
    ],
)
def test_any_model(submission, reference, draw):
    for place, (num_heads, num_kv_heads, num_layers, batch) in enumerate(
        ((2, 1, 1, 1), (6, 2, 2, 3), (3, 3, 4, 2))
    ):
        dtype = DTYPES[place]
        vocab_size, d_ff, time = draw.sizes(3, 3, 12)
        sizes = (vocab_size, 4 * num_heads, num_heads, num_kv_heads, d_ff, num_layers, 32)
        module, state, forward = pair(submission, reference, draw, "ModernLM", *sizes)
        expect(list(module.state_dict()), "names in the state_dict").has_names(state)
        tokens = draw.integers(0, vocab_size, batch=batch, time=time)

        def right(state, forward=forward, tokens=tokens):
            return forward({name: tensor.cpu() for name, tensor in state.items()}, tokens.cpu())

        with torch.no_grad():
            expect(first(module.to(dtype)(tokens)), "logits", axes=LOGITS).close_to(
                oracle(right, cast(state, dtype))
            )
