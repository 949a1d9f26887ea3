"""Hidden checks of 9.8.1: what is right only on the visible inputs fails here."""

from __future__ import annotations

import torch

from grader.checks import Part, check, expect

AXES, LOGITS = "batch time width", "batch time token"
DTYPES = (torch.float64, torch.bfloat16)


def first(answers, **call):
    return expect(answers(**call), "(output, cache)").is_tuple(2)[0]


def right_of(reference, part):
    """Return the right first result of a part's call: what a cache is made of is free."""

    def right(state, **call):
        trusted = getattr(reference, part.name)(**part.made).to(next(iter(state.values())).dtype)
        return torch.func.functional_call(trusted, state, (), call)[0]

    return right


@check(aspect="values", points=2.5)
def test_norm_contract(submission, reference, draw):
    """the norm keeps its promises for any sizes and any eps, in every dtype, however it is called

    > y = weight · x / √( mean(x²) + eps )
    > It works for any sizes, one position and hundreds
    """
    for width, eps, sizes in ((70, 1e-6, ((1, 4), (3, 1))), (draw.size(2, 9), 0.1, ((3, 5),))):
        part = Part("RMSNorm", {"d_model": width, "eps": eps}, axes=[AXES], dtypes=DTYPES)
        calls = [{"x": draw.normal(batch=b, time=t, width=width, shift=-0.5)} for b, t in sizes]
        part.expect(submission, reference, draw, calls)


@check(aspect="values", points=6.5)
def test_any_groups(submission, reference, draw):
    """attention is right for any numbers of heads and groups, any sizes, and in every dtype

    > It works for any sizes, one position and hundreds, any G that divides H.
    > Outputs have the dtype of the module
    > for s ≤ t only
    """
    for (num_heads, num_kv_heads, d_head), scale, dtype, more in (
        ((6, 3, 2), 1.0, torch.float64, 0),
        # Scores in the hundreds: what is blocked stays blocked, however far below another score the allowed ones are.
        ((8, 2, 4), 15.0, torch.float64, 0),
        ((5, 1, 8), 3.0, torch.bfloat16, 300),  # positions above 256 are not numbers of bfloat16
    ):
        made = {"d_model": num_heads * d_head, "num_heads": num_heads, "num_kv_heads": num_kv_heads}
        batch, time = draw.sizes(2, 2, 9)
        call = {"x": draw.normal(batch=batch, time=time + more, width=made["d_model"], scale=scale)}
        part = Part("GroupedQueryAttention", made, ["output"], [AXES], [dtype], used=first)
        part.expect_values(submission, right_of(reference, part), draw, [call])


@check(aspect="values", points=7)
def test_any_model(submission, reference, draw):
    """models of any size are right, in every dtype

    > logits = head(norm(y_last))
    > It works for any sizes, one position and hundreds
    > Outputs have the dtype of the module
    """
    for num_heads, num_kv_heads, num_layers, batch in ((2, 1, 1, 1), (6, 2, 2, 3), (3, 3, 4, 2)):
        vocab_size, d_ff, time = draw.sizes(3, 3, 12)
        made = {"vocab_size": vocab_size, "d_model": 4 * num_heads, "num_heads": num_heads}
        made |= {"num_kv_heads": num_kv_heads, "d_ff": d_ff, "num_layers": num_layers, "max_len": time}
        call = {"tokens": draw.integers(0, vocab_size, batch=batch, time=time)}
        part = Part("ModernLM", made, ["logits"], [LOGITS], DTYPES, used=first)
        part.expect_values(submission, right_of(reference, part), draw, [call])
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
