"""Prints, raises and is named in escape sequences that would change what a terminal shows.

kata = "insertion-sort"
status = "fail"
words = ["Escape"]
"""

TRICK = "\x1b[2J\x1b[1;1H\x1b]0;full marks\x07\x1b[8m\r\x08\u202e\u2066\x9b2J 5/5 passed"
print(TRICK)
Escape = type(f"Escape{TRICK}", (ValueError,), {"__module__": TRICK})


def insertion_sort(values):
    print(TRICK)
    raise Escape(TRICK)
