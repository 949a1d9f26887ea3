"""What brings a gradebook's tables from one version to the next.

A new gradebook has the tables of `schema` at once: a step repeats for existing ones what changed there, and says it for
both databases. A step that has been released is never changed.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

_KEPT_FOR_EVER = """
CREATE TEMPORARY TABLE stood AS SELECT * FROM submissions;
DROP TABLE submissions;
CREATE TABLE submissions (
    id {number} NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    attempt_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    submitted_at {time},
    time_source TEXT,
    origin TEXT,
    notes TEXT NOT NULL,
    CONSTRAINT pk_submissions PRIMARY KEY (id),
    CONSTRAINT fk_submissions_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_submissions_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id),
    CONSTRAINT fk_submissions_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
    CONSTRAINT fk_submissions_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
);
CREATE INDEX ix_submissions_run_id ON submissions (run_id);
CREATE INDEX ix_submissions_learner_id_kata_id ON submissions (learner_id, kata_id);
CREATE TABLE rulings (
    id {number} NOT NULL,
    kind TEXT NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER,
    value TEXT NOT NULL,
    comment TEXT NOT NULL,
    author TEXT NOT NULL,
    at {time} NOT NULL,
    revoked_at {time},
    revoked_by TEXT,
    revoked_because TEXT,
    CONSTRAINT pk_rulings PRIMARY KEY (id),
    CONSTRAINT fk_rulings_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_rulings_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
CREATE INDEX ix_rulings_learner_id ON rulings (learner_id);
INSERT INTO submissions (
    learner_id, kata_id, digest, attempt_id, run_id, seen, submitted_at, time_source, origin, notes
)
SELECT made.learner_id, made.kata_id, made.digest, newest.id, newest.run_id, newest.id, made.submitted_at,
    NULL, NULL, '[]'
FROM (
    SELECT learner_id, kata_id, digest, submitted_at, max(id) AS newest FROM attempts
    GROUP BY learner_id, kata_id, digest, submitted_at
) AS made
JOIN attempts AS newest ON newest.id = made.newest
WHERE NOT EXISTS (SELECT 1 FROM stood JOIN attempts AS last ON last.id = stood.attempt_id
    WHERE stood.learner_id = made.learner_id AND stood.kata_id = made.kata_id AND last.digest = made.digest
    AND (made.digest = '' OR made.submitted_at IS NULL OR stood.submitted_at {same} made.submitted_at))
ORDER BY newest.id;
INSERT INTO submissions (
    learner_id, kata_id, digest, attempt_id, run_id, seen, submitted_at, time_source, origin, notes
)
SELECT stood.learner_id, stood.kata_id, last.digest, last.id, stood.run_id,
    (SELECT max(id) + 1 FROM attempts), stood.submitted_at, NULL, stood.origin, stood.notes
FROM stood JOIN attempts AS last ON last.id = stood.attempt_id
ORDER BY stood.learner_id, stood.kata_id;
UPDATE submissions SET attempt_id = coalesce(
    (SELECT max(id) FROM attempts WHERE attempts.learner_id = submissions.learner_id
        AND attempts.kata_id = submissions.kata_id AND attempts.digest = submissions.digest AND attempts.terms <> ''),
    attempt_id
);
DROP TABLE stood
"""


def _kept_for_ever(connection: Connection) -> None:
    """Every hand-in gets a row, also those that a later one had taken the place of; people may decide more."""
    postgres = connection.dialect.name == "postgresql"
    words = {"number": "INTEGER", "time": "VARCHAR(32)", "same": "IS"}
    if postgres:
        words = {"number": "SERIAL", "time": "TIMESTAMP WITH TIME ZONE", "same": "IS NOT DISTINCT FROM"}
    for statement in _KEPT_FOR_EVER.format(**words).split(";\n"):
        connection.exec_driver_sql(statement)


_RULINGS_OF_A_CLASS = """
CREATE TEMPORARY TABLE ruled AS SELECT * FROM rulings;
DROP TABLE rulings;
CREATE TABLE rulings (
    id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    learner_id INTEGER,
    kata_id INTEGER,
    value TEXT NOT NULL,
    comment TEXT NOT NULL,
    author TEXT NOT NULL,
    at VARCHAR(32) NOT NULL,
    revoked_at VARCHAR(32),
    revoked_by TEXT,
    revoked_because TEXT,
    CONSTRAINT pk_rulings PRIMARY KEY (id),
    CONSTRAINT fk_rulings_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_rulings_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
INSERT INTO rulings SELECT * FROM ruled;
DROP TABLE ruled;
CREATE INDEX ix_rulings_learner_id ON rulings (learner_id)
"""
_WRITTEN_ANSWERS = """
CREATE TABLE answers (
    id {number} NOT NULL,
    run_id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    content VARCHAR(64) NOT NULL,
    answered TEXT NOT NULL,
    submitted_at {time},
    time_source TEXT,
    origin TEXT,
    at {time} NOT NULL,
    CONSTRAINT pk_answers PRIMARY KEY (id),
    CONSTRAINT fk_answers_run_id FOREIGN KEY(run_id) REFERENCES runs (id),
    CONSTRAINT fk_answers_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_answers_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id),
    CONSTRAINT fk_answers_content FOREIGN KEY(content) REFERENCES contents (digest)
);
CREATE INDEX ix_answers_run_id ON answers (run_id);
CREATE INDEX ix_answers_learner_id_kata_id ON answers (learner_id, kata_id);
CREATE TABLE answer_marks (
    id {number} NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    question INTEGER NOT NULL,
    answer TEXT NOT NULL,
    criteria TEXT NOT NULL,
    points {double} NOT NULL,
    max_points {double} NOT NULL,
    comment TEXT NOT NULL,
    author TEXT NOT NULL,
    at {time} NOT NULL,
    revoked_at {time},
    revoked_by TEXT,
    revoked_because TEXT,
    CONSTRAINT pk_answer_marks PRIMARY KEY (id),
    CONSTRAINT fk_answer_marks_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_answer_marks_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
CREATE INDEX ix_answer_marks_learner_id_kata_id ON answer_marks (learner_id, kata_id)
"""


def _written_answers(connection: Connection) -> None:
    """Written answers and their marks; a ruling may hold for the whole class."""
    if connection.dialect.name == "postgresql":
        first = "ALTER TABLE rulings ALTER COLUMN learner_id DROP NOT NULL"
        words = {"number": "SERIAL", "time": "TIMESTAMP WITH TIME ZONE", "double": "DOUBLE PRECISION"}
    else:  # SQLite cannot drop a constraint
        first = _RULINGS_OF_A_CLASS
        words = {"number": "INTEGER", "time": "VARCHAR(32)", "double": "DOUBLE"}
    for statement in f"{first};\n{_WRITTEN_ANSWERS.format(**words)}".split(";\n"):
        connection.exec_driver_sql(statement)


STEPS: dict[str, Callable[[Connection], None]] = {"0002": _kept_for_ever, "0003": _written_answers}
"""By version, oldest first."""
