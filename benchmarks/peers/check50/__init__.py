"""The exercise for check50. The submission is loaded once; every check runs in a process of its own."""

import sys
from pathlib import Path

import check50
import check50.py

sys.path.insert(0, str(Path(__file__).parent))
import assertions


def holds(assertion):
    parts = check50.py.import_("parts.py")
    try:
        assertion(parts)
    except Exception as error:
        raise check50.Failure(str(error) or type(error).__name__) from error


@check50.check()
def exists():
    """parts.py exists"""
    check50.exists("parts.py")


@check50.check(exists)
def mask_shape():
    """mask shape"""
    holds(assertions.mask_shape)


@check50.check(exists)
def mask_values():
    """mask values"""
    holds(assertions.mask_values)


@check50.check(exists)
def mask_single():
    """mask single"""
    holds(assertions.mask_single)


@check50.check(exists)
def attention_shapes():
    """attention shapes"""
    holds(assertions.attention_shapes)


@check50.check(exists)
def attention_values():
    """attention values"""
    holds(assertions.attention_values)


@check50.check(exists)
def attention_sums():
    """attention sums"""
    holds(assertions.attention_sums)


@check50.check(exists)
def attention_mask():
    """attention mask"""
    holds(assertions.attention_mask)


@check50.check(exists)
def attention_large():
    """attention large"""
    holds(assertions.attention_large)


@check50.check(exists)
def norm_parameters():
    """norm parameters"""
    holds(assertions.norm_parameters)


@check50.check(exists)
def norm_values():
    """norm values"""
    holds(assertions.norm_values)


@check50.check(exists)
def norm_eps():
    """norm eps"""
    holds(assertions.norm_eps)


@check50.check(exists)
def norm_gradient():
    """norm gradient"""
    holds(assertions.norm_gradient)
