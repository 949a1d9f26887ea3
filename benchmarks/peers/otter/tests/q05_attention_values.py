"""One point."""

from types import SimpleNamespace

import assertions
from otter.test_files import test_case

OK_FORMAT = False
name = "attention_values"
points = 1


@test_case(points=1, hidden=False)
def test_attention_values(env):
    assertions.attention_values(SimpleNamespace(**env))
