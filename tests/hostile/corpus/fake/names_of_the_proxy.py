"""Gives its module every name that the grader's own stand-in for it might have, each of them a trap.

kata = "layer-norm"
status = "fail"
"""

from wrong import *


class LayerNorm(LayerNorm):  # noqa: F405
    def _trap(self, *arguments, **options):
        raise SystemExit("trapped")

    number = kind = label = calls = given = session = generation = types = root = stands_for = property(_trap)
    _number = _kind = _label = _run = _adopt = _session = kata_type = kata_types = kata_label = property(
        _trap
    )
    __kata__ = property(_trap)


def given(*arguments):
    raise SystemExit("trapped")


forbidden_uses = calls = policy_advice = session = begin = __kata__ = given
