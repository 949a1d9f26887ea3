"""The command line: one thin module a command, loaded when it is used."""

from __future__ import annotations
