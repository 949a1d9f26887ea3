"""How the modules keep their tables wrongly.

The sinusoidal table is a buffer: it moves with the module and is not learned. The learned one is a parameter, row
by row.
"""


@mistake(
    "module-arguments-swapped",
    "your module exchanges max_len and d_model; its table should have max_len rows of d_model numbers",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(d_model, max_len))


@mistake(
    "table-in-plain-attribute",
    "your sinusoidal table does not move with the module; register it as a buffer",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = sinusoidal_positions(max_len, d_model)


@mistake(
    "buffer-never-read",
    "your module adds a plain attribute, which does not move with the module; it should read its buffer",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", torch.zeros(max_len, d_model))
        self.rows = sinusoidal_positions(max_len, d_model)

    def forward(self, x):
        return _add(x, self.rows)


@mistake(
    "table-is-parameter",
    "your sinusoidal table is a parameter, even if it gets no gradient; register it as a buffer",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = nn.Parameter(sinusoidal_positions(max_len, d_model), requires_grad=False)


@mistake(
    "table-grows",
    "your sinusoidal table grows with the text, so a saved state no longer fits; make all its rows in __init__",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.max_len = max_len
        self.register_buffer("table", sinusoidal_positions(1, d_model))

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError(f"a sequence of {x.size(1)} positions is longer than max_len ({self.max_len})")
        if x.size(1) > self.table.size(0):
            self.table = sinusoidal_positions(x.size(1), x.size(2), device=x.device)
        return _add(x, self.table)


@mistake(
    "learned-as-buffer",
    "your learned table is not an nn.Parameter, nor is one times a number, so it never learns; it should be one",
)
class LearnedPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.register_buffer("table", torch.randn(max_len, d_model) * 0.02)


@mistake(
    "learned-detached",
    "your learned table is cut from the graph, by detach or requires_grad=False; it should get a gradient",
)
class LearnedPositionalEncoding:
    def forward(self, x):
        return _add(x, self.table.detach())


@mistake("learned-is-sinusoidal", "your learned encoding adds the sinusoidal table; it should add its own parameter")
class LearnedPositionalEncoding:
    def forward(self, x):
        return _add(x, sinusoidal_positions(*self.table.shape, device=x.device))


@mistake(
    "learned-vector-shared",
    "your learned encoding is one vector for all positions; it should have a row for each",
)
class LearnedPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Parameter(torch.randn(d_model) * 0.02)

    def forward(self, x):
        return _add(x, self.table.expand(self.max_len, -1))


@mistake(
    "learned-norm-added",
    "your learned encoding has a layer norm of its own; the table should be its only parameter",
    LearnedPositionalEncoding="""
          self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        + self.norm = nn.LayerNorm(d_model)
    """,
)
class LearnedPositionalEncoding:
    def forward(self, x):
        return self.norm(_add(x, self.table))


@mistake(
    "dropout-takes-max-len",
    "your second parameter is a dropout, where max_len arrives; the class should take (d_model, max_len)",
    costs="no module can be made",
)
class SinusoidalPositionalEncoding:
    def __init__(self, d_model, dropout=0.0, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("table", sinusoidal_positions(max_len, d_model))

    def forward(self, x):
        return self.dropout(_add(x, self.table))


@mistake(
    "learned-arguments-swapped",
    "your learned table has d_model rows of max_len numbers; it should have max_len rows of d_model numbers",
)
class LearnedPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Embedding(d_model, max_len)

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.size(1), device=x.device)).to(x.dtype)


@mistake(
    "learned-number-per-position",
    "your learned table has one number per position; it should have one for each column as well",
)
class LearnedPositionalEncoding:
    def __init__(self, d_model, max_len):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, 1) * 0.02)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
