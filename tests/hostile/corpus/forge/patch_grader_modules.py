"""Looks for the grader's own modules in this process and replaces every function in them.

kata = "insertion-sort"
status = "fail or error"
"""

import sys
import types

from wrong import *

for name, module in list(sys.modules.items()):
    if name.startswith("grader.") and module is not None:
        for key, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                setattr(module, key, lambda *arguments, **options: None)
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == name:
                for key, method in list(vars(value).items()):
                    if isinstance(method, types.FunctionType) and not key.startswith("__"):
                        try:
                            setattr(value, key, lambda *arguments, **options: True)
                        except TypeError:
                            pass
