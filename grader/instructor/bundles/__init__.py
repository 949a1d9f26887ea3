"""Other people's hand-in systems: what is uploaded there, and what runs there.

May import everything of the instructor's below it; never cli.
"""

from typing import Literal

System = Literal["gradescope", "classroom50", "actions", "harbor", "inspect", "verifiers"]
SYSTEMS: tuple[System, ...] = ("gradescope", "classroom50", "actions", "harbor", "inspect", "verifiers")
FOLDERS: frozenset[System] = frozenset({"harbor", "inspect", "verifiers"})
"""What is a folder and not an archive."""
PUBLIC: frozenset[System] = frozenset({"classroom50", "actions"})
"""Who learns reads what these hold: nothing hidden is put into them."""
