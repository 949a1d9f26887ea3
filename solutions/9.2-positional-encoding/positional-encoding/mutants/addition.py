"""How the table is added wrongly.

Position t of every sequence gets row t added; x, its dtype and its gradient stay what they were.
"""

mistake(
    "positions-alone",
    "your module returns only the positions; it should add them to x",
    _add="x + table[:T].to(x.dtype) -> table[:T].to(x.dtype).expand_as(x)",
)

mistake(
    "sum-not-returned",
    "your positions never reach the output, which is x as it came; return the sum",
    _add="return x + table[:T].to(x.dtype) -> return x",
    idle="adding positions",
    costs="no position is added anywhere",
)

mistake(
    "multiplied",
    "your positions are multiplied with x; they should be added",
    _add="x + table[:T].to(x.dtype) -> x * table[:T].to(x.dtype)",
)

mistake(
    "concatenated",
    "your positions are put next to x; add them to it, so that the width stays d_model",
    _add="""
        - return x + table[:T].to(x.dtype)
        + return torch.cat((x, table[:T].to(x.dtype).expand(x.size(0), -1, -1)), dim=-1)
    """,
)

mistake(
    "x-scaled",
    "your x is multiplied by √d_model first; leave that to the word embedding",
    _add="x + table[:T].to(x.dtype) -> x * x.size(-1) ** 0.5 + table[:T].to(x.dtype)",
)

mistake(
    "one-row-for-all",
    "your module adds the row of position T - 1 to every position; position t should get row t",
    _add="table[:T].to(x.dtype) -> table[T - 1].to(x.dtype)",
)

mistake(
    "last-rows",
    "your module adds the last T rows of the table; position t should get row t",
    _add="table[:T].to(x.dtype) -> table[max_len - T :].to(x.dtype)",
)

mistake(
    "rows-by-batch",
    "your rows go by the number of the sequence in the batch; they should go by the position in the sequence",
    _add="table[:T].to(x.dtype) -> table[: x.size(0), None].to(x.dtype)",
)

mistake(
    "batch-for-time",
    "your T is x.size(0), the size of the batch; it should be x.size(1), since x is [B, T, D]",
    _add="T, max_len = x.size(1), table.size(0) -> T, max_len = x.size(0), table.size(0)",
)

mistake(
    "dtype-of-the-table",
    "your output has the dtype of the table, so a bfloat16 x comes out as float32; it should keep the dtype of x",
    _add="table[:T].to(x.dtype) -> table[:T]",
)


@mistake(
    "positions-in-dtype-of-x",
    "your positions are made in the dtype of x, and bfloat16 counts only to 256; make them in float32",
)
class SinusoidalPositionalEncoding:
    def forward(self, x):
        position = torch.arange(x.size(1), dtype=x.dtype, device=x.device)[:, None].float()
        frequency = 10000.0 ** (-torch.arange(0, x.size(2), 2, device=x.device) / x.size(2))
        angle = (position * frequency).to(self.table)
        table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        if x.size(1) > self.table.size(0):
            raise ValueError("too long")
        return _add(x, table)


mistake(
    "input-changed",
    "your x is changed in place by +=; return a new tensor",
    _add="""
        - return x + table[:T].to(x.dtype)
        + x += table[:T].to(x.dtype)
        + return x
    """,
)

mistake(
    "x-detached",
    "your x is cut from the graph, so the layers before the encoding learn nothing; gradients should go through x",
    _add="x + table[:T].to(x.dtype) -> x.detach() + table[:T].to(x.dtype)",
)

mistake(
    "dropout-added",
    "your modules drop numbers in train mode; in this exercise there should be no dropout",
)


class SinusoidalPositionalEncoding:
    def forward(self, x):
        return nn.functional.dropout(_add(x, self.table), 0.1, self.training)


class LearnedPositionalEncoding:
    def forward(self, x):
        return nn.functional.dropout(_add(x, self.table), 0.1, self.training)


mistake(
    "row-t-for-all",
    "your module adds row T to every position; take the first T rows with a colon, [:T]",
    _add="table[:T].to(x.dtype) -> table[T].to(x.dtype)",
)

mistake(
    "output-time-first",
    "your output is [T, B, D]; it should be [B, T, D], as x is",
    _add="x + table[:T].to(x.dtype) -> x.transpose(0, 1) + table[:T, None].to(x.dtype)",
)

mistake(
    "output-squeezed",
    "your output loses its axes of length 1; a batch of one should stay [1, T, D]",
    _add="x + table[:T].to(x.dtype) -> (x + table[:T].to(x.dtype)).squeeze()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
