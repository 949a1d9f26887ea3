"""Failures we expect, worded for the person who reads them; each knows its exit code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


class KataError(Exception):
    """Say what went wrong in one sentence, and what to do next in another."""

    exit_code = 3

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(KataError):
    """The command as typed cannot be carried out: unknown ID, no workspace here, file in the way."""

    exit_code = 2

    @classmethod
    def of_all(cls, errors: Sequence[UsageError], hint: str | None = None) -> UsageError:
        """Make one error of several, each with what to do about it.

        Args:
            errors: one or more.
            hint: what to do about one that says nothing of it.
        """
        if len(errors) == 1:
            return cls(errors[0].message, errors[0].hint or hint)
        lines = [
            line for error in errors for line in (error.message, *([f"  {error.hint}"] if error.hint else []))
        ]
        return cls("\n".join(lines), hint)


class PackError(KataError):
    """A pack is broken: the file, the key, and what is allowed are in the message."""

    exit_code = 3


class EngineError(KataError):
    """Our own fault, or the machine's: a worker cannot be started, the disk is full."""

    exit_code = 3


class MachineFault(EngineError):
    """The machine's fault, in a process that may have no use any more: a fresh one may do better, here or later."""


def did_you_mean(word: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> str:
    """Return a sentence, with a blank before it, that says what an unknown word is close to; empty when nothing is.

    Args:
        word: what was typed.
        known: what it could have been; of a mapping, its values are suggested, each once.
        most: so many at the most.
        cutoff: how close is close, from 0 to 1.
    """
    import difflib  # takes longer than most commands need to answer

    names = list(known)
    close = difflib.get_close_matches(word, names, n=most, cutoff=cutoff)
    close = [known[name] for name in close] if isinstance(known, Mapping) else close
    return f" Did you mean {' or '.join(dict.fromkeys(close))}?" if close else ""
