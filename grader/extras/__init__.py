"""What the core does without: one folder for each, with its commands, pages and templates, which may be deleted.

An extra imports `grader.api` and its own modules; nothing imports an extra. `ADDS` in its `__init__.py` says what it
adds: `grader.commands` finds ours by their folders, other people's by the entry points `kata.extras`, whose values are
such modules.
"""
