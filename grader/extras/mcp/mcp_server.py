"""Kata for a learner's assistant: a server of the Model Context Protocol, on standard input and output.

Each tool is a command of `kata`, run as a process of its own in this folder: an assistant gets what the learner could
have typed, and nothing that it writes runs unconfined. No tool shows an answer.

Source: Model Context Protocol, revisions 2024-11-05 to 2025-11-25 (begun by `initialize`) and 2026-07-28 (no session:
each request stands alone, `server/discover` says what there is).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import click

from grader.api import __version__, interpreter

WITH_SESSION = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that begin with `initialize`, the newest first."""
VERSIONS = ("2026-07-28", *WITH_SESSION)
NO_METHOD, BAD_ARGUMENTS, NOT_JSON, BAD_REQUEST = -32601, -32602, -32700, -32600
ANSWERED = (0, 1)
"""Exit codes of a command that did what it was asked; 1 says that a check fails."""

ID = {
    "type": "string",
    "description": "A number (9.3, 9.3.2), a name (masked-attention), or the beginning of one.",
}


@dataclass(frozen=True)
class Tool:
    """A command of `kata` as an assistant sees it."""

    name: str
    about: str
    command: tuple[str, ...]
    options: Mapping[str, tuple[tuple[str, ...], dict[str, str]]]
    """By argument: what stands before its value on the command line, and its JSON schema."""
    required: tuple[str, ...] = ()

    def described(self) -> dict[str, Any]:
        """Return it as `tools/list` has it."""
        return {
            "name": self.name,
            "description": self.about,
            "inputSchema": {
                "type": "object",
                "properties": {name: schema for name, (_, schema) in self.options.items()},
                "required": list(self.required),
                "additionalProperties": False,
            },
        }

    def typed(self, arguments: Mapping[str, Any]) -> list[str]:
        """Return the command line for these arguments.

        Raises:
            ValueError: one is unknown, missing, or not a string.
        """
        # Clients send null for what is left out.
        arguments = {name: value for name, value in arguments.items() if value is not None}
        for name in (*arguments, *self.required):
            if name not in self.options:
                raise ValueError(
                    f"{self.name} has no argument {name!r}; it has {', '.join(self.options) or 'none'}"
                )
            if not isinstance(arguments.get(name), str):
                raise ValueError(f"{self.name} needs a string as {name!r}")
        words = list(self.command)
        # What has no option before it comes last, after "--": no value is taken for an option.
        for name in sorted(arguments, key=lambda name: self.options[name][0] == ("--",)):
            words += [*self.options[name][0], arguments[name]]
        return words


_ID = {"id": (("--",), ID)}
TOOLS = (
    Tool("list", "Every unit and kata, with the learner's progress.", ("list", "--json"), {}),
    Tool("status", "Where the learner is, and the command to type next.", ("--json",), {}),
    Tool(
        "show", "The lesson of a kata or unit; without id that of the current kata.", ("show", "--json"), _ID
    ),
    Tool(
        "check",
        "Run the checks over what the learner has saved: for each failing one what was called, where the first "
        "difference is, and the mistake if it is recognised.",
        ("check", "--json"),
        {
            **_ID,
            "only": (
                ("-k",),
                {"type": "string", "description": "Checks whose name or title matches, e.g. causality."},
            ),
        },
    ),
    Tool(
        "try_result",
        "One failing check's call: its inputs, the learner's result and the expected one.",
        ("try", "--json"),
        {
            "check": (
                ("--",),
                {"type": "string", "description": "A check's id from check, e.g. test_causal_values."},
            )
        },
        ("check",),
    ),
    Tool(
        "hint", "The next of three hints, which is recorded. Ask the learner first.", ("hint", "--json"), _ID
    ),
)


class McpServer:
    """Answers requests one after the other, until the input ends."""

    def __init__(self, manners: str, refusal: str | None = None) -> None:
        """Get ready.

        Args:
            manners: what assistants are told at the beginning.
            refusal: where the course wants no assistant: what every tool answers.
        """
        self._manners = manners
        self._refusal = refusal
        self._tools = {tool.name: tool for tool in TOOLS}

    def serve(self, requests: Iterable[str], replies: TextIO) -> None:
        """Answer every line; one that is not a request gets an error, and the next is read."""
        for line in requests:
            if line.strip() and (reply := self.reply_to(line)) is not None:
                replies.write(json.dumps(reply, separators=(",", ":")) + "\n")
                replies.flush()

    def reply_to(self, line: str) -> dict[str, Any] | None:
        """Return the reply to a message; None to a notification."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return _failed(None, NOT_JSON, "not JSON")
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return _failed(None, BAD_REQUEST, "not a request of JSON-RPC 2.0")
        # A notification: JSON-RPC forbids an answer, even to say that it was not understood.
        if "id" not in message:
            return None
        params = message.get("params", {})
        params = params if isinstance(params, dict) else {}
        try:
            result = self._result(message["method"], params)
        except NotImplementedError:
            return _failed(message["id"], NO_METHOD, f"no method {message['method']!r}")
        except ValueError as error:
            return _failed(message["id"], BAD_ARGUMENTS, str(error))
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a method gives.

        Raises:
            NotImplementedError: there is no such method.
            ValueError: its parameters are wrong.
        """
        about = {
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "kata", "version": __version__},
            "instructions": self._manners,
        }
        # The newest revision wants to know how long a client may cache a result; older ones ignore that.
        cached = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "initialize":
            version = params.get("protocolVersion")
            return {"protocolVersion": version if version in WITH_SESSION else WITH_SESSION[0], **about}
        if method == "server/discover":
            return {"supportedVersions": list(VERSIONS), **about, **cached}
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [tool.described() for tool in TOOLS], **cached}
        if method == "tools/call":
            return self._called(params)
        raise NotImplementedError

    def _called(self, params: Mapping[str, Any]) -> dict[str, Any]:
        tool = self._tools.get(str(params.get("name")))
        arguments = params.get("arguments") or {}
        if tool is None or not isinstance(arguments, dict):
            raise ValueError(f"there is no tool {params.get('name')!r}; there is {', '.join(self._tools)}")
        if self._refusal is not None:
            return _text(self._refusal, failed=True)
        try:
            words = tool.typed(arguments)
        except ValueError as error:  # as a result, which the model reads and can mend
            return _text(str(error), failed=True)
        done = subprocess.run(
            interpreter.command("grader", *words),
            stdin=subprocess.DEVNULL,  # ours holds the requests
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        answered = done.returncode in ANSWERED and bool(done.stdout.strip())
        return _text(done.stdout if answered else done.stderr or done.stdout, failed=not answered)


def _text(text: str, *, failed: bool) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text.strip()}], "isError": failed, "resultType": "complete"}


def _failed(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


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

    workspace = find_workspace(Path.cwd())
    policy = "tutor" if workspace is None else policy_of(workspace.root)
    refusal = "This course allows no help by an assistant." if policy == "none" else None
    McpServer(template(f"agents-{policy}.md"), refusal).serve(sys.stdin, sys.stdout)
