"""One point."""

from types import SimpleNamespace

import assertions
from otter.test_files import test_case

OK_FORMAT = False
name = "mask_shape"
points = 1


@test_case(points=1, hidden=False)
def test_mask_shape(env):
    assertions.mask_shape(SimpleNamespace(**env))
