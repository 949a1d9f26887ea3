"""On the meta device torch wants its compiler for nothing; what is exempt from that stays so once it is there."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import completed

pytestmark = pytest.mark.slow

ASK = """
import sys, torch
import grader.engine.worker.meta_device

def made():
    down, across = torch.arange(4, device="meta")[:, None], torch.arange(6, device="meta")
    return down >= across, torch.ones(4, 4, device="meta").tril() == 0, torch.sin(across / 10000 ** (across / 6))

shapes = [tuple(one.shape) for one in made()]
assert shapes == [(4, 6), (4, 4), (6,)], shapes
assert "torch._dynamo" not in sys.modules
import torch._dynamo
import pytest
told = []
disable = torch._dynamo.disable
torch._dynamo.disable = lambda function, *rest, **more: told.append(function) or disable(function, *rest, **more)
made()
assert told, "nothing was exempted by dynamo once it was there"
known = len(told)
made()
assert len(told) == known, "an exemption is not kept"
"""


@pytest.mark.nightly
def test_what_is_asked_of_the_meta_device_imports_no_compiler_and_is_exempt_from_it() -> None:
    done = completed([sys.executable, "-c", ASK])
    assert done.returncode == 0, done.stderr
