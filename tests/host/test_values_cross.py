"""Every value that a check may pass or get back arrives as what it was."""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.engine.checks.describe import type_name
from grader.engine.host.errors import SubmissionUnsendable
from grader.engine.wire.codec import DTYPES

ECHO = """
    import torch

    def echo(*values, **named):
        return (values, named) if named else values[0] if len(values) == 1 else values

    def same(a, b):
        return a is b

    def facts(x):
        return [x.dtype, x.device, x.shape, list(x.stride()), x.is_contiguous(), x.requires_grad, x.is_leaf]

    def name_of(value):
        return f"{type(value).__module__}.{type(value).__qualname__}"

    def make(what):
        return eval(what)
"""


@pytest.fixture(scope="module")
def echo(launcher: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from tests.conftest import open_submission

    opened = open_submission(
        launcher, tmp_path_factory.mktemp("echo") / "answer.py", ECHO, submission_timeout_s=600.0
    )
    opened.begin(0, 600.0)
    yield opened.submission
    opened.session.close()


def raw(tensor: torch.Tensor) -> bytes:
    if not tensor.numel():
        return b""
    plain = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())
    return bytes(plain.reshape(-1).view(torch.uint8).tolist())


ORDINARY = [
    *("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128"),
    *("bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
]


@pytest.mark.parametrize("name", ORDINARY)
def test_a_tensor_of_any_dtype_returns_bit_for_bit(echo: Any, name: str) -> None:
    dtype = DTYPES[name]
    for shape in ((), (0,), (3, 0, 2), (1,), (2, 3, 4)):
        pattern = torch.arange(math.prod(shape) * dtype.itemsize) % (2 if dtype == torch.bool else 61)
        tensor = pattern.to(torch.uint8).view(dtype).reshape(shape)
        back = echo.echo(tensor)
        assert type(back) is torch.Tensor
        assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
        assert raw(back) == raw(tensor)


def test_not_a_number_keeps_its_bits(echo: Any) -> None:
    odd = torch.tensor([math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324], dtype=torch.float64)
    assert raw(echo.echo(odd)) == raw(odd)


def layouts() -> Iterator[tuple[str, torch.Tensor]]:
    base = torch.arange(24.0).reshape(2, 3, 4)
    yield "transposed", base.transpose(0, 2)
    yield "every second", base[:, :, ::2]
    yield "with an offset", base[1:, 1:]
    yield "expanded", torch.arange(3.0)[:, None].expand(3, 5)
    yield "expanded scalar", torch.tensor(2.0).expand(4, 4)
    yield "overlapping", torch.arange(6.0).as_strided((4, 3), (1, 1))
    yield (
        "channels last",
        torch.arange(48.0).reshape(2, 3, 2, 4).contiguous(memory_format=torch.channels_last),
    )
    yield "conjugated", torch.complex(base, base).conj()
    yield "negative bit", torch.complex(base, base).conj().imag
    yield "of one row", base[:1].transpose(0, 1)


@pytest.mark.parametrize("tensor", [pytest.param(tensor, id=name) for name, tensor in layouts()])
def test_memory_order_arrives_and_values_return(echo: Any, tensor: torch.Tensor) -> None:
    dtype, _, shape, strides, contiguous, *_ = echo.facts(tensor)
    assert (dtype, shape) == (tensor.dtype, tensor.shape)
    if not tensor.is_conj() and not tensor.is_neg():  # those two are a matter of bits, and resolved
        assert contiguous == tensor.is_contiguous()
        assert contiguous or strides == list(tensor.stride())
    assert torch.equal(echo.echo(tensor), tensor)


@pytest.mark.parametrize(
    "build",
    [
        "torch.arange(12.).reshape(3, 4).t()",
        "torch.ones(1).expand(5, 7)",
        "torch.arange(6.).as_strided((4, 3), (1, 1))",
    ],
)
def test_a_returned_view_has_its_values(echo: Any, build: str) -> None:
    assert torch.equal(echo.make(build), eval(build))


def test_one_tensor_twice_stays_one(echo: Any) -> None:
    x = torch.ones(3)
    assert echo.same(x, x)
    assert not echo.same(x, x.clone())
    first, second = echo.make("(lambda x: (x, x))(torch.ones(2))")
    assert first is second


def test_requires_grad_arrives_and_leaves(echo: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    *_, requires_grad, is_leaf = echo.facts(x)
    assert requires_grad
    assert is_leaf
    with torch.no_grad():
        assert not echo.facts(x)[-2]
    assert not echo.facts(torch.ones(3))[-2]


Point = namedtuple("Point", "x y")

PLAIN: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**63,
        2**200,
        -(2**300),
        0.0,
        1e308,
        math.inf,
        -math.inf,
    ),
    *("", "plain", "ünïcode 🜂", "a\0b", b"", b"\x00\xff", 3 + 4j, ..., slice(1, None, -2), slice(None)),
    *([], (), {}, [[]], [1, "a", None, (2.5, [])]),
    *({"a": {"b": [1, {"c": ()}]}}, {1: 2, None: 3, (1, 2): "t"}),
    *(torch.Size([2, 3]), torch.Size([]), torch.float32, torch.bfloat16, torch.int8, torch.device("cpu")),
    *(torch.device("meta"), torch.device("cuda", 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_a_plain_value_returns_as_it_was(echo: Any, value: Any) -> None:
    back = echo.echo(value)
    assert type(back) is type(value)
    assert back == value


def test_nan_and_the_sign_of_zero_survive(echo: Any) -> None:
    assert math.isnan(echo.echo(math.nan))
    assert math.copysign(1, echo.echo(-0.0)) == -1


def test_half_a_surrogate_pair_is_replaced(echo: Any) -> None:
    assert echo.echo("a\ud800b") == "a?b"
    assert echo.make(r"'a\udfffb'") == "a?b"


def test_keywords_and_several_arguments_arrive(echo: Any) -> None:
    values, named = echo.echo(1, torch.ones(2), key=[torch.zeros(1)], other=None)
    assert values[0] == 1
    assert torch.equal(values[1], torch.ones(2))
    assert torch.equal(named["key"][0], torch.zeros(1))
    assert named["other"] is None


def test_subclasses_of_containers_come_back_as_the_plain_ones(echo: Any) -> None:
    assert echo.echo(Point(1, 2)) == (1, 2)
    assert echo.echo(OrderedDict(a=1)) == {"a": 1}
    assert echo.echo(defaultdict(list, a=[1])) == {"a": [1]}
    values, indices = echo.make("torch.ones(2, 3).max(dim=1)")
    assert values.tolist() == [1, 1]
    assert indices.dtype == torch.int64


def test_an_iterator_is_read_to_a_bound(echo: Any) -> None:
    assert echo.make("(i * i for i in range(4))") == [0, 1, 4, 9]
    assert len(echo.make("__import__('itertools').count()")) == 10_000


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        ("object()", "builtins.object"),
        ("{1, 2}", "builtins.set"),
        ("__import__('numpy').float32(1)", "numpy.float32"),
        ("type('Odd', (int,), {})(3)", "answer.Odd"),
        ("torch.nn.Linear(2, 2)", "torch.nn.modules.linear.Linear"),
        ("lambda: 0", "builtins.function"),
    ],
)
def test_what_cannot_cross_stays_and_is_named(echo: Any, build: str, kind: str) -> None:
    assert type_name(echo.make(build)).endswith(kind.removeprefix("answer"))


def test_a_tensor_subclass_is_named(echo: Any) -> None:
    parameter = echo.make("torch.nn.Parameter(torch.ones(2))")
    assert parameter.requires_grad
    odd = echo.make("torch.ones(2).as_subclass(type('Mine', (torch.Tensor,), {}))")
    assert type(odd) is torch.Tensor
    assert type_name(odd).endswith(".Mine")
    assert torch.equal(odd, torch.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("torch.zeros(1).expand(10**9)", "1000000000"),
        ("torch.ones(3, 3).to_sparse()", "sparse"),
        ("torch.empty(3, device='meta')", "meta"),
        ("torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)", "ordinary"),
        ("torch.zeros(2, dtype=torch.uint8).view(torch.bits8)", "bits8"),
        ("'x' * 100_000", "100,000 characters"),
        ("1 << 100_000", "100,001 bits"),
        ("(lambda x: [x.append(x), x][1])([])", "nested"),
        ("[list(range(10**6))]", "too many"),
        ("[torch.zeros(2**24) for _ in range(5)]", "256 MB together"),
        ("['x' * 60_000] * 100", "structure"),
    ],
)
def test_what_is_too_much_is_refused_with_a_reason(echo: Any, build: str, words: str) -> None:
    with pytest.raises(SubmissionUnsendable, match=words):
        echo.make(build)
    assert echo.echo(1) == 1  # and the worker lives on


def test_a_generator_advances_here_too(examine: Any) -> None:
    opened = examine("""
        import torch
        def roll(generator, extra=None):
            return torch.rand(3, generator=generator)
        def fresh():
            return torch.Generator().manual_seed(5)
    """)
    ours, theirs = torch.Generator().manual_seed(7), torch.Generator().manual_seed(7)
    for _ in range(3):
        assert torch.equal(opened.submission.roll(theirs), torch.rand(3, generator=ours))
    assert torch.equal(theirs.get_state(), ours.get_state())
    made = opened.submission.fresh()
    assert torch.equal(
        torch.rand(2, generator=made), torch.rand(2, generator=torch.Generator().manual_seed(5))
    )


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**300), 2**300),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=20),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.integers(-5, 5), st.text(max_size=3)), inner, max_size=4),
    ),
    max_leaves=12,
)
quick = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def send(echo: Any) -> Callable[[Any], Any]:
    """Hypothesis looks for attributes of its arguments; a proxy would ask the worker for them."""
    return lambda value: echo.echo(value)


@quick
@given(value=values)
def test_any_nesting_of_plain_values_returns(send: Callable[[Any], Any], value: Any) -> None:
    assert repr(send(value)) == repr(value)


@st.composite
def strided(draw: st.DrawFn) -> torch.Tensor:
    dtype = DTYPES[draw(st.sampled_from(ORDINARY))]
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    steps = draw(st.lists(st.integers(0, 6), min_size=len(shape), max_size=len(shape)))
    span = 1 + sum(max(size - 1, 0) * step for size, step in zip(shape, steps, strict=True))
    data = draw(st.binary(min_size=span * dtype.itemsize, max_size=span * dtype.itemsize))
    memory = torch.frombuffer(bytearray(data), dtype=torch.uint8)
    memory = (memory & 1).bool() if dtype == torch.bool else memory.view(dtype)
    return memory.as_strided(shape, steps)


@quick
@given(tensor=strided())
def test_any_tensor_of_any_strides_returns(send: Callable[[Any], Any], tensor: torch.Tensor) -> None:
    assert raw(send(tensor)) == raw(tensor)


def test_numbers_of_a_notebook_and_a_module_agree(examine: Any, tmp_path: Path) -> None:
    import nbformat

    source = "import torch\ndef twice(x):\n    return 2 * x\n"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    module = examine(source).submission
    cells = examine(nbformat.writes(notebook), name="answer.ipynb").submission
    assert torch.equal(module.twice(torch.arange(3)), cells.twice(torch.arange(3)))
