"""What a submission did besides returning values: each claim is judged by what it did, not by what it says."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.engine.checks import expect_device, expect_raises, expect_strict, new_worker
from grader.engine.checks.failure import CheckFailure
from grader.engine.host.errors import SubmissionMissing, SubmissionRaised, WorkerDied, is_valid_mro

DEVICES = """
    import os
    import torch

    def used(n, *, device=None):
        return torch.ones(n, n, device=device).tril().bool()

    def by_numpy(n, *, device=None):
        import numpy
        return torch.from_numpy(numpy.tri(n)).to(device)

    def leaves(n, *, device=None):
        os._exit(3)

    def by_value(n, *, device=None):
        made = torch.ones(n, device=device)
        return made[: int(made.sum())]

    def ignored(n, *, device=None):
        return torch.ones(n)

    def printed(n, *, device=None):
        print(torch.zeros(1, device=device).device)
        return torch.ones(n)

    def printed_value(n, *, device=None):
        print(float(torch.zeros(1, device=device)))
        return torch.ones(n)

    def crashes(n, *, device=None):
        raise RuntimeError("no")
"""


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU: it is simply asked for")
@pytest.mark.parametrize("name", ["used", "by_numpy", "by_value"])
def test_who_uses_the_device_passes_where_there_is_no_gpu(examine: Any, name: str) -> None:
    expect_device(lambda there: getattr(examine(DEVICES).submission, name)(3, device=there))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU: it is simply asked for")
@pytest.mark.parametrize("name", ["ignored", "printed"])
def test_who_makes_it_elsewhere_fails_though_something_crashes_there(examine: Any, name: str) -> None:
    with pytest.raises(CheckFailure, match="wrong device  mask  got cpu  want meta"):
        expect_device(lambda there: getattr(examine(DEVICES).submission, name)(3, device=there), "mask")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU: it is simply asked for")
def test_an_exception_of_ones_own_is_not_the_absence_of_a_gpu(examine: Any) -> None:
    with pytest.raises(SubmissionRaised, match="no"):
        expect_device(lambda there: examine(DEVICES).submission.crashes(3, device=there))


def test_how_the_worker_ended_is_told_and_not_that_it_had_ended(examine: Any) -> None:
    answer = examine(DEVICES)
    with pytest.raises(WorkerDied, match="exit code 3"):
        expect_device(lambda there: answer.submission.leaves(3, device=there))


RAISES = """
    class ValueError(Exception):
        __module__ = "builtins"

    class Meta(type):
        @property
        def __mro__(cls):
            return (IndexError, Exception, BaseException, object)
        def __getattribute__(cls, name):
            return {"__name__": "IndexError", "__module__": "builtins"}.get(name) or type.__getattribute__(cls, name)

    class Posed(Exception, metaclass=Meta):
        pass

    class Own(KeyError):
        pass

    class Many(RuntimeError):
        pass

    for number in range(80):
        Many = type(f"Many{number}", (Many,), {})

    def shadowed():
        raise ValueError("not Python's")

    def posed():
        raise Posed("not Python's")

    def own():
        raise Own("mine")

    def many():
        raise Many("bases")

    def retyped():
        error = Own("mine")
        error.__class__ = Other
        raise error

    class Other(KeyError):
        pass
"""


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("own", "KeyError"),
        ("own", "LookupError"),
        ("own", "Own"),
        ("many", "RuntimeError"),
        ("retyped", "Other"),
    ],
)
def test_an_exception_is_what_its_class_derives_from(examine: Any, name: str, wanted: str) -> None:
    with expect_raises(wanted, what="here"):
        getattr(examine(RAISES).submission, name)()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("shadowed", "ValueError"), ("posed", "IndexError"), ("own", "ValueError"), ("retyped", "Own")],
)
def test_a_class_of_the_same_name_is_another(examine: Any, name: str, wanted: str) -> None:
    with pytest.raises(CheckFailure, match=f"want {wanted}: here"), expect_raises(wanted, what="here"):
        getattr(examine(RAISES).submission, name)()


def test_bases_that_no_class_has() -> None:
    plain = ["Exception", "BaseException", "object"]
    assert is_valid_mro(plain)
    assert is_valid_mro(["a.B", "KeyError", "LookupError", "ValueError", *plain])
    for names in (
        ["ValueError", "IndexError"],
        ["ValueError", "object"],
        ["IndexError", *plain],
        [*plain, "ValueError"],
        ["NoSuchError", *plain],
        ["print", *plain],
        ["a.B", "object"],
    ):
        assert not is_valid_mro(names)


def test_a_missing_attribute_is_told_from_an_attribute_error_of_ones_own(examine: Any) -> None:
    one = examine(
        "class A:\n    pass\n\ndef make():\n    return A()\n\ndef f():\n    return None .x\n"
    ).submission
    with pytest.raises(SubmissionMissing) as missing:
        one.make().nothing  # noqa: B018
    assert missing.value.type_name == "AttributeError"
    with pytest.raises(SubmissionRaised) as raised:
        one.f()
    assert not isinstance(raised.value, SubmissionMissing)
    assert not hasattr(one.make(), "nothing")


LOADS = """
    from torch import nn

    class Strict(nn.Linear):
        pass

    class Lenient(nn.Linear):
        def load_state_dict(self, state_dict, strict=True, assign=False):
            return super().load_state_dict(state_dict, strict=False, assign=assign)

    class Complete(nn.Linear):
        def load_state_dict(self, state_dict, strict=True, assign=False):
            return super().load_state_dict({**self.state_dict(), **state_dict}, strict, assign)
"""


@pytest.mark.parametrize(
    ("name", "what"),
    [("Lenient", "with a name that the module does not have"), ("Complete", "without weight")],
)
def test_names_too_many_or_too_few_have_to_be_refused(examine: Any, name: str, what: str) -> None:
    submission = examine(LOADS).submission
    expect_strict(submission.Strict(2, 3))
    with pytest.raises(CheckFailure, match=f"load_state_dict was given a state {what}") as failed:
        expect_strict(getattr(submission, name)(2, 3))
    assert "strict=False" in failed.value.failure.cause


LEAVES = """
    import os
    import random
    import torch
    from torch import nn

    print("loaded")
    seen = []

    class Model(nn.Linear):
        known = False

        def __init__(self):
            super().__init__(2, 3)

    def learn(model):
        print("learned")
        Model.known = True
        seen.append(1)
        open("left.txt", "w").close()
        nn.init.ones_(model.weight)
        return model

    def left():
        return [Model.known, seen, os.path.exists("left.txt"), hasattr(torch, "left")]

    def drawn():
        return random.random(), torch.rand(()).item()
"""


def test_a_new_worker_has_what_is_loaded_and_nothing_that_was_left_behind(examine: Any) -> None:
    opened = examine(LEAVES)
    submission, drawn = opened.submission, opened.submission.drawn()
    model = submission.learn(submission.Model())
    with torch.no_grad():
        learned = dict(model.named_parameters())
    assert submission.left() == [True, [1], True, False]
    new_worker(submission)
    assert submission.left() == [False, [], False, False]
    assert submission.drawn() == drawn
    assert opened.output() == "loaded\nlearned\n"
    with pytest.raises(WorkerDied):
        model(torch.ones(1, 2))
    new = submission.Model()
    new.load_state_dict(learned)
    assert torch.equal(new.weight, torch.ones(3, 2))
