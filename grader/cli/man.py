"""`kata man`: the help of every command in one text."""

from __future__ import annotations

from collections.abc import Iterator

import click


@click.command(short_help="Print the help of every command in one text.")
def man() -> None:
    """Print the help of every command in one text, made from the commands themselves.

    \b
    Example:
      kata man | less
    """
    root = click.get_current_context().find_root()
    click.echo_via_pager("\n\n".join(_pages(root)) + "\n")


def _pages(context: click.Context) -> Iterator[str]:
    """Yield the help of a command and, in the order in which its own help lists them, of those below it."""
    command = context.command
    yield f"{context.command_path.upper()}\n\n{command.get_help(context)}"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                settings = below.context_settings
                yield from _pages(click.Context(below, info_name=name, parent=context, **settings))
