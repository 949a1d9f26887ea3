"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

TIME = sa.String(32).with_variant(sa.DateTime(timezone=True), "postgresql")


def upgrade() -> None:
    """Make every table."""
    op.create_table(
        "meta",
        sa.Column("id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("nonce", sa.LargeBinary, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("written_by", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_meta"),
        sa.CheckConstraint("id = 1", name="ck_meta_single"),
    )
    op.create_table(
        "learners",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_learners"),
        sa.UniqueConstraint("name", name="uq_learners_name"),
    )
    op.create_table(
        "katas",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("slug", sa.Text, nullable=False),
        sa.Column("number", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_katas"),
        sa.UniqueConstraint("slug", name="uq_katas_slug"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        sa.Column("arguments", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("process", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_table(
        "contents",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("bundle", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_contents"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("kata_id", sa.Integer, nullable=False),
        sa.Column("content", sa.String(64)),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("terms", sa.Text, nullable=False),
        sa.Column("submitted_at", TIME),
        sa.Column("graded_at", TIME, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("max_score", sa.Double, nullable=False),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("isolation", sa.Text, nullable=False),
        sa.Column("device", sa.Text, nullable=False),
        sa.Column("duration_s", sa.Double, nullable=False),
        sa.Column("versions", sa.Text, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_attempts_run_id"),
        sa.ForeignKeyConstraint(["learner_id"], ["learners.id"], name="fk_attempts_learner_id"),
        sa.ForeignKeyConstraint(["kata_id"], ["katas.id"], name="fk_attempts_kata_id"),
        sa.ForeignKeyConstraint(["content"], ["contents.digest"], name="fk_attempts_content"),
    )
    op.create_index("ix_attempts_run_id", "attempts", ["run_id"])
    op.create_index("ix_attempts_content", "attempts", ["content"])
    op.create_index("ix_attempts_learner_id_kata_id", "attempts", ["learner_id", "kata_id"])
    op.create_table(
        "submissions",
        sa.Column("learner_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("kata_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("attempt_id", sa.Integer, nullable=False),
        sa.Column("run_id", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("submitted_at", TIME),
        sa.Column("origin", sa.Text),
        sa.Column("notes", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("learner_id", "kata_id", name="pk_submissions"),
        sa.ForeignKeyConstraint(["learner_id"], ["learners.id"], name="fk_submissions_learner_id"),
        sa.ForeignKeyConstraint(["kata_id"], ["katas.id"], name="fk_submissions_kata_id"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_submissions_attempt_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_submissions_run_id"),
    )
    op.create_index("ix_submissions_run_id", "submissions", ["run_id"])
    op.create_table(
        "checks",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("kata_id", sa.Integer, nullable=False),
        sa.Column("function", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("aspect", sa.Text, nullable=False),
        sa.Column("hidden", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_checks"),
        sa.ForeignKeyConstraint(["kata_id"], ["katas.id"], name="fk_checks_kata_id"),
        sa.UniqueConstraint(
            "kata_id",
            "function",
            "name",
            "aspect",
            "hidden",
            name="uq_checks_kata_id_function_name_aspect_hidden",
        ),
    )
    op.create_table(
        "results",
        sa.Column("attempt_id", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("check_id", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("points", sa.Double, nullable=False),
        sa.Column("max_points", sa.Double, nullable=False),
        sa.Column("misconception", sa.Text),
        sa.PrimaryKeyConstraint("attempt_id", "position", name="pk_results"),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name="fk_results_attempt_id"),
        sa.ForeignKeyConstraint(["check_id"], ["checks.id"], name="fk_results_check_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_results_check_id", "results", ["check_id"])
    op.create_table(
        "adjustments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("learner_id", sa.Integer, nullable=False),
        sa.Column("kata_id", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("points", sa.Double, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("revoked_at", TIME),
        sa.Column("revoked_by", sa.Text),
        sa.Column("revoked_because", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_adjustments"),
        sa.CheckConstraint("kind IN ('adjust', 'override')", name="ck_adjustments_kind"),
        sa.ForeignKeyConstraint(["learner_id"], ["learners.id"], name="fk_adjustments_learner_id"),
        sa.ForeignKeyConstraint(["kata_id"], ["katas.id"], name="fk_adjustments_kata_id"),
    )
    op.create_index("ix_adjustments_learner_id_kata_id", "adjustments", ["learner_id", "kata_id"])
