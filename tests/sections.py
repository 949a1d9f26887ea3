"""Several small files in one: each begins with a line such as `# ==== its_name ====`, and lines count from there."""

from __future__ import annotations

import re
from pathlib import Path

_MARK = re.compile(r"^# ==== (\w+) ====\n", re.MULTILINE)


def sections(path: Path) -> dict[str, str]:
    """Return the text of each file by its name; what comes before the first mark belongs to none."""
    _, *parts = _MARK.split(path.read_text())
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    assert len(texts) == len(parts) // 2, f"{path} has two sections of one name"
    return {name: f"{text.rstrip()}\n" for name, text in texts.items()}
