"""Files that other programs read where somebody starts: a dev container, an image, a Space, a release."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import __version__
from grader.extras.environments.environments import base_image
from tests.conftest import completed

ROOT = Path(__file__).resolve().parents[2]
CONTAINER = ROOT / ".devcontainer"


def test_the_dev_container_is_what_its_schema_allows() -> None:
    """DEVCONTAINER_SCHEMA names a copy of the specification's `schemas/devContainer.base.schema.json`."""
    document = json.loads((CONTAINER / "devcontainer.json").read_text())
    assert {"ms-python.python", "ms-toolsai.jupyter"} <= {*document["customizations"]["vscode"]["extensions"]}
    named = [document["onCreateCommand"], document["postCreateCommand"]]
    assert all((ROOT / command.removeprefix("sh ")).is_file() for command in named)
    schema = os.environ.get("DEVCONTAINER_SCHEMA")
    if not schema:
        pytest.skip("DEVCONTAINER_SCHEMA names no schema here")
    jsonschema = pytest.importorskip("jsonschema")
    rules = json.loads(Path(schema).read_text())
    jsonschema.validate(document, rules)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "hostRequirements": {"cpus": "two"}}, rules)


@pytest.mark.slow
def test_a_dev_container_begins_once_and_keeps_what_is_written(tmp_path: Path) -> None:
    shutil.copytree(CONTAINER, tmp_path / ".devcontainer")
    begin = ["sh", str(tmp_path / ".devcontainer" / "begin.sh")]
    without = completed(begin)
    assert without.returncode == 1
    assert "sh .devcontainer/install.sh" in without.stderr
    kata = tmp_path / ".venv" / "bin" / "kata"
    kata.parent.mkdir(parents=True)
    kata.write_text(f'#!/bin/sh\nexec {sys.executable} -m grader "$@"\n')
    kata.chmod(0o755)
    assert completed(begin).returncode == 0
    stub = tmp_path / "work" / "9.3-encoder-vs-decoder" / "masks" / "masks.py"
    assert (tmp_path / "work" / ".vscode" / "tasks.json").is_file()
    stub.write_text("mine = 1\n")
    assert completed(begin).returncode == 0
    assert stub.read_text() == "mine = 1\n"


def test_a_release_of_another_version_than_its_tag_is_refused() -> None:
    variables = {"PATH": os.environ["PATH"], "GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v99.0"}
    done = completed(["bash", str(ROOT / ".ci" / "release")], env=variables)
    assert done.returncode == 1
    assert f"v99.0 is not v{__version__}" in done.stderr


def test_the_citation_has_the_version() -> None:
    assert re.search(
        rf"^version: {re.escape(__version__)}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE
    )


@pytest.mark.slow
def test_a_release_names_the_repository_that_made_it(tmp_path: Path) -> None:
    """And another build names none."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import hatch_build; found = {}; "
        "hatch_build.RepositoryUrls.update(None, found); print(found['urls'].get('Issues', 'none'))"
    )
    variables = {"PATH": os.environ["PATH"]}
    there = {**variables, "GITHUB_SERVER_URL": "https://hub.example", "GITHUB_REPOSITORY": "a/kata"}
    for environment, address in ((there, "https://hub.example/a/kata/issues"), (variables, "none")):
        done = subprocess.run(
            [sys.executable, "-c", code, str(ROOT)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == address


def test_what_a_release_is_made_by_is_in_the_sdist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "hatch_build.py" in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert set(project["project"]["dynamic"]) == {"version", "urls"}


@pytest.mark.slow
def test_a_space_without_memory_says_so(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        str(ROOT / "packaging" / "space" / "serve.py"),
        "--port",
        str(port),
        "--least",
        "1e6",
    ]
    with subprocess.Popen(command, env={**os.environ, "HOME": str(tmp_path)}) as served:
        try:
            text = wait_for(lambda: page_of(f"http://127.0.0.1:{port}/"), seconds=60)
        finally:
            served.kill()
    assert "GB of memory; a kernel with torch needs 1e+06" in text
    assert "Nothing that you wrote is lost" in text


def page_of(address: str) -> str:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=10) as answer:
            return str(answer.read().decode())
    except OSError:
        return ""


def wait_for(ask: Callable[[], str], *, seconds: float) -> str:
    until = time.monotonic() + seconds
    while not (found := ask()) and time.monotonic() < until:
        time.sleep(0.05)  # the server says nothing when it begins to listen
    return found


def test_the_space_begins_with_the_image_of_the_other_bundles() -> None:
    (base,) = re.findall(
        r"^FROM (\S+)", (ROOT / "packaging" / "space" / "Dockerfile").read_text(), re.MULTILINE
    )
    assert base == base_image("3.11")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
def test_the_logic_of_the_extension() -> None:
    done = completed(["node", "--test", "test/"], cwd=ROOT / "packaging" / "vscode")
    assert done.returncode == 0, done.stdout


def test_the_extension_has_the_version_and_the_licence() -> None:
    folder = ROOT / "packaging" / "vscode"
    assert json.loads((folder / "package.json").read_text())["version"] == __version__
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
