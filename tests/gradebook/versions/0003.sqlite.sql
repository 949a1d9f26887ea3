CREATE TABLE contents (
    digest VARCHAR(64) NOT NULL,
    size INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    CONSTRAINT pk_contents PRIMARY KEY (digest)
);
CREATE TABLE kata_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT pk_kata_version PRIMARY KEY (version_num)
);
CREATE TABLE katas (
    id INTEGER NOT NULL,
    slug TEXT NOT NULL,
    number TEXT NOT NULL,
    CONSTRAINT pk_katas PRIMARY KEY (id),
    CONSTRAINT uq_katas_slug UNIQUE (slug)
);
CREATE TABLE learners (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    CONSTRAINT pk_learners PRIMARY KEY (id),
    CONSTRAINT uq_learners_name UNIQUE (name)
);
CREATE TABLE meta (
    id INTEGER NOT NULL CONSTRAINT ck_meta_single CHECK (id = 1),
    nonce BLOB NOT NULL,
    created_at VARCHAR(32) NOT NULL,
    created_by TEXT NOT NULL,
    written_by TEXT NOT NULL,
    CONSTRAINT pk_meta PRIMARY KEY (id)
);
CREATE TABLE runs (
    id INTEGER NOT NULL,
    started_at VARCHAR(32) NOT NULL,
    finished_at VARCHAR(32),
    arguments TEXT NOT NULL,
    version TEXT NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (id)
);
CREATE TABLE adjustments (
    id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    kind TEXT NOT NULL CONSTRAINT ck_adjustments_kind CHECK (kind IN ('adjust', 'override')),
    points DOUBLE NOT NULL,
    comment TEXT NOT NULL,
    author TEXT NOT NULL,
    at VARCHAR(32) NOT NULL,
    revoked_at VARCHAR(32),
    revoked_by TEXT,
    revoked_because TEXT,
    CONSTRAINT pk_adjustments PRIMARY KEY (id),
    CONSTRAINT fk_adjustments_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_adjustments_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
CREATE INDEX ix_adjustments_learner_id_kata_id ON adjustments (learner_id, kata_id);
CREATE TABLE answer_marks (
    id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    question INTEGER NOT NULL,
    answer TEXT NOT NULL,
    criteria TEXT NOT NULL,
    points DOUBLE NOT NULL,
    max_points DOUBLE NOT NULL,
    comment TEXT NOT NULL,
    author TEXT NOT NULL,
    at VARCHAR(32) NOT NULL,
    revoked_at VARCHAR(32),
    revoked_by TEXT,
    revoked_because TEXT,
    CONSTRAINT pk_answer_marks PRIMARY KEY (id),
    CONSTRAINT fk_answer_marks_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_answer_marks_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
CREATE INDEX ix_answer_marks_learner_id_kata_id ON answer_marks (learner_id, kata_id);
CREATE TABLE answers (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    content VARCHAR(64) NOT NULL,
    answered TEXT NOT NULL,
    submitted_at VARCHAR(32),
    time_source TEXT,
    origin TEXT,
    at VARCHAR(32) NOT NULL,
    CONSTRAINT pk_answers PRIMARY KEY (id),
    CONSTRAINT fk_answers_run_id FOREIGN KEY(run_id) REFERENCES runs (id),
    CONSTRAINT fk_answers_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_answers_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id),
    CONSTRAINT fk_answers_content FOREIGN KEY(content) REFERENCES contents (digest)
);
CREATE INDEX ix_answers_learner_id_kata_id ON answers (learner_id, kata_id);
CREATE INDEX ix_answers_run_id ON answers (run_id);
CREATE TABLE attempts (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    content VARCHAR(64),
    digest TEXT NOT NULL,
    terms TEXT NOT NULL,
    submitted_at VARCHAR(32),
    graded_at VARCHAR(32) NOT NULL,
    status TEXT NOT NULL,
    score DOUBLE NOT NULL,
    max_score DOUBLE NOT NULL,
    seed TEXT NOT NULL,
    isolation TEXT NOT NULL,
    device TEXT NOT NULL,
    duration_s DOUBLE NOT NULL,
    versions TEXT NOT NULL,
    report TEXT NOT NULL,
    CONSTRAINT pk_attempts PRIMARY KEY (id),
    CONSTRAINT fk_attempts_run_id FOREIGN KEY(run_id) REFERENCES runs (id),
    CONSTRAINT fk_attempts_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_attempts_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id),
    CONSTRAINT fk_attempts_content FOREIGN KEY(content) REFERENCES contents (digest)
);
CREATE INDEX ix_attempts_content ON attempts (content);
CREATE INDEX ix_attempts_learner_id_kata_id ON attempts (learner_id, kata_id);
CREATE INDEX ix_attempts_run_id ON attempts (run_id);
CREATE TABLE checks (
    id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    function TEXT NOT NULL,
    name TEXT NOT NULL,
    aspect TEXT NOT NULL,
    hidden BOOLEAN NOT NULL,
    CONSTRAINT pk_checks PRIMARY KEY (id),
    CONSTRAINT uq_checks_kata_id_function_name_aspect_hidden UNIQUE (kata_id, function, name, aspect, hidden),
    CONSTRAINT fk_checks_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id)
);
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
CREATE INDEX ix_rulings_learner_id ON rulings (learner_id);
CREATE TABLE results (
    attempt_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    check_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    points DOUBLE NOT NULL,
    max_points DOUBLE NOT NULL,
    misconception TEXT,
    CONSTRAINT pk_results PRIMARY KEY (attempt_id, position),
    CONSTRAINT fk_results_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
    CONSTRAINT fk_results_check_id FOREIGN KEY(check_id) REFERENCES checks (id)
)
 WITHOUT ROWID;
CREATE INDEX ix_results_check_id ON results (check_id);
CREATE TABLE submissions (
    id INTEGER NOT NULL,
    learner_id INTEGER NOT NULL,
    kata_id INTEGER NOT NULL,
    digest TEXT NOT NULL,
    attempt_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    submitted_at VARCHAR(32),
    time_source TEXT,
    origin TEXT,
    notes TEXT NOT NULL,
    CONSTRAINT pk_submissions PRIMARY KEY (id),
    CONSTRAINT fk_submissions_learner_id FOREIGN KEY(learner_id) REFERENCES learners (id),
    CONSTRAINT fk_submissions_kata_id FOREIGN KEY(kata_id) REFERENCES katas (id),
    CONSTRAINT fk_submissions_attempt_id FOREIGN KEY(attempt_id) REFERENCES attempts (id),
    CONSTRAINT fk_submissions_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
);
CREATE INDEX ix_submissions_learner_id_kata_id ON submissions (learner_id, kata_id);
CREATE INDEX ix_submissions_run_id ON submissions (run_id);
INSERT INTO kata_version (version_num) VALUES ('0003');
