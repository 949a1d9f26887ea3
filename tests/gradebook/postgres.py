"""A PostgreSQL server of the tests' own, in a folder of its own, reached through a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

SUPERUSER = "kata"
PASSWORD = "open:sesame@1/2"


class Unavailable(Exception):
    """This machine has no PostgreSQL to start, or will not start it."""


class Server:
    """A server that can be stopped as by a power cut, and started again."""

    def __init__(self) -> None:
        self._binaries = _binaries()
        self._as: dict[str, Any] = _somebody()
        # Short: a socket's path holds 107 characters.
        self._folder = Path(tempfile.mkdtemp(prefix="kata-pg-"))
        self._data = self._folder / "data"
        if self._as:
            os.chown(self._folder, self._as["user"], self._as["group"])
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        try:
            self._call(
                "initdb",
                f"--pgdata={self._data}",
                f"--username={SUPERUSER}",
                f"--pwfile={secret}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
            )
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The address of the default database."""
        return f"postgresql://{SUPERUSER}:open%3Asesame%401%2F2@/postgres?host={self._folder}"

    def within(self, schema: str) -> str:
        """The address of one schema, which is to be made first."""
        return f"{self.url}&options=-csearch_path%3D{schema}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = self._folder / "log"
        settings = f"-k {self._folder} -c listen_addresses= -c fsync=off -c max_connections=40"
        self._call(
            "pg_ctl", "start", "-w", "-t", "60", f"--pgdata={self._data}", f"--log={log}", f"-o{settings}"
        )

    def crash(self) -> None:
        """Stop it at once, without a goodbye to anybody."""
        self._call("pg_ctl", "stop", "-w", "-m", "immediate", f"--pgdata={self._data}")

    def close(self) -> None:
        """Stop it, and remove its folder."""
        if (self._data / "postmaster.pid").exists():
            self.crash()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _call(self, name: str, *arguments: str) -> None:
        with tempfile.TemporaryFile() as output:  # a pipe would stay open as long as the server runs
            done = subprocess.run(
                [str(self._binaries / name), *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=120,
                check=False,
                **self._as,
            )
            output.seek(0)
            said = output.read().decode(errors="replace")
        if done.returncode:
            log = self._folder / "log"
            raise Unavailable(f"{name} failed: {said} {log.read_text() if log.exists() else ''}")


def _binaries() -> Path:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not places:
        raise Unavailable("PostgreSQL is not installed; as root, `make services` installs it")
    return places[-1].parent


def _somebody() -> dict[str, Any]:
    """Return who the server runs as: it refuses to be root."""
    if os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise Unavailable("no unprivileged user to run PostgreSQL as")
