"""What a call does besides returning: change its arguments, print, use what is excluded, raise."""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.engine.host.channel import MAX_OUTPUT
from grader.engine.host.errors import BudgetSpent, SubmissionRaised, WorkerDied, WorkerTimeout
from grader.engine.host.objects import state_of

CHANGES = """
    import torch

    def nothing(x, *more, **named):
        return x.clone().add_(1)

    def in_place(x, *more, **named):
        x.add_(1)

    def through_data(x, *more, **named):
        x.data[0] = 99

    def through_numpy(x, *more, **named):
        x.detach().numpy()[...] = 5

    def through_memory(x, *more, **named):
        x.untyped_storage().fill_(1)

    def through_a_view(x, *more, **named):
        x[0].zero_()

    def in_shape(x, *more, **named):
        x.t_() if x.dim() == 2 else x.unsqueeze_(0)

    def by_assignment(x, *more, **named):
        x.data = torch.full_like(x, 7.0)

    def of_a_list(x, *more, **named):
        more[0][0].zero_()

    def of_a_keyword(x, *more, **named):
        named["mask"].logical_not_()

    def same_value(x, *more, **named):
        x.copy_(x.clone())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "in_place",
        "through_data",
        "through_numpy",
        "through_memory",
        "through_a_view",
        "in_shape",
        "by_assignment",
    ],
)
@pytest.mark.parametrize("layout", ["plain", "transposed", "expanded"])
def test_a_changed_argument_is_noticed(examine: Any, name: str, layout: str) -> None:
    if layout == "expanded" and name in ("in_place", "through_data"):
        pytest.skip("torch itself refuses to write into an expanded tensor")
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    x = {"plain": x, "transposed": x.t(), "expanded": x[:, :1].expand(2, 3)}[layout]
    before = x.clone()
    opened = examine(CHANGES)
    getattr(opened.submission, name)(x)
    assert [part is x for part in opened.calls.last.changed] == [True]
    assert torch.equal(x, before)  # the check's own tensor never changes


def test_what_is_left_alone_is_not_reported(examine: Any) -> None:
    opened = examine(CHANGES)
    for x in (torch.ones(2, 3), torch.tensor(1.0), torch.ones(0), torch.arange(6.0).reshape(2, 3).t()):
        opened.submission.nothing(x, [x], mask=torch.ones(2, dtype=torch.bool))
        assert opened.calls.last.changed == ()


KEEPS = """
    import torch

    kept = []

    def keep(x):
        kept.append(x)

    def sums():
        return [float(x.sum()) for x in kept]

    def forget():
        kept.clear()

    def write_into_an_old_one(x):
        kept[0].fill_(7)

    def in_place(x):
        x.add_(1)
"""


@pytest.mark.parametrize("size", [1 << 18, 4])
def test_arguments_that_are_kept_stay_as_they_were(examine: Any, size: int) -> None:
    opened = examine(KEEPS)
    count = 7
    for number in range(count):
        opened.submission.keep(torch.full((size,), float(number)))
    assert opened.submission.sums() == [float(number * size) for number in range(count)]
    x = torch.ones(3)
    opened.submission.in_place(x)
    assert [part is x for part in opened.calls.last.changed] == [True]


def test_an_old_argument_that_is_written_into_later_is_no_change_of_the_new_one(examine: Any) -> None:
    opened = examine(KEEPS)
    opened.submission.keep(torch.ones(3))
    opened.submission.write_into_an_old_one(torch.ones(3))
    assert opened.calls.last.changed == ()
    assert opened.submission.sums() == [21.0]


def test_changes_inside_lists_and_keywords_are_noticed(examine: Any) -> None:
    opened = examine(CHANGES)
    x, inner, mask = torch.ones(2), torch.ones(3), torch.ones(2, dtype=torch.bool)
    opened.submission.of_a_list(x, [inner], mask=mask)
    assert [part is inner for part in opened.calls.last.changed] == [True]
    opened.submission.of_a_keyword(x, [inner], mask=mask)
    assert [part is mask for part in opened.calls.last.changed] == [True]


def test_a_parameter_that_is_trained_is_no_argument(examine: Any) -> None:
    opened = examine("""
        import torch
        model = torch.nn.Linear(2, 2)
        def train(x):
            with torch.no_grad():
                model.weight.add_(1)
            return model(x)
    """)
    opened.submission.train(torch.ones(1, 2))
    assert opened.calls.last.changed == ()


# --- what is printed ---


def test_prints_are_kept_for_who_asks(examine: Any) -> None:
    opened = examine("""
        import os, sys
        print("while loading")
        def talk(what):
            print("hello", what)
            print("to stderr", file=sys.stderr)
            os.write(1, b"raw \\xff\\n")
            os.system("echo from a shell") if what == "shell" else None
    """)
    assert opened.output() == "while loading\n"
    opened.submission.talk("ünïcode")
    text = opened.output()
    assert "hello ünïcode" in text
    assert "to stderr" in text
    assert "raw \ufffd" in text
    assert opened.output() == ""


def test_two_hundred_megabytes_are_read_and_dropped(examine: Any) -> None:
    opened = examine("""
        def flood():
            line = "x" * 999_999 + "\\n"
            for _ in range(200):
                print(line, end="")
            return "done"
    """)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert opened.submission.flood() == "done"
    text = opened.output()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 << 10
    assert len(text) < MAX_OUTPUT + 200
    assert f"{200_000_000 - MAX_OUTPUT:,} more bytes were printed" in text


def test_what_was_printed_before_the_end_is_kept(examine: Any) -> None:
    opened = examine("""
        import os
        def leave():
            print("last words", flush=True)
            os._exit(7)
    """)
    with pytest.raises(WorkerDied, match="exit code 7"):
        opened.submission.leave()
    assert opened.output() == "last words\n"


@pytest.mark.parametrize(
    "spoil",
    [
        "sys.stdout.close()", "sys.stdout = None", "os.close(1)", "sys.stdout = object()",
        "os.write(1, b'\\xff\\xfe\\0')", "print('\\ud800')",
    ],
)  # fmt: skip
def test_a_submission_may_break_its_own_output(examine: Any, spoil: str) -> None:
    opened = examine(f"""
        import os, sys
        def spoil():
            {spoil}
            return 3
    """)
    assert opened.submission.spoil() == 3
    assert state_of(opened.submission.spoil).types[0] == "builtins.function"


# --- what is excluded ---

ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
USES = """
    import torch
    import torch.nn.functional as F

    def own(q):
        return torch.softmax(q @ q.transpose(-1, -2), -1) @ q

    def by_ops(q):
        return torch.ops.aten.scaled_dot_product_attention(q, q, q)

    def layer(q):
        return F.layer_norm(q, q.shape[-1:])
"""


def test_what_is_allowed_is_not_recorded(examine: Any) -> None:
    opened = examine(USES, forbid=(ATTENTION, "torch.nn.functional.layer_norm", "torch.no.such.name"))
    opened.submission.own(torch.randn(2, 3, 4))
    assert opened.session.forbidden_uses() == []
    with pytest.raises(SubmissionRaised):
        opened.submission.layer(torch.randn(2, 3))
    assert opened.session.forbidden_uses() == ["torch.nn.functional.layer_norm (line 12)"]


def test_the_grader_itself_is_not_watched(examine: Any) -> None:
    opened = examine(USES, forbid=(ATTENTION,))
    q = torch.randn(1, 2, 4)
    torch.nn.functional.scaled_dot_product_attention(q, q, q)
    assert opened.session.forbidden_uses() == []


def test_gradients_pass_an_operator_that_only_others_must_do_without(examine: Any) -> None:
    opened = examine(USES, required=("own", "by_ops"), forbid=(ATTENTION,), within=("own",))
    q = torch.randn(2, 3, 4, requires_grad=True)
    opened.submission.by_ops(q).sum().backward()
    assert q.grad is not None
    assert bool(q.grad.any())


# --- what is raised ---


def test_an_exception_tells_type_message_and_the_learners_lines(examine: Any) -> None:
    opened = examine("""
        import torch
        class Mine(ValueError):
            pass
        def inner(x):
            raise Mine("not like this")
        def outer(x):
            return inner(x)
        def library(x):
            return torch.zeros(2) @ torch.zeros(3)
    """)
    with pytest.raises(SubmissionRaised) as caught:
        opened.submission.outer(1)
    error = caught.value
    assert (error.type_name, error.message, error.own) == ("Mine", "not like this", True)
    assert "ValueError" in error.type_names
    assert [(frame.function, frame.text) for frame in error.frames] == [
        ("outer", "return inner(x)"),
        ("inner", 'raise Mine("not like this")'),
    ]
    with pytest.raises(SubmissionRaised) as caught:
        opened.submission.library(1)
    assert [frame.function for frame in caught.value.frames] == ["library"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "type_name"),
    [
        ("import sys; sys.exit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("exit()", "SystemExit"),
        ("return answer(x)", "RecursionError"),
        ("raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()", "E"),
        ("raise type('E' * 9000, (Exception,), {})('m' * 10**6)", "E" * 3599 + "…"),
        ("raise SyntaxError('made up', ('f', -5, 10**20, 7))", "SyntaxError"),
        ("raise SyntaxError('made up', ('f', 'x', 'y', 7))", "SyntaxError"),
        ("raise type('E', (BaseException,), {'__module__': 3})", "E"),
        ("raise Exception('\\ud800 half')", "Exception"),
        ("raise ExceptionGroup('many', [ValueError(1), TypeError(2)])", "ExceptionGroup"),
    ],
)
def test_whatever_is_raised_arrives_as_text(examine: Any, body: str, type_name: str) -> None:
    opened = examine(f"def answer(x):\n    {body}\n")
    with pytest.raises(SubmissionRaised) as caught:
        opened.submission.answer(1)
    assert caught.value.type_name == type_name
    assert len(caught.value.message) <= 4000
    with pytest.raises(SubmissionRaised):
        opened.submission.answer(1)  # the worker is still there


# --- time ---


def test_a_loop_is_stopped_from_outside_whatever_it_catches(examine: Any) -> None:
    opened = examine("""
        def loop():
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
        def fine():
            return 1
    """)
    opened.begin(0, 0.2)
    with pytest.raises(WorkerTimeout):
        opened.submission.loop()
    opened.begin(0)
    assert opened.submission.fine() == 1


@pytest.mark.slow
def test_the_time_of_all_checks_together_has_an_end(examine: Any) -> None:
    source = "def loop():\n    while True:\n        print('x' * 1000)\ndef spin():\n    while True: pass\n"
    opened = examine(source, submission_timeout_s=2.0)
    process = opened.session.process
    process.limits = replace(process.limits, output_bytes=1 << 50)  # so that it is the clock that stops it
    with pytest.raises(WorkerTimeout):
        opened.submission.loop()

    def go_on() -> None:
        for seed in range(1, 9):  # what it waited for a processor is given back, and spent here
            opened.begin(seed)
            with suppress(WorkerTimeout):
                opened.submission.spin()

    with pytest.raises(BudgetSpent):
        go_on()


def test_prints_of_a_reload_belong_to_no_check(examine: Any) -> None:
    opened = examine("""
        import os
        print("loading")
        def leave():
            os._exit(1)
        def talk():
            print("talk")
    """)
    assert opened.output() == "loading\n"
    with pytest.raises(WorkerDied):
        opened.submission.leave()
    opened.output()
    opened.begin(1)
    opened.submission.talk()
    assert opened.output() == "talk\n"


def test_what_is_printed_names_no_folder_that_is_drawn_anew(examine) -> None:
    source = """
        import os

        print(os.path.join(os.getcwd(), "made"), __file__)
    """
    assert examine(source).output() == "made answer.py\n"
