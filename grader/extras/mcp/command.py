"""`kata mcp`: the commands of a learner as tools for an assistant."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(short_help="Serve an assistant: list, show, check, hint (MCP).")
def mcp() -> None:
    """Serve an assistant: list, show, check, hint, over the Model Context Protocol on stdin and stdout.

    It is started by the assistant, in the learner's workspace. It shows neither solutions nor hidden checks, and
    obeys what the course says of assistants.

    \b
    Example:
      kata mcp

    \b
    In an assistant's settings:
      {"mcpServers": {"kata": {"command": "kata", "args": ["mcp"]}}}
    """
    from grader.api import find_workspace, policy_of, template
    from grader.extras.mcp.mcp_server import McpServer

    workspace = find_workspace(Path.cwd())
    policy = "tutor" if workspace is None else policy_of(workspace.root)
    refusal = "This course allows no help by an assistant." if policy == "none" else None
    McpServer(template(f"agents-{policy}.md"), refusal).serve(sys.stdin, sys.stdout)
