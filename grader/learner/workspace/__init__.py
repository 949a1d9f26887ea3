"""A learner's files and progress: scaffolding, finding answers, progress, reset.

May import engine and below; never instructor, author or cli.
"""

from __future__ import annotations

from grader.learner.workspace.folder import (
    Workspace,
    find_workspace,
    kata_around,
    lost_workspace,
    require_workspace,
    unit_around,
    workspace_to_start_in,
)
from grader.learner.workspace.locate import katas_in, locate, source_folders
from grader.learner.workspace.progress import (
    PROGRESS_FILE,
    KataProgress,
    Progress,
    edit_progress,
    load_progress,
    now,
    record_check,
    save_progress,
)
from grader.learner.workspace.scaffold import (
    Reset,
    Started,
    changed_blocks,
    reset,
    start,
    unrevealed_katas,
)

__all__ = [
    "PROGRESS_FILE",
    "KataProgress",
    "Progress",
    "Reset",
    "Started",
    "Workspace",
    "changed_blocks",
    "edit_progress",
    "find_workspace",
    "kata_around",
    "katas_in",
    "load_progress",
    "locate",
    "lost_workspace",
    "now",
    "record_check",
    "require_workspace",
    "reset",
    "save_progress",
    "source_folders",
    "start",
    "unit_around",
    "unrevealed_katas",
    "workspace_to_start_in",
]
