"""The command line: one thin module a command, imported when it is used.

May import every room; no other room imports it.
"""

from __future__ import annotations
