"""Calls that need no answer wait for the next request, and nobody can tell by what a check sees."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.checks import expect_raises
from grader.checks.failure import CheckFailure
from grader.host.channel import Channel
from grader.host.endings import SubmissionRaised, WorkerDied
from grader.host.put_off import catch_up, waiting
from grader.wire import messages

MODULES = """
    import torch

    class Plain(torch.nn.Module):
        def __init__(self, n):
            super().__init__()
            self.layer = torch.nn.Linear(n, n, bias=False)
            self.drop = torch.nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(self.layer(x))

    class Other(Plain):
        pass

    class Own(Plain):
        def eval(self):
            print("evaluating")
            return "my own"

    class Inner(torch.nn.Module):
        def __init__(self, n):
            super().__init__()
            self.inner = Own(n)

        def train(self, mode=True):
            raise ValueError("no training here")

    def one():
        return 1
"""
EYE = {"layer.weight": torch.eye(3)}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[messages.Request]:
    """What went over, in order."""
    found: list[messages.Request] = []
    ask = Channel.ask

    def noting(self: Channel, request: messages.Request, *rest: Any) -> Any:
        found.append(request)
        return ask(self, request, *rest)

    monkeypatch.setattr(Channel, "ask", noting)
    return found


def test_what_needs_no_answer_goes_with_what_does(examine: Any, asked: list[messages.Request]) -> None:
    opened = examine(MODULES)
    module = opened.submission.Plain(3)
    del asked[:]
    assert module.to(torch.device("cpu")) is module
    assert module.eval() is module
    assert module.load_state_dict(EYE) == ([], [])
    assert asked == []
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(module(x), x)
    assert [[one.method for one in request.before] for request in asked] == [
        ["to", "eval", "load_state_dict"]
    ]
    assert opened.calls.last.args == (x,)


def test_they_take_what_was_there_when_they_were_called(examine: Any) -> None:
    module = examine(MODULES).submission.Plain(3).eval()
    weight = torch.eye(3)
    module.load_state_dict({"layer.weight": weight})
    weight.zero_()
    x = torch.ones(1, 3)
    assert torch.equal(module(x), x)


def test_a_methods_of_its_own_is_called_at_once(examine: Any) -> None:
    opened = examine(MODULES)
    assert opened.submission.Own(3).eval() == "my own"
    assert opened.output() == "evaluating\n"
    with pytest.raises(SubmissionRaised, match="no training here"):
        opened.submission.Inner(3).train()


def test_what_it_raises_is_told_as_if_it_had_come_at_once(examine: Any) -> None:
    opened = examine(MODULES)
    module = opened.submission.Plain(3)
    opened.session.observed.clear()
    module.load_state_dict({"other": torch.ones(3)})
    module.eval()
    with pytest.raises(SubmissionRaised, match="Missing key") as raised:
        module(torch.ones(1, 3))
    assert opened.calls.last.label == "Plain(3).load_state_dict"
    assert opened.session.observed[-1] is raised.value
    assert ([], []) not in opened.session.observed
    assert not waiting
    assert module.load_state_dict(EYE) == ([], [])
    assert module.eval()(torch.ones(1, 3)).tolist() == [[1.0, 1.0, 1.0]]


def test_an_error_that_a_check_waits_for_comes_in_time(examine: Any) -> None:
    module = examine(MODULES).submission.Plain(3)
    with expect_raises("RuntimeError", "a key is missing"):
        module.load_state_dict({})
    module.load_state_dict({})
    with pytest.raises(SubmissionRaised, match="Missing key"), expect_raises("RuntimeError", "of nothing"):
        pass
    with pytest.raises(CheckFailure, match="raised nothing"), expect_raises("RuntimeError", "of nothing"):
        module.eval()


def test_gradients_are_recorded_as_they_were_then(examine: Any) -> None:
    module = examine(MODULES).submission.Plain(3)
    with torch.no_grad():
        module.eval()
    x = torch.ones(1, 3, requires_grad=True)
    module(x).sum().backward()
    assert x.grad is not None
    module.train()
    with torch.no_grad():
        assert not module(x).requires_grad


def test_calls_of_another_name_do_not_go_with_it(examine: Any, asked: list[messages.Request]) -> None:
    opened = examine(MODULES)
    plain, other = opened.submission.Plain(3), opened.submission.Other(3)
    del asked[:]
    plain.eval()
    other.eval()
    plain(torch.ones(1, 3))
    assert [len(request.before) for request in asked] == [1, 1, 0]
    catch_up()
    assert len(asked) == 3


def test_what_a_module_holds_comes_with_it_where_that_was_asked_before(
    examine: Any, asked: list[messages.Request]
) -> None:
    opened = examine(MODULES)
    first = opened.submission.Plain(3).state_dict()
    del asked[:]
    module = opened.submission.Plain(3)
    module.eval()
    state = module.state_dict()
    assert [type(request) for request in asked] == [messages.Call]
    assert state.keys() == first.keys()
    assert opened.calls.last.label == "Plain(3).state_dict"
    assert torch.equal(module.state_dict()["layer.weight"], state["layer.weight"])
    module = opened.submission.Plain(3)
    module.load_state_dict(EYE)
    assert torch.equal(module.state_dict()["layer.weight"], torch.eye(3))


def test_a_worker_may_not_blame_what_was_not_put_off(examine: Any) -> None:
    opened = examine("""
        from grader.worker.serve import Worker

        answer = Worker._answer

        def lie(self, request, payload):
            reply, buffers = answer(self, request, payload)
            if hasattr(reply, "bases"):
                reply.before = 7
            return reply, buffers

        Worker._answer = lie

        def wrong():
            raise ValueError
    """)
    with pytest.raises(WorkerDied, match="broke off the conversation"):
        opened.submission.wrong()
