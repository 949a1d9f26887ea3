"""`kata mcp`: what an assistant can ask for, and what it never gets."""

from __future__ import annotations

import ast
import asyncio
import io
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TextIO

import pytest

from grader.extras.mcp.mcp_server import McpServer
from tests import ours
from tests.conftest import KATA, Run

MODES = ("auto", "legacy", "2026-07-28")
LONG = 24
"""Characters from which a line of an answer is nobody else's."""


def reply(server: McpServer, method: str, **params: Any) -> dict[str, Any]:
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    found = server.reply_to(text)
    assert found is not None
    return found


def called(name: str, **arguments: Any) -> tuple[str, bool]:
    result = reply(McpServer("be kind"), "tools/call", name=name, arguments=arguments)["result"]
    return result["content"][0]["text"], result["isError"]


@pytest.mark.nightly
@pytest.mark.parametrize("mode", MODES)
def test_the_sdks_own_client_gets_what_a_learner_could_type(stub: Path, folder: Path, mode: str) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    stub.write_text(stub.read_text().replace("raise NotImplementedError", "return str"))
    told = StdioServerParameters(command=str(KATA), args=["mcp"], cwd=folder, env=dict(os.environ))

    async def talk(errors: TextIO) -> None:
        async with Client(stdio_client(told, errlog=errors), mode=mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["list", "status", "show", "check", "try_result", "hint"]

            async def call(name: str, **arguments: str) -> str:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                return str(result.content[0].text)  # type: ignore[union-attr]

            assert json.loads(await call("status"))["workspace"] == str(folder)
            assert "## The problem" in json.loads(await call("show", id="masks"))["lesson"]
            if mode == "auto":  # one of them is enough: each imports torch
                (report,) = json.loads(await call("check", id="9.3.1", only="causal"))["katas"]
                failing = next(one for one in report["checks"] if one["status"] in ("fail", "error"))
                assert "called  causal_mask(" in await call("try_result", check=failing["id"])

    # In a thread of its own: a browser that another test has opened leaves a loop running in this one.
    with (folder / "errors").open("w") as errors, ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, talk(errors)).result()


def test_what_is_no_request_is_answered_with_an_error_and_the_next_one_is_read() -> None:
    replies = io.StringIO()
    notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    last = '{"jsonrpc":"2.0","id":"a","method":"ping"}'
    McpServer("").serve(["not JSON\n", "[1]\n", "\n", "[" * 100_000, notification, last], replies)
    read = [json.loads(line) for line in replies.getvalue().splitlines()]
    assert [one.get("error", {}).get("code") for one in read] == [-32700, -32600, -32700, None]
    assert read[-1] == {"jsonrpc": "2.0", "id": "a", "result": {}}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"name": "solution"}, "there is no tool 'solution'"),
        ({"name": "list", "arguments": ["masks"]}, "there is no tool"),
    ],
)
def test_what_is_no_tool_is_an_error_of_the_protocol(params: dict[str, Any], said: str) -> None:
    error = reply(McpServer(""), "tools/call", **params)["error"]
    assert error["code"] == -32602
    assert said in error["message"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("check", {"path": "/"}, "check has no argument 'path'; it has id, only"),
        ("check", {"id": 9.3}, "check needs a string as 'id'"),
        ("check", {"id": ["masks"], "only": None}, "check needs a string as 'id'"),
        ("try_result", {}, "try_result needs a string as 'check'"),
        ("try_result", {"check": None}, "try_result needs a string as 'check'"),
    ],
)
def test_wrong_arguments_are_a_result_that_a_model_can_read(
    name: str, arguments: dict[str, Any], said: str
) -> None:
    text, failed = called(name, **arguments)
    assert failed
    assert text == said


def test_null_is_as_if_left_out(stub: Path, folder: Path) -> None:
    assert called("show", id=None) == called("show")
    text, failed = called("check", id="masks", only=None)
    assert (json.loads(text)["katas"][0]["status"], failed) == ("not_started", False)


def test_a_tool_never_runs_what_an_assistant_wrote_unconfined(
    stub: Path, folder: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    wrong = stub.read_text().replace("raise NotImplementedError", "return str")
    stub.write_text(
        f"try:\n    open({str(mark)!r}, 'w')\nexcept OSError:\n    pass\n{wrong[wrong.index('import torch') :]}"
    )
    text, failed = called("try_result", check="test_causal_values")
    assert not failed
    failure = json.loads(text)["failure"]
    assert "called  causal_mask(" in failure["message"]
    assert failure["values"]["seq_len"] == "4"
    assert not mark.exists()


def test_a_search_may_begin_with_a_dash(stub: Path, folder: Path) -> None:
    text, failed = called("check", id="masks", only="--stdin")
    assert failed
    assert "-k '--stdin' is not an expression" in text or "No check matches" in text


def test_a_value_is_never_taken_for_an_option(folder: Path) -> None:
    text, failed = called("hint", id="--help")
    assert failed
    assert "There is no kata or unit called --help" in text


def test_where_the_course_wants_no_assistant_each_tool_says_so() -> None:
    result = reply(McpServer("", "Not in this course."), "tools/call", name="status")["result"]
    assert result["isError"]
    assert result["content"][0]["text"] == "Not in this course."


def test_what_the_course_allows_assistants_is_told_and_obeyed(
    stub: Path, folder: Path, kata: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    call = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status"}})
    for policy, told, failed in (("tutor", "Be a tutor", False), ("none", "allows no help", True)):
        (folder / "course.toml").write_text(f'[ai]\npolicy = "{policy}"\n')
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{asked}\n{call}\n"))
        first, second = map(json.loads, kata("mcp").out.splitlines())
        assert told in first["result"]["instructions"]
        assert second["result"]["isError"] is failed


@pytest.mark.gate
def test_no_reply_holds_a_line_of_an_answer(kata: Run, folder: Path) -> None:
    """Over all katas: the list, lessons, all hints, and the checks of what is not written yet."""
    for unit in sorted({each.number.rpartition(".")[0] for each in ours.katas().values()}):
        assert kata("start", unit).code == 0
    whole = [called("list")[0], called("status")[0], called("check")[0]]
    assert not any(check["hidden"] for each in json.loads(whole[2])["katas"] for check in each["checks"])
    for slug, each in ours.katas().items():
        assert each.solution is not None
        told = "".join((*whole, *(called("hint", id=slug)[0] for _ in range(3)), called("show", id=slug)[0]))
        given = {
            line
            for file in (each.stub, *each.given)
            if file.suffix == ".py"
            for line in lines(file.read_text())
        }
        lesson = squeezed(each.lesson.read_text())  # which quotes some formulas in torch's words
        secret = {line for line in lines(each.solution.read_text()) - given if line not in lesson}
        assert secret
        assert not [line for line in secret if line in squeezed(told)]


def lines(text: str) -> set[str]:
    """Return the statements of a module in one spelling, the long ones."""
    found = (
        ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assign | ast.Return)
    )
    return {one for one in map(squeezed, found) if len(one) >= LONG}


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
