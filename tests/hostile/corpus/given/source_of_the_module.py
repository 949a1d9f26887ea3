"""Asks for the source of the given blocks, changes it, and executes that.

kata = "masks"
status = "fail"
words = ["bidirectional_mask is the given block bidirectional_mask"]
beside = "blocks.py"
"""

import inspect

import blocks

exec(inspect.getsource(blocks).replace("aten", "operators"))
