"""Asks for the source of the given blocks, changes it, and executes that.

kata = "masks"
status = "fail"
words = ["a given block is not an answer"]
beside = "blocks.py"
"""

import inspect

import blocks

exec(inspect.getsource(blocks).replace("aten", "operators"))
