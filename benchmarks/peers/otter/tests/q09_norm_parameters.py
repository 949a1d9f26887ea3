"""One point."""

from types import SimpleNamespace

import assertions
from otter.test_files import test_case

OK_FORMAT = False
name = "norm_parameters"
points = 1


@test_case(points=1, hidden=False)
def test_norm_parameters(env):
    assertions.norm_parameters(SimpleNamespace(**env))
