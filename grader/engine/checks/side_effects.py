"""What a submission did besides returning values: raised, changed its arguments, used what is excluded."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch

from grader.engine.checks.describe import changed_arguments, describe
from grader.engine.checks.expect import expect
from grader.engine.checks.failure import (
    IN_PLACE,
    CheckFailure,
    PreconditionFailed,
    fail,
    fail_policy,
    supposing,
)
from grader.engine.checks.raised import describe_frame, supposed_of
from grader.engine.checks.text import WHOLE, clean
from grader.engine.host.calls import Lent
from grader.engine.host.errors import SubmissionRaised, SubmissionUnsendable
from grader.engine.host.objects import RemoteObject, forgeable, label_calls_as, state_of
from grader.engine.host.remote import context_of


def given_module(submission: Any, name: str) -> Any:
    """Return a module of the kata's `support` or `given`, which runs next to the submission.

    The submission can replace what it holds, so values that come out of it, or out of objects that it made, are
    refused, unless `@check(on_workers_word=...)` says why they are enough. Objects may be handed to the submission:
    what that returns for them is the check's to judge, like everything that it returns.
    """
    found = context_of(submission).given(name)
    if isinstance(found, RemoteObject) and not context_of(submission).calls.on_workers_word:
        state_of(found).helper = name
    return found


def load_parameters(module: Any, numbers: Mapping[str, torch.Tensor]) -> None:
    """Load some parameters of a module; the rest of it stays.

    Raises:
        CheckFailure: it has no parameter of a name, or one of another size.
    """
    __tracebackhide__ = True
    own = module.state_dict()
    for name, value in numbers.items():
        if name not in own:
            fail(f"no parameter  {name}  it cannot be loaded", stage="names")
        if own[name].shape != value.shape:
            fail(f"wrong size  {name}  is {list(own[name].shape)}; want {list(value.shape)}", stage="names")
    module.load_state_dict(numbers, strict=False)


def new_worker(submission: Any) -> None:
    """Go on in a new worker, which has loaded the submission and nothing else.

    What the submission left behind is gone (attributes of classes, globals, caches, files), and so is every object that
    the check got from it. Tensors stay: what a model knows is what its parameters carry from one worker to the next.
    """
    context = context_of(submission)
    context.calls.clear()  # they are calls of objects that are gone
    context.session.renew()


def callback(function: Callable[..., Any]) -> Any:
    """Return something that a check may pass into the worker, where it is called like `function`, which runs here.

    The check sees its calls, their order and how often they are made; books that a helper in the worker keeps are
    the submission's word. Arguments and answers are what may cross: tensors, numbers, text, and lists of them. What the
    function raises ends the check; it may not call the submission.
    """
    return Lent(function)


def keep_grad_mode(submission: Any) -> AbstractContextManager[None]:
    """Let the calls inside go on in the gradient mode that the submission's latest call left behind."""
    return context_of(submission).session.calling(as_left=True)


@contextmanager
def same_tensors(submission: Any) -> Iterator[None]:
    """Let calls of one form get the same tensors, refilled as in a loop over buffers; no gradients are recorded."""
    with torch.no_grad(), context_of(submission).session.calling(same_tensors=True):
        yield


def fingerprint_facts(submission: Any, **facts: Any) -> None:
    """Let these facts say which mistake was made, in place of what the submission returned so far in this check.

    For what is drawn at random, or is left to the learner: another's numbers are never the same there, and shares of
    them, or what is equal to what, are. Round shares so coarsely that no draw moves them. What the parameters of a
    module begin as is not a fact: those of modules that a check makes are redrawn while a mistake is recognised.

    Args:
        facts: plain data, at most 12 of them: bool, int, float, str, None, and lists of these.
    """
    context_of(submission).session.log.observed[:] = [facts]


def without_fingerprint(value: Any) -> AbstractContextManager[None]:
    """Let no answer inside count as a sign of which mistake was made.

    Args:
        value: something of the submission's; nothing is noted of what is not.
    """
    return state_of(value).session.without_fingerprint() if isinstance(value, RemoteObject) else nullcontext()


def label_calls(helper: Any, learners: Any) -> None:
    """Let messages speak of calls of `helper`, something given, as if they were calls of `learners`."""
    label_calls_as(helper, learners)


@contextmanager
def precondition(what: str) -> Iterator[None]:
    """Skip the check when what it rests on does not hold, so that its title accuses nobody of what it did not see.

    What is inside is another check's affair: a first call that has to return at all before one can see whether it
    changed its argument. What is not written, hangs or dies is told as ever.

    Args:
        what: what has to hold, completing "first …", e.g. "forward has to return [B, T, D]".
    """
    __tracebackhide__ = True
    try:
        yield
    except CheckFailure as error:
        # Skipped, not failed: the check whose title names this does the judging.
        raise PreconditionFailed(what, error.failure.summary[0]) from error
    except (SubmissionRaised, SubmissionUnsendable) as error:
        if isinstance(error, SubmissionRaised) and error.not_written:
            raise
        raise PreconditionFailed(what, str(error)) from error


@contextmanager
def only_if(what: str, holds: Callable[[], object]) -> Iterator[None]:
    """Let a wrong value inside count only where `holds()` passes; else the check is skipped.

    For checks that compare a special case with the right answer: "scores in the thousands do not overflow" says nothing
    of an answer that is as wrong for ordinary scores.

    Args:
        what: what has to hold, completing "first …", e.g. "ordinary scores have to give the right weights".
        holds: looks at that; raises as a check does.
    """
    __tracebackhide__ = True
    try:
        yield
    except CheckFailure:
        with precondition(what):
            holds()
        raise


@contextmanager
def expect_raises(name: str, what: str) -> Iterator[None]:
    """Demand that the calls inside raise the exception `name` or a subclass of it.

    Args:
        name: the exception's name, e.g. `ValueError`.
        what: the situation, completing "... must raise ValueError", e.g. "3 heads cannot share 10 columns".
    """
    __tracebackhide__ = True
    try:
        yield
    except SubmissionRaised as error:
        # A stub raises by itself: that would pass for the exception that is required.
        if error.not_written and name != "NotImplementedError":
            raise
        if not any(_is_called(kind, name) for kind in error.type_names):
            message = [f"  {clean(error.message, WHOLE)}"] if error.message.strip() else []
            want = f"raised {error.type_name}; want {name}: {what}"
            fail(want, *message, *_place(error), stage="raises", cause=supposed_of(error))
        if error.helper:
            # A helper module runs next to the submission, which can make it raise whatever the check
            # expects.
            raise forgeable(f"{error.helper} raised {name}") from error
    else:
        fail(f"raised nothing; want {name}: {what}", stage="raises")


@contextmanager
def expect_no_error(what: str) -> Iterator[None]:
    """Demand that the calls inside raise nothing.

    Args:
        what: why nothing is wrong there, e.g. "5 positions fit into max_len=5".
    """
    __tracebackhide__ = True
    try:
        yield
    except SubmissionRaised as error:
        if error.not_written:
            raise
        raised = f"raised {error.type_name}: {clean(error.message, WHOLE)}"
        fail(raised, f"  {what}", *_place(error), stage="raises", cause=supposed_of(error))


def _place(error: SubmissionRaised) -> list[str]:
    """Return the learner's line that raised, as a failure shows it below what was raised."""
    return [f"  {line}" for frame in error.frames[-1:] for line in describe_frame(frame)]


def expect_unchanged(submission: Any) -> None:
    """Demand that the latest call left the tensors it was given as they were."""
    __tracebackhide__ = True
    calls = context_of(submission).calls
    call = calls.last
    if call is None or not call.changed:
        return
    parameters = calls.parameters.get(call.signature, ())
    names = changed_arguments(parameters, call.args, call.kwargs, call.changed)
    fail(
        f"changed what it was given: {', '.join(names)}",
        *(f"  it was {describe(value)}" for value in call.changed[:2]),
        stage="arguments",
        cause=IN_PLACE,
    )


def expect_strict(module: Any) -> dict[str, torch.Tensor]:
    """Demand that a module refuses to load a state that lacks one of its names, or has another, as torch's own does.

    Returns:
        Its own state.
    """
    __tracebackhide__ = True
    own: dict[str, torch.Tensor] = module.state_dict()
    states = {"with a name that the module does not have": {**own, "no.such.name": torch.zeros(1)}}
    for name in list(own)[:1]:
        states[f"without {name}"] = {other: value for other, value in own.items() if other != name}
    likely = "your load_state_dict takes the place of torch's, or passes on strict=False"
    for what, state in states.items():
        with supposing(likely), expect_raises("RuntimeError", f"load_state_dict was given a state {what}"):
            module.load_state_dict(state)
    return own


def expect_device(make: Callable[[torch.device], Any], name: str = "result") -> None:
    """Demand that `make(device)` makes its tensor on that device, also where there is no second one.

    It is asked for a GPU. Where there is none, it is asked for the meta device, which every torch has: a tensor there
    has a shape and a place and no values. Code that needs values to go on cannot answer that; of it a GPU is asked all
    the same, and torch's refusal because there is none is right. Any other exception is the submission's own.
    """
    __tracebackhide__ = True
    if not torch.cuda.is_available() and _is_on_meta(make, name):
        return
    # Needs values, so it cannot answer on meta: then torch's own refusal shows that the device was used.
    there = torch.device("cuda")
    try:
        value = make(there)
    except SubmissionRaised as error:
        if error.type_name in _ABSENT and any(words in error.message for words in _ABSENT[error.type_name]):
            return
        raise
    expect(value, name).is_tensor(device=there)


_ABSENT = {
    "AssertionError": ("Torch not compiled with CUDA enabled",),
    "RuntimeError": ("Found no NVIDIA driver", "No CUDA GPUs are available"),
}
"""What torch 2.13 says of a GPU that is not there: built without CUDA, without a driver, without a device."""


def _is_on_meta(make: Callable[[torch.device], Any], name: str) -> bool:
    """Tell whether a tensor was made on the meta device; False when the code cannot work without values."""
    __tracebackhide__ = True
    meta = torch.device("meta")
    try:
        value = make(meta)
    except SubmissionUnsendable as error:
        # It was made there and could not be sent, as it has no values: that is the proof.
        if error.device == meta.type:
            return True
        raise
    except SubmissionRaised as error:
        if error.not_written:
            raise
        return False
    expect(value, name).is_tensor(device=meta)
    return True


def expect_from_scratch(submission: Any) -> None:
    """Demand that nothing was used which the kata excludes; the kata's policy says what to write instead."""
    __tracebackhide__ = True
    session = context_of(submission).session
    if used := session.forbidden_uses():
        fail_policy(used, session.terms.advice)


def _is_called(kind: str, name: str) -> bool:
    """Tell whether a class is meant by `name`: Python's own, or another by its dotted name or the end of it."""
    return kind == name or (not hasattr(builtins, name) and kind.endswith(f".{name}"))


def expect_dropped_apart(run: Callable[[torch.Tensor], torch.Tensor], row: torch.Tensor) -> None:
    """Demand that what is dropped at one position or in one row says nothing of another.

    So nothing is dropped in a row of n positions as seldom as n times in a row of one.

    Args:
        run: from tokens [B, T] to [B, ...], by a model with little dropout, one layer and many features.
        row: one token several times.
    """
    __tracebackhide__ = True
    each = "each number is dropped by itself"
    shares = []
    for length in (1, len(row)):
        rows = row[:length].expand(256, length).contiguous()
        calls = torch.stack([run(rows) for _ in range(32)]).flatten(2)
        calls = (calls * (1e4 / calls.abs().max())).round()
        whole = [_commonest(call) for call in calls]
        if length == 1 and any((drawn - whole[0]).abs().max() > 1 for drawn in whole):
            message = f"wrong dropout  what is dropped in one row is dropped in all: {each}"
            fail(message, cause="your dropout draws one pattern for the whole batch")
        whole_rows = (calls - _commonest(calls.flatten(0, 1))).abs().amax(dim=-1) <= 1
        shares.append(float(whole_rows.double().mean()))
    if shares[1] > 1.45 * shares[0] ** len(row):
        message = f"wrong dropout  a feature is dropped at all positions, or at none: {each}"
        fail(message, cause="your dropout drops whole features, as nn.Dropout1d does")


def _commonest(rows: torch.Tensor) -> torch.Tensor:
    several, counts = torch.unique(rows, dim=0, return_counts=True)
    found: torch.Tensor = several[counts.argmax()]
    return found
