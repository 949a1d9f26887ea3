"""Answers with numbers that no report can hold: without end, no numbers, of five thousand digits.

kata = "insertion-sort"
status = "fail"
"""

ENDLESS = [float("inf"), -float("inf"), float("nan"), 10**308 * 10.0, -0.0, 5e-324]


def insertion_sort(values):
    if len(values) > 3:
        return [10**5000, *ENDLESS]
    return ENDLESS
