"""Raises exceptions with enormous messages, types, chains and tracebacks.

kata = "insertion-sort"
status = "fail"
"""


def deeper(number, message):
    if number == 0:
        try:
            raise type("E" * 100_000, (ValueError,), {})(message)
        except ValueError as error:
            raise KeyError(message, error) from error
    deeper(number - 1, message)


def insertion_sort(values):
    deeper(900, "m" * 20_000_000 + "\n" * 100_000)
