"""JupyterLab in Chromium, driven as a person drives it: a notebook is opened, typed into and run.

JupyterLab has an environment of its own, `make jupyter` fills it; the kernel runs in the environment of the tests.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".jupyter" / "bin" / "python"
"""Of the environment with JupyterLab."""
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
TOKEN = "tests"
PATIENCE_S = 120
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # a cell out of sight is there all the same
}


@contextmanager
def serving(workspace: Path, home: Path, **variables: str) -> Iterator[str]:
    """Serve a folder; yield the address. Nothing is read or written of whoever runs this, but below `home`."""
    kernel = home / "share" / "kernels" / "python3" / "kernel.json"
    files = {
        home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings": settings
        for name, settings in SETTINGS.items()
    }
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    for file, content in {
        **files,
        kernel: {"argv": argv, "display_name": "Python 3", "language": "python"},
    }.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    own = {
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_PATH": str(kernel.parents[2]),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        **{f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")},
    }  # fmt: skip
    command = [
        str(PYTHON), "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0",
        f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={workspace}",
    ]  # fmt: skip
    log = home / "server.log"
    with log.open("w") as told:
        server = subprocess.Popen(
            command,
            env={**os.environ, **own, **variables},
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
        )
    try:
        until = time.monotonic() + PATIENCE_S
        while (found := re.search(r"http://127\.0\.0\.1:\d+/lab", log.read_text())) is None:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)
        yield found[0]
    finally:
        server.terminate()
        server.wait()


@dataclass(frozen=True)
class Notebook:
    """A notebook that is open in a browser's window."""

    page: Any

    def cell(self, text: str) -> Any:
        """Return the code cell in which a text stands."""
        return self.page.locator(".jp-Notebook .jp-CodeCell", has_text=text).last

    def write(self, cell: Any, text: str) -> None:
        """Put a text in the place of what stands in a cell."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(text)

    def run(self, cell: Any) -> str:
        """Run a cell; return what it shows in the end."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+Enter")
        self.settle()
        return self.shown(cell)

    def shown(self, cell: Any) -> str:
        """Return what stands below a cell."""
        return str(cell.locator(".jp-Cell-outputWrapper").inner_text())

    def settle(self) -> None:
        """Wait until nothing runs any more, and nothing waits to be run."""
        self.page.wait_for_function(
            "![...document.querySelectorAll('.jp-InputPrompt')].some((one) => one.textContent.includes('*'))"
        )

    def run_all(self) -> None:
        """Run every cell by the menu's command."""
        self.page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        self.settle()

    def dress(self, theme: str) -> None:
        """Show it in `light` or `dark`."""
        self.page.evaluate(
            "(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", THEMES[theme]
        )
        self.page.wait_for_function(
            "(light) => document.body.dataset.jpThemeLight === light",
            arg="true" if theme == "light" else "false",
        )

    def save(self) -> None:
        """Save it."""
        self.page.evaluate("jupyterapp.commands.execute('docmanager:save')")


def contrast_below(cell: Any, measure: str, least: float) -> list[str]:
    """Return which texts below a cell stand out less from their ground; `measure` looks at one element."""
    output = cell.locator(".jp-RenderedHTML").first
    return list(output.evaluate(f"(root, least) => ({measure})(least, root)", least))


def open_notebook(page: Any, address: str, file: str) -> Notebook:
    """Open a notebook by its path below the served folder, and wait until its kernel has nothing to do."""
    page.set_default_timeout(PATIENCE_S * 1000)
    page.goto(f"{address}/tree/{file}?token={TOKEN}")
    page.wait_for_function(
        """() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === "idle"
        && document.querySelectorAll(".jp-Notebook .jp-CodeCell .cm-content").length > 1"""
    )
    return Notebook(page)
