"""`kata completion`: commands, options and IDs complete with Tab."""

from __future__ import annotations

import os
from pathlib import Path

import click

from grader.cli.context import note
from grader.errors import UsageError
from grader.files import users_folder, write_atomic

SHELLS = ("bash", "zsh", "fish")
_MARK = "# Kata completes IDs and options. Written by: kata completion --install"


@click.command(short_help="Set up Tab completion of commands, options and IDs: bash, zsh, fish.")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option(
    "--install", is_flag=True, help="Write the completion to where the shell looks, instead of printing it."
)
def completion(shell: str | None, install: bool) -> None:
    """Set up Tab completion of commands, options and IDs: bash, zsh, fish.

    Without an argument, it is for the shell that the variable SHELL names. It takes effect in the next shell that you
    open.

    \b
    Example:
      kata completion --install
      kata completion fish
    """
    chosen = shell or Path(os.environ.get("SHELL", "")).name
    if chosen not in SHELLS:
        raise UsageError(
            "Which shell?" if not chosen else f"There is no completion for {chosen}.",
            f"Name one: kata completion {'|'.join(SHELLS)}{' --install' if install else ''}",
        )
    from click.shell_completion import get_completion_class

    from grader.cli.main import cli

    kind = get_completion_class(chosen)
    if kind is None:
        raise UsageError(f"This version of click has no completion for {chosen}.")
    source = kind(cli, {}, "kata", "_KATA_COMPLETE")
    script = str(source.source_template % source.source_vars())  # `source` starts bash to ask for its version
    if not install:
        click.echo(script)
        return
    # zsh reads no folder by itself: its start file has to name one.
    if chosen == "zsh":
        _install_for_zsh()
    else:
        file = _folder(chosen) / ("kata.fish" if chosen == "fish" else "kata")
        _write(file, f"{_MARK} {chosen}\n{script}\n")
    note("Open a new shell, then try: kata check <Tab>")


def _folder(shell: str) -> Path:
    """Return where a shell looks for the completion of a command that it has not completed yet."""
    if shell == "fish":
        return users_folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions"
    return users_folder("XDG_DATA_HOME", ".local/share") / "bash-completion" / "completions"


def _install_for_zsh() -> None:
    """Add one line to .zshrc, once: zsh looks for completions in no folder of a user's own."""
    file = users_folder("ZDOTDIR", "") / ".zshrc"
    try:
        before = file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read ({error}).", "See: kata completion zsh") from error
    if _MARK in before:
        note(f"as it was  {file}")
        return
    gap = "" if not before or before.endswith("\n") else "\n"
    line = 'command -v kata >/dev/null && eval "$(_KATA_COMPLETE=zsh_source kata)"'
    # Where a link leads, as many keep .zshrc in a repository: replaced itself, the link would be gone.
    _write(file.resolve(), f"{before}{gap}{_MARK}\n{line}\n")


def _write(file: Path, text: str) -> None:
    write_atomic(file, text)
    note(f"written  {file}")
