"""Loops in a call and swallows every exception that could end it."""


def causal_mask(seq_len):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
