"""Checks mix no devices: found on a pretended one, where there is no GPU."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import TESTS, completed

SOME = ["masked-attention", "layer-norm", "optimizer"]
"""Contracts of a function and of a module, and what a support module makes for a submission."""


@pytest.mark.gate
def test_every_reference_passes_on_another_device(everything: bool) -> None:
    command = [sys.executable, "-m", "tests.host.pretended", *([] if everything else SOME)]
    ran = completed(command, cwd=TESTS.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
