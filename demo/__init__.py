"""A learner's session, played without a person: every command is real, and so is what it prints."""

from __future__ import annotations
