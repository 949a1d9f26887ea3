"""The given blocks do what the references do: numbers, gradients, names of parameters, errors.

A reference is compared as soon as its kata is there; what has none yet is compared with nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from grader.catalogue import Catalogue
from grader.catalogue.given import blocks_of
from tests.ours import module

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "katas" / "9.3-encoder-vs-decoder"
HOMES = {
    "SelfAttention": "self_attention",
    "sinusoidal_positions": "positional_encoding",
    "SinusoidalPositionalEncoding": "positional_encoding",
    "LearnedPositionalEncoding": "positional_encoding",
    "bidirectional_mask": "masks",
    "causal_mask": "masks",
    "padding_mask": "masks",
    "combine_masks": "masks",
    "additive_mask": "masks",
    "scaled_dot_product_attention": "masked_attention",
    "MultiHeadAttention": "masked_attention",
    "LayerNorm": "layer_norm",
    "gelu": "feed_forward",
    "FeedForward": "feed_forward",
    "EncoderLayer": "encoder_layer",
    "Encoder": "encoder_layer",
}


load = cache(module)


@pytest.fixture(scope="module")
def blocks() -> ModuleType:
    return load(UNIT / "blocks.py")


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch, blocks: ModuleType) -> Callable[[str], Any]:
    """Give a function that finds the reference's object of a name."""
    monkeypatch.setitem(sys.modules, "blocks", blocks)

    def find(name: str) -> Any:
        files = sorted((ROOT / "solutions").glob(f"*/*/{HOMES[name]}.py"))
        if not files:
            pytest.skip(f"there is no kata {HOMES[name]} yet")
        return getattr(load(files[0]), name)

    return find


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def assert_same(one: Any, other: Any) -> None:
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10, equal_nan=True)


def assert_same_with_gradients(one: Any, other: Any, *tensors: Tensor) -> None:
    """Compare two functions' results on these tensors, and the gradients of all of them."""
    outcomes = []
    for function in (one, other):
        leaves = [tensor.clone().requires_grad_() for tensor in tensors]
        results = function(*leaves)
        results = results if isinstance(results, tuple) else (results,)
        torch.manual_seed(1)
        loss = sum((result * torch.randn_like(result)).sum() for result in results)
        loss.backward()
        outcomes.append([*results, *(leaf.grad for leaf in leaves)])
    assert_same(*outcomes)


def pair_of(
    blocks: ModuleType, reference: Any, name: str, *arguments: Any, **options: Any
) -> list[nn.Module]:
    """Build the block and the reference with the same random parameters, in float64."""
    block, model = getattr(blocks, name)(*arguments, **options), reference(name)(*arguments, **options)
    names = [sorted(dict(module.named_parameters())) for module in (block, model)]
    if name != "LearnedPositionalEncoding":  # its parameter's name is anybody's choice
        assert names[0] == names[1]
        assert sorted(block.state_dict()) == sorted(model.state_dict()) or list(model.buffers())
    own, theirs = dict(block.named_parameters()), dict(model.named_parameters())
    with torch.no_grad():
        for mine, other in zip(names[0], names[1], strict=True):
            own[mine].copy_(torch.randn_like(own[mine]) * 0.4)
            theirs[other].copy_(own[mine])
    return [block.double(), model.double()]


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def with_context(attention: nn.Module, mask: Tensor | None, x: Tensor, context: Tensor) -> Any:
    return attention(x, mask, context)


def masks_for(batch: int, heads: int, queries: int, keys: int) -> list[Tensor | None]:
    """Return masks of every legal kind; the last leave a query, and a sequence, with nothing to look at."""
    padding = torch.rand(batch, 1, 1, keys) < 0.6
    padding[0] = False
    blind = torch.rand(batch, heads, queries, keys) < 0.6
    blind[1, 0, 2] = False
    square = torch.rand(queries, keys) < 0.6
    return [None, square | (torch.arange(keys) == 0), padding, blind]


def test_every_name_of_the_earlier_katas_is_there(blocks: ModuleType) -> None:
    assert [name for name in HOMES if not hasattr(blocks, name)] == []


# --- masks ---


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bidirectional_mask", "causal_mask"])
def test_square_masks(blocks: ModuleType, reference: Any, name: str) -> None:
    for size in (1, 5):
        assert_same(getattr(blocks, name)(size, device="cpu"), reference(name)(size))


def test_padding_mask(blocks: ModuleType, reference: Any) -> None:
    for tokens in (torch.randint(0, 3, (4, 6)), torch.randint(0, 3, (6, 1), dtype=torch.int16).T):
        for pad_id in (0, 2):
            assert_same(blocks.padding_mask(tokens, pad_id), reference("padding_mask")(tokens, pad_id))


def test_combine_masks(blocks: ModuleType, reference: Any) -> None:
    several = [torch.rand(shape) < 0.7 for shape in ((5, 5), (2, 1, 1, 5), (1, 3, 1, 1))]
    for count in (1, 2, 3):
        assert_same(blocks.combine_masks(*several[:count]), reference("combine_masks")(*several[:count]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_additive_mask(blocks: ModuleType, reference: Any, dtype: torch.dtype) -> None:
    mask = torch.rand(3, 4) < 0.5
    assert_same(blocks.additive_mask(mask, dtype), reference("additive_mask")(mask, dtype))


# --- attention ---


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)], ids=str)
def test_attention(blocks: ModuleType, reference: Any, lead: tuple[int, ...]) -> None:
    tensors = random(*lead, 4, 5), random(*lead, 6, 5), random(*lead, 6, 7)
    blind = torch.rand(4, 6) < 0.5
    blind[1] = False
    for mask in (None, torch.rand(1, 6) < 0.5, blind):
        assert_same_with_gradients(
            partial(blocks.scaled_dot_product_attention, mask=mask),
            partial(reference("scaled_dot_product_attention"), mask=mask),
            *tensors,
        )


@pytest.mark.parametrize("bias", [True, False])
def test_multi_head_attention(blocks: ModuleType, reference: Any, bias: bool) -> None:
    block, model = pair_of(blocks, reference, "MultiHeadAttention", 12, 3, bias=bias)
    x, context = random(2, 5, 12), random(2, 7, 12)
    for mask in masks_for(2, 3, 5, 5):
        assert_same_with_gradients(partial(block, mask=mask), partial(model, mask=mask), x)
    for mask in masks_for(2, 3, 5, 7):
        assert_same_with_gradients(
            partial(with_context, block, mask), partial(with_context, model, mask), x, context
        )


def test_heads_must_divide_the_width(blocks: ModuleType) -> None:
    with pytest.raises(ValueError, match="must divide"):
        blocks.MultiHeadAttention(10, 3)


def test_self_attention(blocks: ModuleType, reference: Any) -> None:
    block, model = pair_of(blocks, reference, "SelfAttention", 8, 5)
    assert_same_with_gradients(block, model, random(2, 6, 8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_attention_keeps_the_dtype(blocks: ModuleType, dtype: torch.dtype) -> None:
    x = torch.randn(2, 5, 12, dtype=dtype)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    output, weights = blocks.scaled_dot_product_attention(x, x, x, mask)
    assert (output.dtype, weights.dtype) == (dtype, dtype)
    assert blocks.MultiHeadAttention(12, 3).to(dtype)(x, mask).dtype == dtype


# --- positions ---


def test_sinusoidal_positions(blocks: ModuleType, reference: Any) -> None:
    one, other = blocks.sinusoidal_positions(300, 14), reference("sinusoidal_positions")(300, 14)
    torch.testing.assert_close(one, other, rtol=0, atol=1e-4)  # angles of 300, in float32
    assert_same(one[0], other[0])


def test_an_odd_width_has_no_sinusoids(blocks: ModuleType) -> None:
    with pytest.raises(ValueError, match="even"):
        blocks.sinusoidal_positions(4, 7)


@pytest.mark.parametrize("name", ["SinusoidalPositionalEncoding", "LearnedPositionalEncoding"])
def test_positional_encodings(blocks: ModuleType, reference: Any, name: str) -> None:
    block, model = pair_of(blocks, reference, name, 6, 9)
    x = random(2, 7, 6)
    torch.testing.assert_close(block(x), model(x), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="max_len"):
        block(random(2, 10, 6))


# --- layer norm and feed-forward ---


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_layer_norm(blocks: ModuleType, reference: Any, shift: float) -> None:
    block, model = pair_of(blocks, reference, "LayerNorm", 8, eps=1e-3)
    for shape in ((8,), (5, 8), (2, 3, 4, 8)):
        assert_same_with_gradients(block, model, random(*shape) + shift)


def test_layer_norm_is_right_far_from_zero(blocks: ModuleType) -> None:
    x = torch.randn(5, 64) + 1e4
    want = nn.functional.layer_norm(x.double(), (64,)).float()
    torch.testing.assert_close(blocks.LayerNorm(64)(x), want, rtol=0, atol=2e-3)  # the mean's rounding


def test_gelu(blocks: ModuleType, reference: Any) -> None:
    assert_same_with_gradients(blocks.gelu, reference("gelu"), random(50) * 4)


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_feed_forward(blocks: ModuleType, reference: Any, activation: str) -> None:
    block, model = pair_of(blocks, reference, "FeedForward", 6, 10, activation, dropout=0.5)
    assert_same_with_gradients(block.eval(), model.eval(), random(2, 5, 6))


def test_feed_forward_refuses_other_activations(blocks: ModuleType) -> None:
    with pytest.raises(ValueError, match="tanh"):
        blocks.FeedForward(6, 10, "tanh")


# --- encoder ---


@pytest.mark.slow
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "swiglu"])
def test_encoder(blocks: ModuleType, reference: Any, norm_first: bool, activation: str) -> None:
    options = {"dropout": 0.3, "norm_first": norm_first, "activation": activation}
    for name, arguments in (("EncoderLayer", (12, 3, 20)), ("Encoder", (3, 12, 3, 20))):
        block, model = pair_of(blocks, reference, name, *arguments, **options)
        block.eval(), model.eval()
        for mask in masks_for(2, 3, 5, 5):
            assert_same_with_gradients(partial(block, mask=mask), partial(model, mask=mask), random(2, 5, 12))


@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_layer_drops_in_train_mode_only(blocks: ModuleType, norm_first: bool) -> None:
    layer = blocks.EncoderLayer(12, 3, 20, dropout=0.5, norm_first=norm_first)
    x = torch.randn(2, 5, 12)
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))


def test_a_kata_is_given_what_earlier_ones_answer_and_never_its_own() -> None:
    pack = Catalogue.discover().packs[0]
    assert [path.parent.name for path in pack.root.rglob("blocks.py")] == [UNIT.name]
    for kata in pack.katas:
        found = blocks_of(kata)
        if found is None:
            continue
        assert found.names.isdisjoint(kata.required)
        earlier = {name for name, home in HOMES.items() for other in pack.katas
                   if other.module == home and other.key < kata.key}  # fmt: skip
        assert {name for name in found.names if name in HOMES} == earlier


# --- whose copy counts ---


def start_encoder_layer(kata: Any, blocks_py: str | None, answer: str) -> dict[str, Any]:
    """Start the kata, put this answer (and these blocks) into its folder, and return the report of a check."""
    if not (UNIT / "encoder-layer").is_dir():
        pytest.skip("there is no kata encoder_layer yet")
    kata("start", "encoder-layer")
    folder = Path.cwd() / UNIT.name / "encoder-layer"
    assert not (folder / "blocks.py").exists()
    if blocks_py is not None:
        (folder / "blocks.py").write_text(blocks_py, encoding="utf-8")
    (folder / "encoder_layer.py").write_text(answer, encoding="utf-8")
    (report,) = kata("check", "encoder-layer", "--json").json["katas"]
    return report


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("blocks_py", [None, "raise RuntimeError('spoilt')\n"])
def test_neither_absent_nor_spoilt_blocks_cost_anything(kata: Any, blocks_py: str | None) -> None:
    (reference,) = (ROOT / "solutions").glob("*/encoder-layer/encoder_layer.py")
    report = start_encoder_layer(kata, blocks_py, reference.read_text(encoding="utf-8"))
    assert report["status"] == "pass"
    told = "blocks.py has been changed" in kata("check", "encoder-layer", "-k", "post_norm").err
    assert told == (blocks_py is not None)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_an_answer_in_the_copy_of_the_blocks_gains_nothing(kata: Any) -> None:
    everything = (UNIT / "blocks.py").read_text(encoding="utf-8")
    report = start_encoder_layer(kata, everything, "from blocks import Encoder, EncoderLayer\n")
    assert report["status"] == "error"
    assert report["score"] == 0
