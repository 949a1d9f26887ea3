"""Kata: autograded machine-learning exercises that explain what is wrong."""

from __future__ import annotations

__version__ = "0.1.0"
