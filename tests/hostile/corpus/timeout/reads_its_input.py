"""Waits for input that nobody types.

kata = "insertion-sort"
status = "fail"
words = ["nobody is here to answer input()"]
"""


def insertion_sort(values):
    return [int(number) for number in input().split()]
