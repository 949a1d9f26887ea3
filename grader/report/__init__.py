"""Reports: what leaves the program, and how it looks on a terminal.

May import the modules at the top; never the engine, which writes reports.
"""

from typing import Literal

Format = Literal["github", "vscode", "junit"]
FORMATS: tuple[Format, ...] = ("github", "vscode", "junit")
"""For programs that point at lines; `annotations.py` writes them."""
