"""From an end of a check to what is said of it: every kind of end, each by its own words."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grader.engine.checks.failure import CheckFailure, Failure, PreconditionFailed
from grader.engine.host.calls import CallRecord, Calls
from grader.engine.host.errors import (
    BudgetSpent,
    StillHangs,
    SubmissionMissing,
    SubmissionRaised,
    SubmissionUnsendable,
    WorkerDied,
    WorkerTimeout,
)
from grader.engine.runner.outcome import UNSAID, MessageContext, Outcome, judge, unusable_result
from grader.engine.wire.messages import ExceptionReply, StackFrame
from grader.errors import PackError
from tests.running.conftest import Bench

WORDING = MessageContext("masks.py", {"padding_mask": ("tokens", "pad_id"), "Encoder": ("width",)}, 5.0)
HERE = StackFrame("masks.py", 12, "padding_mask", "raise NotImplementedError")
THERE = StackFrame("masks.py", 30, "helper", "return padding_mask(tokens)")
NAMES = ("NotImplementedError", "RuntimeError", "Exception", "BaseException", "object")


def calls_of(*records: CallRecord) -> Calls:
    calls = Calls()
    for record in records:
        calls.add(record, None)
    return calls


CALL = CallRecord("padding_mask", "padding_mask", (3, 0), {}, root="padding_mask")


def raised(
    message: str, *frames: StackFrame, kind: str = "ValueError", own: bool = True, hint: str = ""
) -> SubmissionRaised:
    bases = {
        "ValueError": ("ValueError", "Exception", "BaseException", "object"),
        "NotImplementedError": NAMES,
    }
    return SubmissionRaised(ExceptionReply(list(bases[kind]), message, list(frames), own=own, hint=hint))


def missing(message: str, *frames: StackFrame, hint: str = "") -> SubmissionMissing:
    bases = ["AttributeError", "Exception", "BaseException", "object"]
    return SubmissionMissing(ExceptionReply(bases, message, list(frames), hint=hint))


def not_written(message: str, *frames: StackFrame, call: CallRecord | None = CALL) -> Outcome:
    error = raised(message, *frames, kind="NotImplementedError")
    return judge(error, calls_of(*([call] if call else [])), WORDING)


def test_an_iterator_is_told_as_one_and_not_as_the_list_that_it_is_read_as() -> None:
    calls = Calls()
    calls.add(replace(CALL, iterated=True), given := [1])
    error = CheckFailure(Failure("type", ("wrong type  got a list of 1", "a comma too many?")), given)
    lines = judge(error, calls, WORDING).lines
    assert lines[1] == "wrong type  got a list of 1"
    assert "generator" in lines[2]
    assert len(lines) == 3


def test_what_the_source_says_of_a_failure_comes_last() -> None:
    wording = replace(WORDING, remarks=lambda name, message: [f"{name}: {message.splitlines()[-1]}"])
    for error, words in ((raised("x"), "ValueError: x"), (WorkerTimeout(), "no answer")):
        assert judge(error, calls_of(CALL), wording).lines[-1].startswith(f"  padding_mask: {words}")
    assert judge(missing("module 'masks' has no attribute 'f'"), calls_of(CALL), wording).lines == [
        "masks.py has no `f`: was it renamed or removed?"
    ]


def test_a_stub_is_called_by_its_own_name_and_line() -> None:
    other = CallRecord("padding_mask", "padding_mask", (3, 0), {})
    assert not_written("Encoder.__init__", THERE, HERE, call=other) == Outcome(
        "todo",
        ["not written yet: `Encoder.__init__` still raises NotImplementedError (masks.py, line 12)"],
        todo="Encoder.__init__",
    )
    assert not_written("padding_mask", HERE, THERE).lines == [
        "not written yet: `padding_mask` still raises NotImplementedError (masks.py, line 30)"
    ]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (CALL, "padding_mask"),
        (CallRecord("Encoder(3)", "Encoder.forward", (), {}), "Encoder.forward"),
        (CallRecord("len(Encoder(3))", "", (), {}), "len(Encoder(3))"),
        (None, "later"),
    ],
)
def test_a_stub_that_does_not_say_its_name_is_called_as_the_check_did(
    call: CallRecord | None, name: str
) -> None:
    found = not_written("later", call=call)
    assert found.todo == name
    assert found.lines == [f"not written yet: `{name}` still raises NotImplementedError"]


def test_what_a_stub_says_is_cut_where_a_name_would_end() -> None:
    assert not_written("x" * 90, call=None).todo == "x" * 79 + "…"


def test_a_librarys_not_implemented_error_is_an_exception_as_any_other() -> None:
    error = raised("no kernel", HERE, kind="NotImplementedError", own=False)
    assert judge(error, calls_of(CALL), WORDING).status == "error"


def test_what_is_missing_from_the_file_is_asked_for_by_name() -> None:
    error = missing("module 'masks' has no attribute 'causal_mask'", hint="Did you mean: 'causal_masks'?")
    assert judge(error, calls_of(), WORDING).lines == [
        "masks.py has no `causal_mask`: was it renamed or removed?",
        "  it has `causal_masks`, and the checks call `causal_mask`",
    ]
    bare = missing("module 'masks' has no attribute 'causal_mask'")
    assert judge(bare, calls_of(), WORDING).lines == [
        "masks.py has no `causal_mask`: was it renamed or removed?"
    ]


def test_what_an_object_lacks_is_told_with_what_was_called() -> None:
    error = missing("'Encoder' object has no attribute 'scale'", hint="Did you mean: 'scales'?")
    assert judge(error, calls_of(CALL), WORDING).lines == [
        "called  padding_mask(tokens=3, pad_id=0)",
        "no attribute `scale`  the Encoder has none",
        "is it set in __init__, under this name? Did you mean: 'scales'?",
    ]
    long = judge(missing(f"'{'E' * 50}' object has no attribute '{'s' * 50}'"), calls_of(), WORDING).lines
    assert long == [
        f"no attribute `{'s' * 39}…`  the {'E' * 39}… has none",
        "is it set in __init__, under this name?",
    ]


def test_any_other_missing_attribute_is_pythons_own_message() -> None:
    error = missing("type object 'Encoder' has no attribute 'scale'")
    assert judge(error, calls_of(CALL), WORDING).lines[1:] == [
        "AttributeError: type object 'Encoder' has no attribute 'scale'"
    ]
    # Raised in the learner's own code it has a line, and is an exception as any other.
    assert (
        judge(missing("module 'math' has no attribute 'soft'", HERE), calls_of(CALL), WORDING).status
        == "error"
    )


def test_a_helper_of_the_check_is_named_up_to_its_first_dot_or_bracket() -> None:
    calls = calls_of(CallRecord(f"{'p' * 70}(3).off", "probe.off", (), {}, root="probes"))
    calls.given.add("probes")
    told = judge(WorkerDied("ended"), calls).lines
    assert told[1] == f"  {'p' * 59}… is a helper of the check: it calls what you wrote"
    calls = calls_of(CallRecord("[probe]", "", (), {}, root="probes"))
    calls.given.add("probes")
    assert judge(WorkerDied("ended"), calls).lines == ["called  [probe]()", "your code ended"]


def test_what_was_written_into_is_said_unless_that_is_the_failure() -> None:
    tokens = torch.ones(2)
    record = CallRecord("padding_mask", "padding_mask", (tokens, 0), {}, (tokens,))
    for stage, said in (
        ("values", True),
        ("arguments", False),
        ("type", True),
        ("dtype", True),
        ("shape", True),
    ):
        lines = judge(CheckFailure(Failure(stage, ("wrong",))), calls_of(record), WORDING).lines
        assert ("changed" in " ".join(lines)) is said, stage


@pytest.mark.parametrize(("stage", "by_numbers"), [("gradient", False), ("values", True), ("device", True)])
def test_what_a_gradient_says_is_not_told_by_numbers(stage: str, by_numbers: bool) -> None:
    assert judge(CheckFailure(Failure(stage, ("wrong",))), calls_of()).by_numbers is by_numbers


def test_a_guess_gives_way_to_what_is_known_and_nothing_else_does() -> None:
    # Made anew: what is compared is its text, not the very object.
    guess = "".join(["yours is ", "the expected times 2"])
    found = judge(
        CheckFailure(Failure("values", ("a", guess, "z"), guess="yours is the expected times 2")), calls_of()
    )
    assert found.lines == ["a", guess, "z"]
    assert found.without_guess() == ["a", "z"]


def test_one_argument_where_any_number_is_asked_for_is_said_and_no_guess_beside_it() -> None:
    wording = MessageContext("masks.py", {"combine": ("*masks",)}, unstarred={"combine": ("masks",)})
    call = CallRecord("combine", "combine", (1,), {})
    failure = CheckFailure(Failure("values", ("wrong", "a guess"), guess="a guess"))
    star = "it is to be combine(*masks), for any number of them; yours is combine(masks), without the *"
    assert judge(failure, calls_of(call), wording).lines[1:] == ["wrong", star]
    assert judge(raised("no"), calls_of(call), wording).lines[-1] == star
    assert star not in judge(raised("no"), calls_of(CALL), wording).lines


def test_a_check_that_breaks_before_it_calls_anything_is_the_authors_fault() -> None:
    told = judge(ZeroDivisionError("division by zero\nmore"), calls_of())
    assert (told.status, told.pack_fault) == ("error", True)
    assert told.lines == ["This check is broken: ZeroDivisionError: division by zero"]
    assert judge(PackError("no such file"), calls_of(CALL)).pack_fault
    assert judge(ZeroDivisionError(), calls_of(), observed=[3]).lines == [
        "the check could not use what your code returned",
        "  ZeroDivisionError: ",
    ]
    late = judge(TypeError("unsupported"), calls_of(CALL), WORDING)
    assert (late.status, late.pack_fault) == ("fail", False)
    assert (
        late.lines
        == unusable_result(["called  padding_mask(tokens=3, pad_id=0)"], ["TypeError: unsupported"]).lines
    )


def test_ends_without_a_value_are_told_each_by_its_own_words() -> None:
    calls = calls_of(CALL)
    called = "called  padding_mask(tokens=3, pad_id=0)"
    stopped = WorkerTimeout()
    stopped.frame = StackFrame("masks.py", 3, "padding_mask", "while True:")
    ends: list[tuple[BaseException, str, list[str]]] = [
        (SubmissionUnsendable("a tensor of 3 GB"), "fail", [called, "returned a tensor of 3 GB"]),
        (BudgetSpent(), "timeout", ["not run: the time for this whole submission is spent"]),
        (WorkerDied("ran out of memory"), "error", [called, "your code ran out of memory"]),
        (
            WorkerTimeout(),
            "timeout",
            [called, "no answer within 5 s, so it was stopped: is there a loop that never ends?"],
        ),
        (
            stopped,
            "timeout",
            [
                called,
                "masks.py, line 3 in padding_mask",
                "    while True:",
                "no answer within 5 s, so it was stopped: is there a loop that never ends?",
            ],
        ),
        (
            StillHangs("m" * 70, 0.5, "m" * 70),
            "skipped",
            [
                f"skipped: `{'m' * 59}…` did not answer within 0.5 s, as it had not in an earlier check: "
                "fix that first"
            ],
        ),
        (
            PreconditionFailed("forward has to return", "it raised"),
            "skipped",
            ["skipped: first forward has to return; then this can be checked", "  it raised"],
        ),
        (
            PreconditionFailed("forward has to return", ""),
            "skipped",
            ["skipped: first forward has to return; then this can be checked"],
        ),
    ]
    for error, status, lines in ends:
        found = judge(error, calls, WORDING)
        assert (found.status, found.lines) == (status, lines)
    assert judge(WorkerDied("was killed", killed=True), calls).killed
    assert not judge(WorkerDied("ended"), calls).killed


def test_a_skip_of_the_checks_own_is_the_machines() -> None:
    with pytest.raises(pytest.skip.Exception) as skipped:
        pytest.skip("no GPU here")
    found = judge(skipped.value, calls_of(CALL))
    assert (found.status, found.machine, found.lines) == ("skipped", True, ["no GPU here"])


def test_an_outcome_says_what_it_says_in_one_text() -> None:
    assert Outcome("fail", ["a", "b"]).message == "a\nb"
    assert Outcome("pass").message is None
    assert UNSAID.timeout_s == 0
    with pytest.raises(AttributeError):
        UNSAID.timeout_s = 1.0  # type: ignore[misc]


REFUSES = """
from grader.engine.checks import expect_raises

@check(aspect="errors", points=0.25)
def test_refuses(submission, draw):
    "negative numbers are refused"
    with expect_raises("ValueError", "it is negative"):
        submission.thing(-1)

@check(aspect="values", points=0.75)
def test_valid(submission, draw):
    "a number that is valid"
    expect(submission.thing(2)).is_value(2)
"""


def test_what_raises_on_valid_input_says_nothing_of_what_is_refused(bench: Bench) -> None:
    bench.checks(REFUSES)
    refuses, valid = bench.check("def thing(x):\n    return x.size\n").checks
    assert (refuses.status, refuses.message) == (
        "skipped",
        "skipped: “a number that is valid” has to hold first",
    )
    assert valid.status == "error"


def test_another_exception_than_the_expected_one_is_shown_with_its_line(bench: Bench) -> None:
    bench.checks(REFUSES)
    refuses, valid = bench.check("def thing(x):\n    return [0, 1, 2].index(x) if x > 0 else [][x]\n").checks
    assert (refuses.status, valid.status) == ("fail", "pass")
    assert (refuses.message or "").splitlines()[1:] == [
        "raised IndexError; want ValueError: it is negative",
        "  list index out of range",
        "  thing.py, line 2 in thing",
        "      return [0, 1, 2].index(x) if x > 0 else [][x]",
    ]


def test_a_stage_is_not_done_while_a_helper_that_calls_it_fails(bench: Bench) -> None:
    stages = "".join(f'[[stages]]\ntitle = "{name}"\nparts = ["{name}"]\n' for name in ("first", "second"))
    bench.kata_toml(
        f'support = ["helper.py"]\n{stages}',
        required='["first", "second"]',
    )
    (bench.folder / "thing.py").write_text("def first(x):\n    raise NotImplementedError\n\nsecond = first\n")
    (bench.folder / "helper.py").write_text("def calls(function, x):\n    return function(x)\n")
    bench.checks("""
    from grader.engine.checks import given_module

    @check(aspect="values", on_workers_word="a right answer is known here")
    def test_it(submission):
        "claim"
        expect(given_module(submission, "helper").calls(submission.second, 1)).is_value(2)
    """)
    report = bench.check("def first(x):\n    return 2\n\ndef second(x):\n    return 1\n")
    assert [(stage.title, stage.done) for stage in report.stages or ()] == [
        ("first", True),
        ("second", False),
    ]


def test_colours_of_a_terminal_are_left_out_of_a_message(bench: Bench) -> None:
    bench.asks("submission.thing(1)")
    assert "ValueError: do this first" in bench.said(
        "def thing(x):\n    raise ValueError('do \\x1b[1mthis\\x1b[0m first')\n"
    )
