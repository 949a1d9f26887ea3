"""`kata desk`: marks, code, disputes and look-alikes in a browser on this machine."""

from __future__ import annotations

import webbrowser
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from grader.api import UsageError, author_of, author_option, install_extra, note, with_gradebook

if TYPE_CHECKING:
    from grader.api import Gradebook


@click.command(short_help="Mark in a browser: code, checks, remarks, disputes, look-alikes.")
@with_gradebook
@author_option
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. [default: any that is free]"
)
@click.option("--no-browser", is_flag=True, help="Only print the address; open nothing.")
def desk(book: Gradebook, author: str | None, port: int, no_browser: bool) -> None:
    """Mark in a browser: code next to failing checks, remarks on lines, disputes, extensions, look-alikes.

    It serves pages to this machine alone, to anyone who opens the address that it prints, until Ctrl-C. Every decision
    made there is stored in the gradebook with who, when and why, as the commands store it, and can be taken back. If
    several people mark, each starts a desk of their own on the same gradebook: a file if all work on one machine, a
    PostgreSQL database if not.

    \b
    Example:
      kata desk
      kata desk --gradebook postgresql://kim@db.example/course --author kim
    """
    # Looked up, so that this is said before anything of the desk is imported and fails in its own words.
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise UsageError(
            "The desk needs packages that are not installed.", f"Install them: {install_extra('desk')}"
        )
    from grader.api import Catalogue
    from grader.extras.desk.serve import serve

    # Called once its port is open: a browser that came earlier would be refused.
    def ready(address: str) -> None:
        click.echo(f"desk  {address}")
        note("for this machine alone; Ctrl-C closes it")
        if not no_browser:
            webbrowser.open(address)

    who = author_of(author)
    try:
        serve(book, Catalogue.discover(), author=who, port=port, ready=ready)
    except KeyboardInterrupt:
        note("closed; everything is in the gradebook")
