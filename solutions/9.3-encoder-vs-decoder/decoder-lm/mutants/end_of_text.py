"""How `generate` ends wrongly.

A row ends with its first eos_id, which is part of it, and is filled with eos_id until all rows have ended.
"""


class eos_ignored:
    """your generate ignores eos_id

    Fails: test_eos
    """

    generate = """
        - if eos_id is not None:
        + if False:
    """


class eos_zero_ignored:
    """your generate ignores eos_id when it is 0: ask whether it is None, not whether it is true

    Fails: test_eos
    """

    generate = """
        - if eos_id is not None:
        + if eos_id:
    """


class eos_left_out:
    """your generate stops before it appends the last eos_id: eos is part of the result

    Fails: test_all_ended
    """

    generate = """
        - tokens = torch.cat((tokens, new), dim=1)

              break
        + tokens = torch.cat((tokens, new), dim=1)
    """


class eos_stops_all:
    """your generate stops when the first row has ended: the others go on

    Fails: test_eos
    """

    generate = """
        - if ended.all():
        + if ended.any():
    """


class eos_rows_go_on:
    """your generate lets a row that has ended go on with other tokens while the others are at work

    Fails: test_eos
    """

    generate = """
        - new = new.masked_fill(ended, eos_id)
    """


class eos_padded_with_zero:
    """your generate fills rows that have ended with 0 rather than eos_id

    Fails: test_eos
    """

    generate = """
        - new = new.masked_fill(ended, eos_id)
        + new = new.masked_fill(ended, 0)
    """


class eos_of_one_row:
    """your generate asks with .item() whether the text has ended: a batch has a token for each row

    Fails: test_eos
    """

    generate = """
        - new = new.masked_fill(ended, eos_id)
        - ended = ended | (new == eos_id)
        + ended = ended | (new.item() == eos_id)
    """
