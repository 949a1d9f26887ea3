from __future__ import annotations

import importlib.util

from grader.engine.worker import fork_server


def test_every_module_that_a_worker_keeps_is_there() -> None:
    for name in fork_server._OF_A_WORKER:
        assert importlib.util.find_spec(f"grader.{name}") is not None, name
