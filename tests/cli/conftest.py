"""What tests of commands share: a kata that was just started."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ran


@pytest.fixture
def stub(kata: Callable[..., Ran], folder: Path) -> Path:
    """The stub of masks, just started."""
    assert kata("start", "masks").code == 0
    return folder / "9.3-encoder-vs-decoder" / "masks" / "masks.py"
