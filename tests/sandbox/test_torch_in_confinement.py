from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.conftest import completed

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]

SCRIPT = """
import json, os, sys
from pathlib import Path
import torch
from grader.engine.sandbox import SandboxConfig, ResourceLimits, confine, python_read_paths, replace_environment

scratch = Path(sys.argv[1])
# A fork leaves the threads behind that numpy started when it was imported, as in a real worker.
if pid := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
# As in a worker, whose channels these numbers are: what the filter protects is never a file of torch's.
for number in (3, 4):
    os.dup2(os.open(os.devnull, os.O_RDONLY), number)
replace_environment({"HOME": str(scratch), "TMPDIR": str(scratch), "USER": "learner"})
confine(SandboxConfig(python_read_paths(), (scratch,), ResourceLimits(memory_bytes=2 << 30)))
found = {}
torch.set_num_threads(2)
x = torch.ones(300, 300, requires_grad=True)
found["matmul"] = float((x @ x).sum())
torch.nn.functional.softmax(x @ x, dim=-1).sum().backward()
found["norm"] = float(torch.linalg.norm(x.detach()))
found["singular"] = round(float(torch.linalg.svdvals(x.detach())[0]))
found["half"] = float((x.detach().bfloat16() @ x.detach().bfloat16())[0, 0])
found["convolved"] = list(torch.nn.Conv2d(3, 4, 3)(torch.ones(2, 3, 8, 8)).shape)
layer = torch.nn.Linear(4, 4)
step = torch.optim.AdamW(layer.parameters())
layer(torch.ones(2, 4)).sum().backward()
step.step()
found["threads"] = torch.get_num_threads()
torch.save(layer.state_dict(), scratch / "layer.pt")
found["loaded"] = sorted(torch.load(scratch / "layer.pt"))
try:
    torch.empty(3 << 30, dtype=torch.uint8)
except (RuntimeError, MemoryError) as error:
    found["memory"] = type(error).__name__
before = set(sys.modules)
import csv, decimal, sqlite3, statistics, tempfile, xml.dom.minidom, zoneinfo
found["lazy"] = len(set(sys.modules) - before) > 0
found["sqlite"] = sqlite3.connect(scratch / "a.db").execute("select 6 * 7").fetchone()
with tempfile.NamedTemporaryFile() as file:
    found["temporary"] = file.name.startswith(str(scratch))
found["zone"] = str(zoneinfo.ZoneInfo("UTC"))
try:
    Path("/etc/passwd").read_text()
except PermissionError:
    found["closed"] = True
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    scratch = tmp_path_factory.mktemp("scratch")
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", SCRIPT, str(scratch)]
    done = completed(command, env=environment, cwd=scratch)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.nightly
def test_torch_computes_with_threads(found):
    assert found["closed"]
    assert found["threads"] == 2
    assert found["matmul"] == 300.0**3
    assert found["norm"] == 300.0
    assert found["singular"] == 300
    assert found["half"] in (300.0, 302.0, 298.0)
    assert found["convolved"] == [2, 4, 6, 6]


@pytest.mark.nightly
def test_torch_saves_and_loads_in_scratch(found):
    assert found["loaded"] == ["bias", "weight"]


@pytest.mark.nightly
def test_torch_meets_the_memory_limit(found):
    assert found["memory"] in ("RuntimeError", "MemoryError")


@pytest.mark.nightly
def test_the_standard_library_can_be_imported_late(found):
    assert found["lazy"]
    assert found["sqlite"] == [42]
    assert found["temporary"]
    assert found["zone"] == "UTC"
