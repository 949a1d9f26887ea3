"""Kata: autograded machine-learning exercises that explain what is wrong."""

from __future__ import annotations

__version__ = "0.1.0"

DISTRIBUTION = "tensor-kata"
"""What pip calls this. The name `kata` on the public index is another project's, so no hint may say it."""

TRIED = {"Python": "3.11", "torch": "2.13"}
"""The versions that all tests have run with; `.github/workflows/versions.yml` is for others."""


def install_extra(name: str) -> str:
    """Return the command that installs an extra of pyproject.toml."""
    return f"pip install '{DISTRIBUTION}[{name}]'"
