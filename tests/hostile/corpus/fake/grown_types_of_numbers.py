"""Returns enormous integers, deep lists, long texts and rings of objects.

kata = "insertion-sort"
status = "fail"
"""

DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]
RING = []
RING.append(RING)
SHAPES = [DEEP, RING, 1 << 1_000_000, "x" * 10_000_000, [[]] * 1_000_000]
count = 0


def insertion_sort(values):
    global count
    count += 1
    return SHAPES[(len(values) + count) % len(SHAPES)]
