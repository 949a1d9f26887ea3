"""A bundle set up as Gradescope does it, and submissions graded there, in a container that refuses namespaces."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import completed

CONTAINER = Path(__file__).with_name("container.py")
PATIENCE_S = 300


@dataclass(frozen=True)
class Gradescope:
    """The folder that Gradescope calls /autograder."""

    root: Path

    @property
    def source(self) -> Path:
        """Where the bundle lies unpacked."""
        return self.root / "source"

    def grade(self, files: Mapping[str, bytes]) -> dict[str, Any]:
        """Hand files in; return what stands in results.json in the end."""
        for part in ("submission", "results"):
            shutil.rmtree(self.root / part, ignore_errors=True)
            (self.root / part).mkdir()
        for name, content in files.items():
            file = self.root / "submission" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        (self.root / "submission_metadata.json").write_text(
            '{"users": [{"name": "Ada", "email": "ada@example.org"}]}'
        )
        subprocess.run(
            [sys.executable, str(CONTAINER), str(self.root / "run_autograder")],
            cwd=self.root / "submission",
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )
        return dict(json.loads((self.root / "results" / "results.json").read_text()))


def set_up(bundle: Path, root: Path) -> Gradescope:
    """Unpack a bundle below `root` and run its setup.sh, with the packages of this environment lent to it."""
    for parent in (root, root.parent):
        parent.chmod(0o755)
    source = root / "source"
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(source)
    for name in ("setup.sh", "run_autograder"):
        (source / name).chmod(0o755)
    shutil.copy(source / "run_autograder", root)
    # In place of downloads: what this environment has, and Kata's own wheel unpacked, as pip would do.
    packages = (
        root / "kata" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    )
    packages.mkdir(parents=True)
    with zipfile.ZipFile(next(source.glob("wheels/tensor_kata-*.whl"))) as archive:
        archive.extractall(packages)
    lent = [entry for entry in sys.path if entry.endswith("site-packages")]
    (packages / "lent.pth").write_text("\n".join(lent) + "\n")
    variables = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = completed([str(source / "setup.sh")], env=variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "isolation" in done.stdout
    return Gradescope(root)
