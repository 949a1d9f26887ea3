"""One point."""

from types import SimpleNamespace

import assertions
from otter.test_files import test_case

OK_FORMAT = False
name = "mask_values"
points = 1


@test_case(points=1, hidden=False)
def test_mask_values(env):
    assertions.mask_values(SimpleNamespace(**env))
