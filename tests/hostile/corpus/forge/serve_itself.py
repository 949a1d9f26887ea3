"""Finds the worker in memory and makes it answer every question with something true.

kata = "insertion-sort"
status = "fail"
"""

import gc

from wrong import *


class Anything(list):
    def __eq__(self, other):
        return True


for thing in gc.get_objects():
    if type(thing).__name__ == "Worker":
        thing._call = lambda request, payload: thing._reply(Anything([1]))
