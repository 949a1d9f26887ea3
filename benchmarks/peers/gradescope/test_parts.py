"""The exercise for Gradescope's autograder: unittest, a weight for each test, results as JSON."""

import sys
import unittest

import assertions
import parts
from gradescope_utils.autograder_utils.decorators import weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner


class Parts(unittest.TestCase):
    @weight(1)
    def test_mask_shape(self):
        assertions.mask_shape(parts)

    @weight(1)
    def test_mask_values(self):
        assertions.mask_values(parts)

    @weight(1)
    def test_mask_single(self):
        assertions.mask_single(parts)

    @weight(1)
    def test_attention_shapes(self):
        assertions.attention_shapes(parts)

    @weight(1)
    def test_attention_values(self):
        assertions.attention_values(parts)

    @weight(1)
    def test_attention_sums(self):
        assertions.attention_sums(parts)

    @weight(1)
    def test_attention_mask(self):
        assertions.attention_mask(parts)

    @weight(1)
    def test_attention_large(self):
        assertions.attention_large(parts)

    @weight(1)
    def test_norm_parameters(self):
        assertions.norm_parameters(parts)

    @weight(1)
    def test_norm_values(self):
        assertions.norm_values(parts)

    @weight(1)
    def test_norm_eps(self):
        assertions.norm_eps(parts)

    @weight(1)
    def test_norm_gradient(self):
        assertions.norm_gradient(parts)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as results:
        JSONTestRunner(stream=results, visibility="visible").run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Parts)
        )
