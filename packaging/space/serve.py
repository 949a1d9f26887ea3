"""A Space: demo pages on its front, JupyterLab with the katas below /lab/.

`--make` writes pages and katas, once, when the image is built; without it, they are served.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOME = Path.home()
PAGES, WORK = HOME / "pages", HOME / "work"
DISK = Path("/data")
"""What a Space's own disk is called, where it has one."""
KATA = [sys.executable, "-I", "-m", "grader"]
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def page(title: str, body: str) -> str:
    """Return a page that needs nothing else."""
    style = "body{font:1.1rem/1.6 system-ui;max-width:40rem;margin:3rem auto;padding:0 1rem}"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{style}</style><h1>{html.escape(title)}</h1>{body}"
    )


def make(ids: list[str]) -> None:
    """Write the demos of katas, all that have one without `ids`, their list, and the katas as notebooks.

    Raises:
        CalledProcessError: Kata could not; it said why.
    """
    listed = subprocess.run([*KATA, "list", "--json"], check=True, capture_output=True, text=True, cwd=HOME)
    katas = [kata for unit in json.loads(listed.stdout)["units"] for kata in unit["katas"]]
    links = []
    for kata in katas:
        if ids and kata["kata"] not in ids:
            continue
        out = PAGES / kata["kata"]
        done = subprocess.run([*KATA, "demo", kata["kata"], "--out", str(out)], cwd=HOME, check=False)
        if done.returncode == 0:
            name = html.escape(f"{kata['number']} {kata['title']}")
            links.append(f'<li><a href="{kata["kata"]}/index.html">{name}</a></li>')
    body = f'<p><a href="../lab">Write them yourself</a> in JupyterLab.</p><ul>{"".join(links)}</ul>'
    PAGES.mkdir(exist_ok=True)
    (PAGES / "index.html").write_text(page("Kata", body), encoding="utf-8")
    WORK.mkdir(exist_ok=True)
    for unit in ids or sorted({kata["number"].rpartition(".")[0] for kata in katas}):
        subprocess.run([*KATA, "start", unit, "--notebook"], check=True, cwd=WORK, stdin=subprocess.DEVNULL)


def memory() -> int:
    """Return how many bytes this machine, or its container, has."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for limit in map(Path, LIMITS):
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            found.append(int(text))
    return min(found)


def main() -> None:
    """Make, or serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--port", type=int, default=7860)
    parser.add_argument("--least", type=float, default=2.0, help="GB of memory, below which no kernel is started")
    parser.add_argument("ids", nargs="*")
    chosen = parser.parse_args()
    if chosen.make:
        make(chosen.ids)
        return
    if memory() < chosen.least * 1e9:
        text = (
            f"<p>This machine has {memory() / 1e9:.1f} GB of memory; a kernel with torch needs {chosen.least:g}. "
            "Choose larger hardware in the settings of the Space, or duplicate it. Nothing that you wrote is lost.</p>"
        )
        PAGES.mkdir(exist_ok=True)
        (PAGES / "index.html").write_text(page("Not enough memory", text), encoding="utf-8")
        serve = partial(SimpleHTTPRequestHandler, directory=str(PAGES))
        ThreadingHTTPServer(("0.0.0.0", chosen.port), serve).serve_forever()
    # On a disk of its own, if there is one: what is written outlives the machine.
    work = DISK / "work" if os.access(DISK, os.W_OK) else WORK
    if work != WORK and not work.exists():
        subprocess.run(["cp", "-r", str(WORK), str(work)], check=True)
    # JUPYTER_TOKEN is the key to it; without one Jupyter draws a key, and the log has it.
    options = {
        "ip": "0.0.0.0", "port": chosen.port, "port_retries": 0, "open_browser": False, "root_dir": str(work),
        "extra_static_paths": [str(PAGES)], "allow_remote_access": True,
    }  # fmt: skip
    words = [f"--ServerApp.{name}={value}" for name, value in options.items()]
    words.append("--LabApp.default_url=/static/index.html")  # JupyterLab puts its own in place of the server's
    os.execv(sys.executable, [sys.executable, "-m", "jupyterlab", *words])


if __name__ == "__main__":
    main()
