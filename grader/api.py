"""What an extra may import: every name that is public, and where it is from.

Nothing here is imported before somebody asks for it: some extras are light commands, and torch is heavy.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader import __version__, interpreter
    from grader.catalogue import Catalogue
    from grader.cli.context import complete_id, here, json_option, note, print_json
    from grader.cli.instructor.adjust_all import MarkLine, write_changes
    from grader.cli.instructor.class_options import author_of, author_option, lines_of, with_gradebook
    from grader.cli.learner.check import find_targets, refuse_exposed
    from grader.engine.checks.describe import describe, describe_call
    from grader.engine.checks.failure import PreconditionFailed
    from grader.engine.checks.text import WHOLE, clean
    from grader.engine.host.bootstrap import start_launcher
    from grader.engine.host.calls import CallRecord, Calls
    from grader.engine.host.errors import SubmissionRaised, WorkerDied, WorkerTimeout
    from grader.engine.host.launcher import Launcher
    from grader.engine.host.objects import handle_id
    from grader.engine.host.remote import RemoteSubmission
    from grader.engine.host.session import Session
    from grader.engine.host.source import Source, Unreadable, read_source
    from grader.engine.runner.outcome import MessageContext, Outcome
    from grader.engine.runner.plugin import CheckContext, RunConfig, WorkerBackend, check_seed
    from grader.engine.runner.suite import Suite, suites_of
    from grader.errors import EngineError, KataError, UsageError
    from grader.instructor.gradebook.events import Adjust
    from grader.instructor.gradebook.exports.cells import defuse
    from grader.instructor.gradebook.records import Mark
    from grader.instructor.gradebook.resolve import resolve_kata, resolve_katas, resolve_learner
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.html.folder import Folder, file_stem
    from grader.instructor.html.html import page
    from grader.learner.workspace import find_workspace
    from grader.learner.workspace.tools import policy_of, template
    from grader.notebooks import parse_module
    from grader.report.style import escape_controls, points, print_message
    from grader.words import counted
else:
    # Written once, as type checkers and linters read it.
    _HOMES = {
        alias.name: node.module
        for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(__import__(_HOMES[name], fromlist=[name]), name)
