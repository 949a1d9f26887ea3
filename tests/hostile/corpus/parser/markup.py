"""Has names, messages and output that are HTML, Markdown, formulas of a spreadsheet and console markup.

kata = "insertion-sort"
status = "fail"
"""

MARKUP = (
    "<script>alert(1)</script> [red]full marks[/red] ![x](javascript:1) =cmd|' /C calc'!A0 {{7*7}} %s {0}"
)
print(MARKUP)
Odd = type(MARKUP, (ValueError,), {})


def insertion_sort(values):
    print(MARKUP)
    raise Odd(MARKUP)
