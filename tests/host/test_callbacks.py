"""A function of a check that a submission calls: it runs here, and what it is asked is known here."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from grader.engine.checks import TrainingBooks, expect_unchanged, keep_grad_mode, same_tensors
from grader.engine.checks.draw import Draw
from grader.engine.checks.failure import CheckFailure, fail
from grader.engine.host.calls import Lent
from grader.engine.host.errors import SubmissionRaised, WorkerDied
from grader.errors import PackError

ASKS = """
    import copy

    def ask(function, *arguments):
        return function(*arguments)

    def twice(function, x):
        return function(copy.deepcopy(function)(x))

    def catches(function, x):
        try:
            return function(x)
        except RuntimeError:
            return "caught"

    def keep(function):
        global kept
        kept = function

    def late(x):
        return kept(x)
"""


def test_it_runs_here_with_what_the_submission_passes(examine: Any) -> None:
    asked: list[Any] = []

    def function(*arguments: Any) -> Any:
        asked.append(arguments)
        return [arguments[0] * 2, "two"]

    submission = examine(ASKS).submission
    x = torch.arange(3.0)
    doubled, word = submission.ask(Lent(function), x, 5, None)
    assert (doubled.tolist(), word) == ([0, 2, 4], "two")
    assert torch.equal(asked[0][0], x)
    assert asked[0][1:] == (5, None)
    assert submission.twice(Lent(lambda x: x + 1), 3) == 5


def test_what_it_raises_is_what_the_check_ends_with(examine: Any) -> None:
    def refuse(x: Any) -> Any:
        fail(f"no to {x}")

    submission = examine(ASKS).submission
    for name in ("ask", "catches"):
        with pytest.raises(CheckFailure, match="no to 7"):
            getattr(submission, name)(Lent(refuse), 7)
    assert submission.ask(Lent(lambda x: x), 7) == 7


def test_it_cannot_call_back(examine: Any) -> None:
    submission = examine(ASKS).submission
    with pytest.raises(PackError, match="in the middle of a call"):
        submission.ask(Lent(lambda x: submission.ask(1, 2)), 7)


def test_what_is_lent_is_lent_for_one_check(examine: Any) -> None:
    opened = examine(ASKS)
    opened.submission.keep(Lent(lambda x: x))
    assert opened.submission.late(3) == 3
    opened.begin()
    with pytest.raises(WorkerDied, match="that was not lent"):
        opened.submission.late(3)


def test_whoever_asks_without_end_is_stopped(examine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.engine.host.calls.MAX_ASKS", 50)
    opened = examine("def f(function):\n    while True:\n        function(1)\n")
    with pytest.raises(WorkerDied, match="too often"):
        opened.submission.f(Lent(lambda x: x))


MODES = """
    import torch

    def off(x):
        torch.set_grad_enabled(False)

    def on(x):
        torch.set_grad_enabled(True)

    def double(x):
        return x * 2
"""


def test_the_mode_that_a_call_leaves_behind_can_be_seen_and_harms_nobody(examine: Any) -> None:
    submission = examine(MODES).submission
    x = torch.ones(2, requires_grad=True)
    submission.off(x)
    with keep_grad_mode(submission):
        assert not submission.double(x).requires_grad
    y = submission.double(x)
    assert y.requires_grad
    y.sum().backward()
    assert x.grad is not None
    with torch.no_grad():
        submission.on(x)
        with keep_grad_mode(submission):
            submission.double(x)
        assert not submission.double(x).requires_grad


KEEPS = """
    kept = {}

    def double(x, y=None):
        kept.setdefault(id(x), (x, x * 2))
        return kept[id(x)][1]
"""


def test_what_is_kept_by_identity_is_stale_where_tensors_are_refilled(examine: Any) -> None:
    double = examine(KEEPS).submission.double
    x = torch.arange(6.0).reshape(2, 3)
    for one in (x, -x, x.T, -x.T):
        assert torch.equal(double(one), 2 * one)
    submission = examine(KEEPS).submission
    with same_tensors(submission):
        for given, stale in ((x, False), (-x, True), (x.T, False), (-x.T, True), (x[:1], False), (-x, True)):
            assert torch.equal(submission.double(given), 2 * given) != stale
            expect_unchanged(submission)


GIVES_AGAIN = """
    import functools, torch

    def ones(count):
        return torch.ones(3)[:count]

    kept = functools.lru_cache(ones)
    learned = torch.nn.Parameter(torch.ones(3), requires_grad=False)

    def given(count):
        return learned[:count]
"""


def test_a_result_that_is_handed_out_twice_has_been_written_into(examine: Any) -> None:
    submission = examine(GIVES_AGAIN).submission
    for name, found in (("ones", 1.0), ("given", 1.0), ("kept", 2.0)):
        function = getattr(submission, name)
        function(2)
        with same_tensors(submission):
            assert torch.equal(function(2), torch.full((2,), found)), name


FIT = """
    import torch
    from torch.nn.functional import cross_entropy

    def fit(model, x, y, zero=True):
        model.train()
        for batch in torch.arange(len(x)).split(3) * 2:
            if zero:
                model.zero_grad()
            cross_entropy(model(x[batch]), y[batch]).backward()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad

    def by_hand(model, x, y):
        model.batches = [[0, 1], [2, 3]]
        model.training_modes = [True, True]
        model.weight.data += 1
"""


def training(submission: Any) -> tuple[TrainingBooks, torch.Tensor, torch.Tensor]:
    draw = Draw(3, "fit")
    books = TrainingBooks(submission, draw, draw.normal(example=12, label=3, scale=2.0))
    return books, torch.arange(12)[:, None].expand(12, 2).contiguous(), draw.integers(0, 3, example=12)


@pytest.mark.parametrize("zero", [True, False])
def test_books_tell_what_a_submission_trained_on(examine: Any, zero: bool) -> None:
    submission = examine(FIT).submission
    books, x, y = training(submission)
    submission.fit(books.model, x, y, zero=zero)
    assert books.order() == [*range(12)] * 2
    assert len(books.batches) == 8
    assert books.follows_wrong_loss(y) is None
    assert books.follows_wrong_loss((y + 1) % 3) == 0
    assert all(batch.training for batch in books.batches)
    assert all(bool(update.any()) for update in books.updates())
    assert all(float(found[-1]) > 0 for found in books.followed())
    assert (books.follows_stale_gradients() is None) == zero


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"lr": 0.1}),
        ("SGD", {"lr": 0.1, "momentum": 0.9}),
        ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        ("Adam", {"lr": 0.01}),
        ("Adam", {"lr": 0.01, "betas": (0.99, 0.999), "weight_decay": 0.01}),
        ("AdamW", {"lr": 0.1, "weight_decay": 0.1}),
        ("NAdam", {"lr": 0.01}),
        ("RMSprop", {"lr": 0.01}),
        ("Adagrad", {"lr": 0.01}),
    ],
)
def test_books_tell_emptied_gradients_from_old_ones_whatever_the_optimizer(
    name: str, options: dict[str, Any]
) -> None:
    for zero in (True, False):
        here = SimpleNamespace(__kata__=SimpleNamespace(given=importlib.import_module))
        books, x, y = training(here)
        optimizer = getattr(torch.optim, name)(books.model.parameters(), **options)
        for batch in torch.arange(12).split(3) * 2:
            if zero:
                optimizer.zero_grad()
            cross_entropy(books.model(x[batch]), y[batch]).backward()
            optimizer.step()
        assert books.order() == [*range(12)] * 2
        # Those that divide by what they have seen hide old gradients; none is ever accused of any.
        assert books.follows_stale_gradients() is None or not zero
        assert books.follows_stale_gradients() is not None or zero or name in ("NAdam", "RMSprop", "Adagrad")
        assert all(float(found[-1]) > 0 for found in books.followed())
        assert books.began_anew() == []


@pytest.mark.parametrize(
    ("name", "seen"), [("AdamW", True), ("RMSprop", True), ("Adagrad", True), ("SGD", False)]
)
def test_books_tell_an_optimizer_that_is_made_for_each_batch(name: str, seen: bool) -> None:
    here = SimpleNamespace(__kata__=SimpleNamespace(given=importlib.import_module))
    books, x, y = training(here)
    for batch in torch.arange(12).split(3):
        optimizer = getattr(torch.optim, name)(books.model.parameters(), lr=0.01)
        optimizer.zero_grad()
        cross_entropy(books.model(x[batch]), y[batch]).backward()
        optimizer.step()
    # Descent without a memory is the same, however often it is made.
    assert books.began_anew() == ([1, 2, 3] if seen else [])


def test_books_take_descent_by_signs_for_no_new_optimizer() -> None:
    books, x, y = training(SimpleNamespace(__kata__=SimpleNamespace(given=importlib.import_module)))
    for batch in torch.arange(12).split(3):
        books.model.weight.grad = None
        cross_entropy(books.model(x[batch]), y[batch]).backward()
        with torch.no_grad():
            books.model.weight -= 0.01 * books.model.weight.grad.sign()
    assert books.began_anew() == []


def test_books_written_by_hand_are_not_the_books(examine: Any) -> None:
    submission = examine(FIT).submission
    books, x, y = training(submission)
    submission.by_hand(books.model, x, y)
    assert books.batches == []
    assert books.order() == []


@pytest.mark.parametrize("call", ["model(None)", "model(x + 100)", "model(x[:0])", "model(x.float() * 1j)"])
def test_a_model_that_is_called_with_something_else_ends_the_check(examine: Any, call: str) -> None:
    draw = Draw(3, "fit")
    submission = examine(f"def fit(model, x):\n    {call}\n").submission
    books = TrainingBooks(submission, draw, draw.normal(example=4, label=3))
    with pytest.raises((CheckFailure, SubmissionRaised)):
        submission.fit(books.model, torch.arange(4)[:, None])


@pytest.mark.parametrize(
    "asks",
    ["model(torch.zeros(32 << 20, 1, dtype=torch.uint8))", "[model(x) for _ in range(300)]"],
    ids=["a byte for each row", "more passes than training takes"],
)
def test_books_make_no_more_of_what_they_are_asked_than_training_takes(examine: Any, asks: str) -> None:
    submission = examine(f"import torch\n\n\ndef flood(model, x):\n    {asks}\n").submission
    books, x, _ = training(submission)
    with pytest.raises(CheckFailure, match="asked for more than training takes"):
        submission.flood(books.model, x)
    assert len(books._seen) <= 256
