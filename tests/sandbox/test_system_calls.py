from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.sandbox import seccomp
from grader.sandbox.system_calls import ARCHITECTURES, NUMBERS, call_number

HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_numbers_are_the_kernels(machine):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip("the kernel's headers are not installed")
    defined = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", header.read_text(), re.MULTILINE))
    ours = {name: call_number(name, machine) for name in NUMBERS}
    assert {name: int(defined[name]) for name in ours if name in defined} == {
        name: code for name, code in ours.items() if name in defined
    }


@pytest.mark.parametrize("machine", ARCHITECTURES)
@pytest.mark.parametrize("cuda", [False, True])
def test_a_filter_is_whole_instructions_and_fits_the_kernels_limit(machine, cuda):
    code = seccomp.assemble(machine, own=1234, cuda=cuda)
    assert len(code) % 8 == 0
    assert len(code) // 8 < 4096
