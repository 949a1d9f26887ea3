"""Returns, prints and raises text that cannot be encoded.

kata = "insertion-sort"
status = "fail"
"""

print("\ud800 \udfff")


def insertion_sort(values):
    if values:
        raise ValueError("\udc80\x00\ud800")
    return {"\ud800": "\udfff", float("nan"): b"\xff", ("\x00",): "\x00"}
