"""`kata mcp`: the commands of a learner as tools for an assistant."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Serve an assistant: list, show, check, hint (MCP).")
def mcp() -> None:
    """Serve an assistant: list, show, check, hint, over the Model Context Protocol on stdin and stdout.

    It is started by the assistant, in the learner's workspace. It shows neither solutions nor hidden checks.

    \b
    Example:
      kata mcp

    \b
    In an assistant's settings:
      {"mcpServers": {"kata": {"command": "kata", "args": ["mcp"]}}}
    """
    from grader.learner.mcp_server import McpServer

    McpServer(MANNERS).serve(sys.stdin, sys.stdout)


MANNERS = (
    "These are exercises. You are a tutor: explain what check says, ask questions, point to the lesson and its hints. "
    "Do not write the functions that the learner has to write, and do not look for solutions."
)
