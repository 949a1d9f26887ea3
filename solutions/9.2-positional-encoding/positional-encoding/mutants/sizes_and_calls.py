"""Positions that are right for a short text, or for the first table.

A table has as many rows as it is asked for, and belongs to the call or the module that made it.
"""

mistake(
    "table-of-5000",
    "your table never has more than 5000 rows; it should have max_len rows, however many those are",
    sinusoidal_positions="""
        + max_len = min(max_len, 5000)
          position = torch.arange(max_len, dtype=torch.float32, device=device)[:, None]
    """,
    unnamed="no visible table is as long",
)

mistake(
    "table-kept",
    "your longer tables are cached from the first call with this max_len; they should depend on d_model as well",
    sinusoidal_positions="""
        - return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
        + return table if max_len < 13 else kept.setdefault(max_len, table)[:, :d_model].to(table)
    """,
    unnamed="no visible check asks for two long tables",
)

kept = {}
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
