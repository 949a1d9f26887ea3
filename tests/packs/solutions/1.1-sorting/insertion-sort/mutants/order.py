"""What goes wrong where a value is put: after all that are not greater, so that equal ones keep their order."""

mistake(
    "descending",
    "your list is in descending order, as the comparison is the wrong way round",
    insertion_sort="other <= value -> other >= value",
)


@mistake("drops-equal", "your list loses equal numbers, as it keeps each value only once")
def insertion_sort(values: list[int]) -> list[int]:
    ordered: list[int] = []
    for value in values:
        if value not in ordered:
            ordered.insert(sum(1 for other in ordered if other < value), value)
    return ordered
