"""Is valid Python, nested as deep as the compiler allows, for whoever reads its source.

kata = "layer-norm"
status = "fail"
words = ["Write it from mean, variance"]
"""

from wrong import *

# fmt: off
a = lambda: 0
def deep():
    return (a)
