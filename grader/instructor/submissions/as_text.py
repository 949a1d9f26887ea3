"""A file that was handed in, as text to read."""

from __future__ import annotations

from grader.notebooks import UnreadableNotebook, code_cells


def text_of(name: str, data: bytes) -> str:
    """Return a file as text: of a notebook its code cells; of bytes that are not text, how many there are."""
    if name.lower().endswith(".ipynb"):
        try:
            return "\n\n".join(
                f"# cell {place}\n{cell or ''}" for place, cell in enumerate(code_cells(data), 1)
            )
        except UnreadableNotebook:
            pass
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return f"({len(data)} bytes that are not text)"
