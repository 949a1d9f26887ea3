"""Let `python -m grader` be `kata`, where no console script is installed."""

from __future__ import annotations

from grader.cli.entry import main

main()
