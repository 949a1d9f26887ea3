"""Takes all the memory, catches the error, and goes on without any left.

kata = "insertion-sort"
status = "fail or error or timeout"
earns = ["test_empty"]
timeout_s = 5
"""

kept = []


def insertion_sort(values):
    size = 1 << 28
    while size > 64:
        try:
            kept.append(bytearray(size))
        except MemoryError:
            size //= 2
    return list(values)
