"""A wrong answer: it returns the numbers as they came, which is right for an empty list alone."""


def insertion_sort(values):
    return list(values)
