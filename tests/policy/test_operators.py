"""Torch's whole table of operators: what computes what a kata excludes is excluded too, or excused with a reason."""

from __future__ import annotations

import fnmatch
import sys
import types
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import torch._refs.nn.functional

from grader.catalogue import load_pack
from grader.catalogue.torch_names import Excluded, NameFamily, torch_names
from grader.engine.host.policy import excluded_names
from grader.engine.wire.uses import overloads
from tests.conftest import completed

PACK = Path(__file__).parents[2] / "katas"
REDUCES = "one number per row, the root of a sum: a building block"
DRAWS = "random numbers of the normal distribution"
SCALES = "divides by a length; it has no mean and no eps"
CHOOSES = "computes nothing: it says which kernel would be taken"

EXCUSED = {
    "layer-norm": {
        "aten::norm": REDUCES,
        "aten::native_norm": REDUCES,
        "aten::linalg_norm": REDUCES,
        "aten::linalg_vector_norm": REDUCES,
        "aten::linalg_matrix_norm": REDUCES,
        "aten::frobenius_norm": REDUCES,
        "aten::nuclear_norm": REDUCES,
        "aten::norm_except_dim": REDUCES,
        "aten::_foreach_norm": REDUCES,
        "*::*normal*": DRAWS,
        "aten::*renorm*": SCALES,
        "aten::_weight_norm*": SCALES,
    },
    "feed-forward": {
        "aten::fbgemm_linear_*_fp32_activation": "a product; the activation is its float32 input"
    },
    "masked-attention": {"aten::_fused_sdp_choice": CHOOSES},
    "self-attention": {"aten::_fused_sdp_choice": CHOOSES},
    "tiled-attention": {"aten::_fused_sdp_choice": CHOOSES},
    "encoder-layer": {},
    "classifier": {},
    "decoder-lm": {},
    "decoder-layer": {},
    "patches": {},
    "translator": {},
    "masked-lm": {},
    "optimizer": {},
    "loss-and-loop": {},
    "modern-block": {},
    "language-model-capstone": {},
    "translator-capstone": {},
}
SUSPECT = {
    "layer-norm": ("norm",),
    "feed-forward": ("gelu", "pointwise", "_activation"),
    "masked-attention": ("attention", "attn", "sdp", "transformer", "multi_head", "mha"),
    "self-attention": ("attention", "attn", "sdp", "transformer", "multi_head", "mha"),
    "tiled-attention": ("attention", "attn", "sdp", "transformer", "multi_head", "mha"),
    "encoder-layer": ("transformer",),
    "classifier": ("transformer",),
    "decoder-lm": ("transformer",),
    "decoder-layer": ("transformer",),
    "patches": ("transformer",),
    "translator": ("transformer",),
    "masked-lm": ("transformer",),
    "optimizer": ("adam",),
    "loss-and-loop": ("softmax", "logsumexp", "cross_entropy", "nll_loss"),
    "modern-block": ("rms_norm", "rmsnorm"),
    "language-model-capstone": ("transformer", "multi_head"),
    "translator-capstone": ("transformer", "multi_head"),
}
"""What stands in the name of an operator that may compute what the kata asks for."""


@cache
def operators() -> list[str]:
    """Torch's own: what a fresh interpreter has, whatever other tests of this process have imported."""
    listed = "import torch; print(*torch._C._dispatch_get_all_op_names())"
    done = completed([sys.executable, "-I", "-c", listed], check=True)
    return sorted({name.partition(".")[0] for name in done.stdout.split()})


def test_every_kata_with_a_policy_is_walked() -> None:
    assert {kata.slug for kata in load_pack(PACK).katas if kata.policy.forbid} == set(SUSPECT)


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("slug", SUSPECT)
def test_every_operator_that_may_compute_it_is_excluded_or_excused(slug: str) -> None:
    policy = next(kata.policy for kata in load_pack(PACK).katas if kata.slug == slug)
    forbidden = set(excluded_names(policy.forbid).operators)
    excused = EXCUSED[slug]
    left = [
        name
        for name in operators()
        if any(part in name.lower() for part in SUSPECT[slug])
        and name not in forbidden
        and not any(fnmatch.fnmatchcase(name, pattern) for pattern in excused)
    ]
    assert left == []
    for pattern in excused:
        assert not any(fnmatch.fnmatchcase(name, pattern) for name in forbidden), pattern
    assert forbidden <= overloads().keys()


def public(module: Any) -> list[str]:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return [name for name in names if not isinstance(getattr(module, name), types.ModuleType)]


def held(family: NameFamily, names: Iterable[str]) -> list[str]:
    return Excluded((*family.like, *family.operators), frozenset(family.names)).of("\n".join(names))


@pytest.mark.parametrize(
    "module",
    [
        *(torch.nn.functional, torch.nn, torch.optim, torch.optim.lr_scheduler, torch.func),
        *(torch._refs, torch._refs.nn.functional),
    ],
    ids=lambda module: module.__name__,
)
def test_every_public_name_is_of_a_family(module: Any) -> None:
    names = public(module)
    known = {name for family in torch_names().families.values() for name in held(family, names)}
    assert [name for name in names if name not in known] == []


def test_no_name_is_of_two_families() -> None:
    families = torch_names().families
    for name, family in families.items():
        for other in families.values():
            assert other == family or held(other, family.names) == [], name


def test_a_dotted_name_stands_for_its_operator_and_the_one_in_place() -> None:
    excluded = excluded_names(("torch.nn.functional.relu",))
    assert {"aten::relu", "aten::relu_"} <= set(excluded.operators)
    assert excluded.names == ("relu",)
    assert "aten::_fused_adamw_" in excluded_names(("optimizer",)).operators


def test_a_part_of_a_name_begins_where_a_word_does() -> None:
    every = excluded_names(("optimizer",)).names
    assert {"AdamW", "NAdam", "_single_tensor_radam", "SGD"} <= set(every)
    assert {"is_tensor_method_or_property", "_get_msg_dict", "TensorProperties"}.isdisjoint(every)
