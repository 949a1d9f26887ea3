"""What stays in the worker is used through a proxy as if it were here."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.engine.host.errors import SubmissionMissing, SubmissionRaised, WorkerDied
from grader.engine.host.objects import state_of

MODEL = """
    from contextlib import contextmanager

    import torch
    from torch import nn

    SIZE = 7

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = nn.Linear(width, width)
            self.drop = nn.Dropout(0.5)

        def forward(self, x, scale=1.0):
            return self.drop(self.inner(x)) * scale

    class Model(nn.Module):
        count = 0

        def __init__(self, width, depth=2):
            super().__init__()
            self.layers = nn.ModuleList(Block(width) for _ in range(depth))
            self.first = self.layers[0]
            self.register_buffer("table", torch.arange(3.0))
            self.note = "plain"

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

        @property
        def width(self):
            return self.first.inner.in_features

        @property
        def broken(self):
            raise RuntimeError("a property that raises")

    class Cache:
        def __init__(self):
            self.seen = []

    def grow(cache, x):
        cache = cache or Cache()
        cache.seen.append(x)
        return len(cache.seen), cache

    def same(a, b):
        return a is b

    def apply(function, x):
        return function(x)

    @contextmanager
    def within(model, note):
        before, model.note = model.note, note
        try:
            yield note
        finally:
            model.note = before

    @contextmanager
    def unwritten():
        raise NotImplementedError("unwritten")
        yield
"""


@pytest.fixture
def answer(examine: Any) -> Any:
    return examine(MODEL).submission


def test_constants_functions_and_classes_are_attributes(answer: Any) -> None:
    assert answer.SIZE == 7
    assert answer.Model.count == 0
    assert state_of(answer.Model).types[0] == "builtins.type"
    assert state_of(answer.Model(4)).types[0] == "submission.answer.Model"
    assert state_of(answer.same).types[0] == "builtins.function"


def test_what_is_missing_says_so(answer: Any) -> None:
    with pytest.raises(SubmissionMissing, match="nothing"):
        answer.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="nothing"):
        answer.Model(4).nothing  # noqa: B018
    assert not hasattr(answer, "nothing")
    assert getattr(answer.Model(4), "nothing", 3) == 3


def test_an_attribute_that_raises_is_not_a_missing_one(answer: Any) -> None:
    with pytest.raises(SubmissionRaised, match="a property that raises") as caught:
        answer.Model(4).broken  # noqa: B018
    assert not isinstance(caught.value, AttributeError)


@pytest.mark.slow
def test_one_object_is_one_proxy_within_a_check(answer: Any) -> None:
    model = answer.Model(4)
    assert model.first is model.first
    assert model.first is model.layers[0]
    assert model.layers[0] is not model.layers[1]
    assert answer.Model is answer.Model
    assert answer.same(model, model)
    assert not answer.same(model, answer.Model(4))


def test_chains_indices_length_and_iteration(answer: Any) -> None:
    model = answer.Model(4, depth=3)
    assert len(model.layers) == 3
    assert [layer.inner.in_features for layer in model.layers] == [4, 4, 4]
    assert model.layers[-1].inner.weight.shape == (4, 4)
    assert len(model.layers[1:]) == 2
    assert model.width == 4
    assert model.note == "plain"
    with pytest.raises(SubmissionRaised, match="range"):
        model.layers[3]


def test_values_may_be_handed_back(answer: Any) -> None:
    count, cache = answer.grow(None, torch.ones(2))
    assert count == 1
    count, again = answer.grow(cache, torch.zeros(2))
    assert count == 2
    assert again is cache
    assert [tensor.tolist() for tensor in cache.seen] == [[1, 1], [0, 0]]
    assert answer.apply(answer.Model(3).eval(), torch.ones(1, 3)).shape == (1, 3)


def test_blocks_are_entered_and_left(answer: Any) -> None:
    model = answer.Model(2)
    with answer.within(model, "inside") as note:
        assert note == model.note == "inside"
    assert model.note == "plain"
    with pytest.raises(ZeroDivisionError), answer.within(model, "inside"):
        raise ZeroDivisionError
    assert model.note == "plain"
    with pytest.raises(SubmissionRaised, match="unwritten"), answer.unwritten():
        raise AssertionError("the block was not entered")


def test_attributes_can_be_set(answer: Any) -> None:
    model = answer.Model(2)
    model.note = ["new", 1]
    assert model.note == ["new", 1]
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    model.first.inner.weight = weight
    assert torch.equal(model.first.inner.weight, weight)
    assert model.first.inner.weight.requires_grad  # still the parameter
    answer.SIZE = 8
    assert answer.SIZE == 8


def test_a_state_dict_travels_both_ways(answer: Any) -> None:
    first, second = answer.Model(4), answer.Model(4)
    state = first.state_dict()
    assert next(iter(state)) == "table"
    assert list(second.load_state_dict(state)) == [[], []]
    for (name, mine), (_, other) in zip(first.named_parameters(), second.named_parameters(), strict=True):
        assert torch.equal(mine, other), name
    with pytest.raises(SubmissionRaised, match="Missing key"):
        second.load_state_dict({})
    before = first.first.inner.weight.clone()
    state["first.inner.weight"].zero_()  # a copy: what a check does to it stays here
    assert torch.equal(first.first.inner.weight, before)


def test_modes_dtypes_and_names(answer: Any) -> None:
    model = answer.Model(4)
    assert model.training
    assert model.eval() is model
    assert not model.first.drop.training
    assert model.train().training
    assert model.double().first.inner.weight.dtype == torch.float64
    assert model.to(torch.bfloat16)(torch.ones(1, 4, dtype=torch.bfloat16)).dtype == torch.bfloat16
    names = [name for name, _ in model.named_parameters()]
    assert names[:2] == ["layers.0.inner.weight", "layers.0.inner.bias"]
    assert len(model.parameters()) == 4
    assert [name for name, _ in model.named_buffers()] == ["table"]


def test_a_method_can_be_handed_over(answer: Any) -> None:
    model = answer.Model(4).eval()
    train = model.train
    assert answer.apply(train, True) is model
    assert model.training
    train(False)
    assert not model.training


def test_truth_is_never_asked_of_the_worker(answer: Any) -> None:
    assert answer.Cache()
    assert answer.Model(4).layers


def test_a_seed_fixes_what_the_worker_draws(examine: Any) -> None:
    opened = examine("""
        import random, numpy, torch
        def roll():
            return torch.rand(2).tolist(), random.random(), float(numpy.random.rand())
    """)
    first = opened.submission.roll()
    assert opened.submission.roll() != first
    opened.begin(0)
    assert opened.submission.roll() == first
    opened.begin(1)
    assert opened.submission.roll() != first


def test_grad_mode_is_restored_for_the_next_check(examine: Any) -> None:
    opened = examine("""
        import torch
        def spoil():
            torch.set_grad_enabled(False)
        def mode():
            return torch.is_grad_enabled()
    """)
    opened.submission.spoil()
    opened.begin(0)
    assert opened.submission.mode()
    with torch.no_grad():
        assert not opened.submission.mode()


def test_a_proxy_of_an_earlier_worker_says_that_it_is_gone(examine: Any) -> None:
    opened = examine(MODEL + "\n    import os\n    def leave():\n        os._exit(3)\n")
    model = opened.submission.Model(4)
    with pytest.raises(WorkerDied, match="exit code 3"):
        opened.submission.leave()
    with pytest.raises(WorkerDied):
        model.eval()
    opened.begin(1)
    with pytest.raises(WorkerDied):
        model.eval()
    assert opened.submission.Model(4).eval().training is False


def test_nothing_is_left_of_a_submission_that_is_loaded_again(examine: Any, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("seen = []\n")
    opened = examine(
        "import os\nimport helper\nseen = []\n\n"
        "def f(x):\n    seen.append(x)\n    helper.seen.append(x)\n"
        "    return len(seen), len(helper.seen), os.getpid()\n\n"
        "def g(x):\n    return [].pop()\n",
        required=("f", "g"),
    )
    kept = opened.submission.f
    *_, pid = opened.submission.f(1)
    assert opened.submission.f(1) == (2, 2, pid)
    with pytest.raises(SubmissionRaised):
        opened.submission.g(1)
    opened.session.load_again()
    opened.session.begin(1)
    assert opened.submission.f(1) == (1, 1, pid)
    with pytest.raises(WorkerDied):
        kept(1)


def test_what_cannot_be_loaded_twice_gets_another_worker(examine: Any) -> None:
    opened = examine(
        "import torch\nassert not hasattr(torch, 'once')\ntorch.once = []\n\n"
        "def f(x):\n    torch.once.append(x)\n    return len(torch.once)\n"
    )
    assert opened.submission.f(1) == 1
    opened.session.load_again()
    opened.session.begin(1)
    assert opened.submission.f(1) == 1


def test_what_the_worker_calls_itself_is_only_text(examine: Any) -> None:
    opened = examine("""
        class Liar:
            __class__ = int
            def __len__(self):
                return -5
            def __getitem__(self, key):
                return key
            def __getattr__(self, name):
                return "invented " + name
        def make():
            return Liar()
    """)
    liar = opened.submission.make()
    assert state_of(liar).types[0].endswith("Liar")
    assert liar.anything == "invented anything"
    assert liar[3] == 3
    with pytest.raises(ValueError, match=">= 0"):
        len(liar)


ANYTHING = """
    class Anything:
        pass

    def make():
        return Anything()

    def names(value):
        return vars(value)
"""

OURS = """
    number session stands_for kind label calls given generation root types _number _session _calls _name _adopt _kind
    _label _ _x_ x__ kata_type kata_types kata_label kata_kind forbidden_uses policy_advice advice
"""
"""What proxies of ours have been, or are, made of."""
IDENTIFIERS = st.one_of(
    st.sampled_from(OURS.split()),
    st.from_regex(r"(?!__)[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True),
).filter(lambda name: not keyword.iskeyword(name))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=IDENTIFIERS, value=st.integers(-9, 9))
def test_every_name_is_the_learners(anything: Any, name: str, value: int) -> None:
    made = anything.make()
    with pytest.raises(SubmissionMissing):
        getattr(made, name)
    setattr(made, name, value)
    assert getattr(made, name) == value
    assert anything.names(made) == {name: value}
    if name not in ("Anything", "make", "names"):
        setattr(anything, name, value)
        assert getattr(anything, name) == value


def test_names_with_two_underscores_in_front_stay_on_their_side(anything: Any) -> None:
    made = anything.make()
    for name in ("__kata", "__secret__"):
        with pytest.raises(AttributeError):
            getattr(made, name)
        with pytest.raises(AttributeError):
            getattr(anything, name)


@pytest.fixture
def anything(examine: Any) -> Any:
    return examine(ANYTHING).submission
