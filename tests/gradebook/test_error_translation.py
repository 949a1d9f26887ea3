"""What can go wrong with a gradebook: each has a message that says what, a hint, an exit code, and loses nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, event, text

from grader.instructor.gradebook.database import Address, redact
from grader.instructor.gradebook.recording import Recording
from grader.instructor.gradebook.store import Gradebook, GradebookError, GradebookUsageError
from tests.gradebook.handmade import adjust, check, grade, results
from tests.gradebook.postgres import PASSWORD, Server

SECRET = "tr0ub4dor"


@contextmanager
def refusal(code: int, words: str, hint: str = "") -> Iterator[None]:
    """What is tried here is refused, with these words."""
    with pytest.raises(GradebookError) as caught:
        yield
    error = checked(caught.value)
    assert error.exit_code == code
    assert words in error.message
    assert hint in (error.hint or "")


def refused(where: str | Path, code: int, words: str, hint: str = "", *, create: bool = True) -> None:
    """Open what cannot be opened."""
    with refusal(code, words, hint):
        Gradebook.open(str(where), create=create)


def checked(error: GradebookError) -> GradebookError:
    """What is said holds no password and no half sentence."""
    said = f"{error.message} {error.hint}"
    assert SECRET not in said
    assert PASSWORD not in said
    assert "sqlalche" not in said
    assert "Traceback" not in said
    assert error.hint
    assert len(error.message) < 600
    return error


def filled(path: Path) -> None:
    """Make a gradebook with a hand-in of Ada's."""
    with Gradebook.open(str(path), create=True) as gradebook:
        grade(gradebook, gradebook.start_run({}), "ada")


def test_no_gradebook_there(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    with pytest.raises(GradebookUsageError):
        Gradebook.open(str(path), create=False)
    refused(path, 2, f"{path}: there is no gradebook", "kata grade SUBMISSIONS makes one", create=False)
    assert not path.exists()
    refused(tmp_path, 2, "this is a folder")
    refused(tmp_path / "none" / "gradebook.sqlite", 2, "its folder does not exist")


def test_a_gradebook_has_one_name(tmp_path: Path) -> None:
    filled(path := tmp_path / "gradebook.sqlite")
    os.link(path, other := tmp_path / "other.sqlite")
    for name in (path, other):
        refused(name, 2, f"{name}: this file has 2 names (hard links)", create=False)
    other.unlink()
    Gradebook.open(str(path), create=False).close()


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_no_database(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "marks.csv"
    path.write_bytes(b"learner,score\nada,3\n" * 100)
    refused(path, 2, f"{path}: this file is not a gradebook", create=create)
    assert path.read_bytes() == b"learner,score\nada,3\n" * 100
    assert [file.name for file in tmp_path.iterdir()] == ["marks.csv"]


def test_a_relative_path_stays_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Gradebook.open("gradebook.sqlite", create=True) as gradebook:
        assert gradebook.where == "gradebook.sqlite"
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        grade(gradebook, gradebook.start_run({}), "ada")
        adjust(gradebook, "ada", "masks", 1, comment="x", author="me")
        assert [row.score for row in gradebook.rows()] == [4.0]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_empty_file_is_none_yet(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.sqlite"
    path.touch()
    refused(path, 2, "this database is empty", create=False)
    Gradebook.open(str(path), create=True).close()


def test_somebody_else_s_database(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customers (id)")
    connection.close()
    before = path.read_bytes()
    refused(path, 2, "holds other tables (customers) and is not a gradebook")
    assert path.read_bytes() == before


def test_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.sqlite"
    with Gradebook.open(str(path), create=True) as gradebook:
        run = gradebook.start_run({})
        for number in range(30):
            grade(gradebook, run, f"s{number}", source="x" * 5000 + str(number))
    content = bytearray(path.read_bytes())
    for place in range(4096, len(content), 64):
        content[place : place + 32] = b"\x5a" * 32
    path.write_bytes(content)
    with refusal(3, "the file is damaged"), Gradebook.open(str(path), create=False) as gradebook:
        list(gradebook.rows())


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("", "name is empty"),
        ("   ", "name is empty"),
        ("mysql://me@host/db", "not in mysql"),
        ("mongodb+srv://me:tr0ub4dor@host/db", "not in mongodb+srv"),
        ("postgresql+asyncpg://me:tr0ub4dor@host/db", "not in postgresql+asyncpg"),
        ("postgresql://me:tr0ub4dor@host:port/db", "not the address of a gradebook"),
        ("postgresql://me:tr0ub4dor@host:99999999/db", ""),
        ("://me:tr0ub4dor@", "not the address of a gradebook"),
        ("sqlite://", "names none"),
        ("sqlite:///:memory:", "names none"),
        ("sqlite:///x?timeout=soon", "timeout must be a number"),
    ],
)
def test_addresses_that_mean_nothing(
    where: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(where, *(2, said, "postgresql://USER:PASSWORD@HOST/DATABASE") if said else (3, ""))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_every_way_to_write_postgresql_means_psycopg(scheme: str) -> None:
    place = Address.parse(f"{scheme}://me:{SECRET}@host/db?sslpassword={SECRET}")
    assert place.url.drivername == "postgresql+psycopg"
    assert place.display == "postgresql://me:***@host/db?sslpassword=***"


def test_a_password_is_taken_out_of_any_text() -> None:
    assert (
        redact("at postgresql://me:a/b@c@host/db?password=x&y=1.")
        == "at postgresql://me:***@host/db?password=***&y=1."
    )
    assert redact("tcp://scheduler:8786 and me@host") == "tcp://scheduler:8786 and me@host"


def test_a_password_is_taken_out_of_what_a_driver_says() -> None:
    place = Address.parse(f"postgresql://me:{SECRET}@host/db?sslpassword=0ther")
    assert (
        place.scrub(f"cannot connect with {SECRET} and 0ther to host")
        == "cannot connect with *** and *** to host"
    )


def test_the_driver_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    said = "needs the driver psycopg, which is not installed"
    refused(f"postgresql://me:{SECRET}@host/db", 2, said, "pip install 'tensor-kata[postgres]'")


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    """A gradebook that another program is writing to."""
    filled(path := tmp_path / "gradebook.sqlite")
    browser = sqlite3.connect(path, isolation_level=None)
    browser.execute("BEGIN EXCLUSIVE")
    yield path
    browser.close()


def test_locked_by_another_program(locked: Path) -> None:
    with Gradebook.open(f"sqlite:///{locked}?timeout=0.01", create=True) as gradebook:
        assert len(list(gradebook.rows())) == 1  # reading is still possible
        for attempt in (
            lambda: gradebook.start_run({}),
            lambda: adjust(gradebook, "ada", "masks", 1, comment="x", author="me"),
        ):
            with refusal(3, "locked: another program is writing to it"):
                attempt()


def test_locked_in_mid_run(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.sqlite"
    with Gradebook.open(f"sqlite:///{path}?timeout=0.01", create=True) as gradebook:
        run = gradebook.start_run({})
        grade(gradebook, run, "ada")
        browser = sqlite3.connect(path, isolation_level=None)
        browser.execute("BEGIN IMMEDIATE")
        with pytest.raises(GradebookError, match=r"locked.*recording bob, masks"):
            grade(gradebook, run, "bob")
        browser.rollback()
        browser.close()
        grade(gradebook, run, "bob")
        run.finish()
        assert [row.learner for row in gradebook.rows()] == ["ada", "bob"]


def test_the_disk_fills_while_recording(tmp_path: Path) -> None:
    where = str(tmp_path / "gradebook.sqlite")

    def small(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count = 200")  # what SQLite itself offers for a disk of 800 kB

    kept: list[str] = []

    def fill(gradebook: Gradebook, run: Recording) -> None:
        for number in range(10_000):
            grade(gradebook, run, f"s{number}", source=os.urandom(5000).hex())
            kept.append(f"s{number}")

    event.listen(Engine, "connect", small)
    try:
        with Gradebook.open(where, create=True) as gradebook:
            run = gradebook.start_run({})
            with refusal(3, "the disk is full (recording s", "What was recorded before is kept"):
                fill(gradebook, run)
            assert len(kept) > 10
            assert [row.learner for row in gradebook.rows()] == kept
    finally:
        event.remove(Engine, "connect", small)
    with Gradebook.open(where, create=False) as gradebook:  # room again: the same command goes on
        run = gradebook.start_run({})
        grade(gradebook, run, f"s{len(kept)}", source="y")
        assert [row.learner for row in gradebook.rows()] == [*kept, f"s{len(kept)}"]


def unprivileged(action: Callable[[], str]) -> str:
    """Run an action as an ordinary user, to whom permissions apply; return what it returned."""
    if os.geteuid():
        return action()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        answer = "the action failed"
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            answer = action()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        finally:
            os.write(writer, answer.encode())
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user may enter; pytest's own are private."""
    folder = Path(tempfile.mkdtemp(prefix="kata-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def told(path: Path, *, write: bool = True, create: bool = False) -> str:
    """Return what an ordinary user is told who reads the gradebook and begins a run in it, or who is in it."""

    def tried() -> str:
        try:
            with Gradebook.open(str(path), create=create) as gradebook:
                there = ",".join(row.learner for row in gradebook.rows())
                if write:
                    gradebook.start_run({})
        except GradebookError as error:
            checked(error)
            return f"{error.exit_code} {error.message} {error.hint}"
        return there

    return unprivileged(tried)


def test_a_read_only_file_can_be_read_and_written_once_that_is_mended(public: Path) -> None:
    filled(path := public / "gradebook.sqlite")
    path.chmod(0o444)
    public.chmod(0o777)
    said = told(path)
    assert said.startswith("3 ")
    assert "the gradebook is read-only" in said
    assert "Correct the permissions" in said
    assert told(path, write=False) == "ada"
    for left in public.glob("gradebook.sqlite-*"):  # what one left who was killed while it read
        assert not left.stat().st_mode & 0o200
    (public / "gradebook.sqlite-shm").touch()
    (public / "gradebook.sqlite-shm").chmod(0o444)
    path.chmod(0o644)
    with Gradebook.open(str(path), create=False) as gradebook:
        assert (public / "gradebook.sqlite-shm").stat().st_mode & 0o200
        gradebook.start_run({})


@pytest.mark.parametrize("existing", [True, False])
def test_a_read_only_folder(public: Path, existing: bool) -> None:
    path = public / "gradebook.sqlite"
    if existing:
        filled(path)
    public.chmod(0o555)
    said = told(path, create=True)
    assert said.startswith("3 ")
    assert "cannot be opened" in said or "cannot be written" in said or "read-only" in said
    assert "permissions" in said


def test_an_unreadable_file(public: Path) -> None:
    path = public / "gradebook.sqlite"
    Gradebook.open(str(path), create=True).close()
    path.chmod(0)
    said = told(path, write=False)
    assert said.startswith("3 ")
    assert "cannot be opened" in said


# PostgreSQL


def test_no_server_there(tmp_path: Path) -> None:
    said = "the database server is not there, or went away (opening it)"
    for where in (f"@/db?host={tmp_path}", "@127.0.0.1:1/db"):
        refused(f"postgresql://me:{SECRET}{where}", 3, said, "Is it running, and is the address right?")


@pytest.mark.slow
def test_the_wrong_password_and_the_wrong_name(postgres: Server) -> None:
    where = postgres.url.replace("open%3Asesame%401%2F2", SECRET)
    assert SECRET in where
    refused(where, 2, "refused the user name or the password")
    refused(postgres.url.replace("/postgres?", "/nothing?"), 2, "no database of this name")


@pytest.mark.slow
def test_a_schema_with_other_tables(postgres_where: str) -> None:
    engine = Address.parse(postgres_where).engine()
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE customers (id int)"))
    engine.dispose()
    refused(postgres_where, 2, "holds other tables (customers)")


@pytest.mark.slow
def test_a_read_only_database(postgres_where: str) -> None:
    refused(postgres_where + "%20-cdefault_transaction_read_only%3Don", 3, "the database is read-only")


@pytest.mark.slow
def test_the_connection_is_lost_in_mid_run(postgres: Server, postgres_where: str) -> None:
    with Gradebook.open(postgres_where, create=True) as gradebook:
        run = gradebook.start_run({})
        grade(gradebook, run, "ada")
        superuser = create_engine(postgres.url.replace("postgresql:", "postgresql+psycopg:"))
        with superuser.begin() as connection:
            others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            connection.execute(text(f"SELECT pg_terminate_backend(pid, 10000) {others}"))
        superuser.dispose()
        for learner in ("bob", "eve"):  # and it stays lost: the lock went with it
            said = f"went away (recording {learner}, masks)"
            with refusal(3, said, "What was recorded before is kept"):
                grade(gradebook, run, learner)
        with pytest.raises(GradebookError):
            run.finish()
    with Gradebook.open(postgres_where, create=False) as gradebook:
        grade(gradebook, gradebook.start_run({}), "bob")
        assert [row.learner for row in gradebook.rows()] == ["ada", "bob"]


@pytest.mark.slow
def test_the_server_crashes_in_mid_run(postgres: Server, postgres_where: str) -> None:
    gradebook = Gradebook.open(postgres_where, create=True)
    run = gradebook.start_run({})
    grade(gradebook, run, "ada")
    rows = gradebook.rows()
    postgres.crash()
    try:
        for attempt in (
            lambda: grade(gradebook, run, "bob"),
            lambda: gradebook.keys("ada"),
            lambda: next(rows),
            lambda: adjust(gradebook, "ada", "masks", 1, comment="x", author="me"),
        ):
            with pytest.raises(GradebookError, match="the database server is not there, or went away"):
                attempt()
        refused(postgres_where, 3, "the database server is not there")
        gradebook.close()
    finally:
        postgres.start()
    with Gradebook.open(postgres_where, create=False) as again:
        assert [row.learner for row in again.rows()] == ["ada"]
        grade(again, again.start_run({}), "bob")
        assert [row.learner for row in again.rows()] == ["ada", "bob"]


@pytest.mark.slow
def test_the_server_s_disk_is_full(postgres_where: str) -> None:
    """Raised by the server on request: its error 53100 is what a full disk gives."""
    with Gradebook.open(postgres_where, create=True) as gradebook:
        run = gradebook.start_run({})
        grade(gradebook, run, "ada")
        engine = Address.parse(postgres_where).engine()
        with engine.begin() as connection:
            raising = "BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END"
            connection.execute(
                text(f"CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ {raising} $$")
            )
            connection.execute(text("CREATE TRIGGER fill BEFORE INSERT ON attempts EXECUTE FUNCTION fill()"))
        engine.dispose()
        with refusal(3, "the server's disk is full (recording bob, masks)"):
            grade(gradebook, run, "bob", checks=[check()])
        assert [row.learner for row in gradebook.rows()] == ["ada"]
        with engine.begin() as connection:
            connection.execute(text("DROP TRIGGER fill ON attempts"))
        engine.dispose()
        grade(gradebook, run, "bob", checks=[check()])  # nothing of what was rolled back is taken for granted
        run.finish()
        assert results(postgres_where) == [("bob", "masks", check().name, "pass", None)]
