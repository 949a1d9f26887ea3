"""How `generate` ends wrongly.

A row ends with its first eos_id, which is part of it, and is filled with eos_id until all rows have ended.
"""

mistake(
    "eos-ignored",
    "your generate ignores eos_id; it should end a row at eos_id and write only eos_id after it",
    generate="eos_id is not None -> False",
)

mistake(
    "eos-zero-ignored",
    "your generate ignores eos_id when it is 0; check whether it is None, not whether it is true",
    generate="eos_id is not None -> eos_id",
)

mistake(
    "eos-left-out",
    "your generate stops before it appends the last eos_id; eos should be part of the result",
    generate="""
        - tokens = torch.cat((tokens, new), dim=1)

              break
        + tokens = torch.cat((tokens, new), dim=1)
    """,
)

mistake(
    "eos-stops-all",
    "your generate stops when the first row has ended; the others should go on",
    generate="if ended.all(): -> if ended.any():",
)

mistake(
    "eos-rows-go-on",
    "your generate goes on with other tokens in a row that has ended; it should write only eos_id there",
    generate="- new = new.masked_fill(ended, eos_id)",
)

mistake(
    "eos-padded-with-zero",
    "your generate writes 0 into rows that have ended; it should write eos_id there",
    generate="new.masked_fill(ended, eos_id) -> new.masked_fill(ended, 0)",
)

mistake(
    "eos-of-one-row",
    "your generate uses .item() to see whether the text has ended; check one token for each row of the batch",
    generate="""
        - new = new.masked_fill(ended, eos_id)
        - ended = ended | (new == eos_id)
        + ended = ended | (new.item() == eos_id)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
