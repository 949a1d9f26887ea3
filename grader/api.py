"""What an extra may import: every name that is public, and where it is from.

Nothing here is imported before somebody asks for it: some extras are light commands, and torch is heavy.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands import EXTRAS, load

if TYPE_CHECKING:
    from grader import DISTRIBUTION, __version__, install_extra, interpreter
    from grader.catalogue import Catalogue, Kata, Pack
    from grader.catalogue.given import blocks_in, given_files
    from grader.catalogue.markdown import embedded, in_words
    from grader.catalogue.pack_code import defined_names
    from grader.cli.context import complete_id, gathered, here, json_option, note, print_json
    from grader.cli.instructor.adjust import MarkLine, write_changes
    from grader.cli.instructor.class_options import (
        By,
        author_of,
        author_option,
        course_option,
        decision,
        gradebook_option,
        lines_of,
        print_line,
        same_book,
        with_gradebook,
    )
    from grader.cli.instructor.export import note_unmatched, note_waiting, only_option
    from grader.cli.instructor.rulings import covered
    from grader.cli.learner.check import find_targets, refuse_exposed
    from grader.data_files import READING, read_bounded, regular_file
    from grader.engine.checks.decorators import Aspect
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
    from grader.engine.mistakes.mistakes import mistakes
    from grader.engine.runner.outcome import MessageContext, Outcome
    from grader.engine.runner.plugin import CheckContext, RunConfig, WorkerBackend, check_seed
    from grader.engine.runner.suite import Suite, suites_of
    from grader.engine.wire import frames
    from grader.errors import EngineError, KataError, UsageError
    from grader.files import write_atomic
    from grader.instructor.bundles import FolderBundle, wheels
    from grader.instructor.gradebook import events, written_answers
    from grader.instructor.gradebook.course import Course, Total, total, written_total
    from grader.instructor.gradebook.errors import ConflictError
    from grader.instructor.gradebook.events import (
        ABOUT_HAND_INS,
        AboutMark,
        Adjust,
        Alike,
        AnswerMark,
        Assign,
        Event,
        Provenance,
        Release,
        Thread,
        active_releases,
        fold,
    )
    from grader.instructor.gradebook.exports.cells import defuse, number
    from grader.instructor.gradebook.exports.tables import Column, by_assignment, columns_of, marks_of
    from grader.instructor.gradebook.identities import words_in
    from grader.instructor.gradebook.pushes import Push
    from grader.instructor.gradebook.resolve import (
        MOST_POINTS,
        days_meant,
        insist_on_deadline,
        mark_meant,
        resolve_kata,
        resolve_katas,
        resolve_learner,
        slugs_meant,
    )
    from grader.instructor.gradebook.row_types import (
        AttemptGraded,
        Decided,
        Given,
        Mark,
        SeenAgain,
        TakenBack,
        UnusedTime,
        by_learner,
    )
    from grader.instructor.gradebook.store import Gradebook
    from grader.instructor.gradebook.teams import set_teams
    from grader.instructor.gradebook.written_answers import (
        WITHDRAWN,
        AnswerSheet,
        Rubrics,
        WrittenAnswer,
        load_sheet,
    )
    from grader.instructor.grading.cache_key import kata_digest
    from grader.instructor.grading.executors import Slots
    from grader.instructor.grading.groups import Group, failure_of, grouped, lines_at_fault
    from grader.instructor.grading.items import ItemAnalysis, analysed, results_of
    from grader.instructor.grading.problems import UNMATCHED, WITHOUT_EFFECT, Problem, problems, unsettled
    from grader.instructor.grading.take_files import TakenFile, take
    from grader.instructor.html import KataTexts, text
    from grader.instructor.html.folder import Folder, file_stem
    from grader.instructor.html.html import TEMPLATES, environment_of, page
    from grader.instructor.html.text import MAX_LINES, code_lines
    from grader.instructor.html.viewer import Viewer, when
    from grader.instructor.lms.find import find_learners
    from grader.instructor.lms.person import Person
    from grader.instructor.submissions.as_text import text_of
    from grader.instructor.submissions.names import listed
    from grader.instructor.submissions.submission import Bundle
    from grader.instructor.tokens import Piece, TooMuch, Words
    from grader.learner.workspace import find_workspace
    from grader.learner.workspace.notebook import notebook_text
    from grader.learner.workspace.tools import filled, policy_of, template
    from grader.notebooks import UnreadableNotebook, parse_module, read_notebook
    from grader.report.report import UNWRITTEN, WRONG, KataReport, KataStatus
    from grader.report.style import STATUS_STYLES, console, escape_controls, points, print_message, safe_text
    from grader.words import counted, typed_number, whole_number
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
        # Not `load`: a name may be that of a module, which nothing has imported yet.
        return getattr(__import__(_HOMES[name], fromlist=[name]), name)
