"""Returns NaN, infinities and minus zero where numbers are compared.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""


def insertion_sort(values):
    return [(float("nan"), float("inf"), -0.0)[place % 3] for place in range(len(values))]
