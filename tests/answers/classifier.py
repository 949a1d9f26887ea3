"""Answers to classifier."""

# ==== right ====
"""Classifiers as other people write them."""

answer("table-of-strategies", "The strategies stand in a dictionary of functions.")


def cls_pool(hidden, mask):
    return hidden[:, 0]


def mean_pool(hidden, mask):
    lengths = mask.sum(dim=1)
    total = (hidden * mask[..., None]).sum(dim=1)
    return total / torch.maximum(lengths, torch.ones_like(lengths)).unsqueeze(1)


def max_pool(hidden, mask):
    hidden = hidden.masked_fill(mask.logical_not().unsqueeze(2), float("-inf"))
    return hidden.amax(1).masked_fill((~mask).all(dim=1).unsqueeze(1), 0)


POOLERS = {"cls": cls_pool, "mean": mean_pool, "max": max_pool}


def pool(hidden, mask, strategy):
    try:
        pooler = POOLERS[strategy]
    except KeyError:
        raise ValueError(f"strategy {strategy!r} is none of {sorted(POOLERS)}") from None
    return pooler(hidden, mask)


answer(
    "embeddings-module", "Embeddings and head are modules of their own, with type hints and helper methods."
)


class Embeddings(nn.Module):
    def __init__(self, vocab_size: int, d_model: int, max_len: int, dropout: float) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.register_buffer("position_ids", torch.arange(max_len))
        self.positions = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        ids = self.position_ids[: tokens.shape[1]]
        return self.dropout(self.tokens(tokens) + self.positions(ids))


class EncoderClassifier:
    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
        max_len: int = 128,
        pooling: str = "cls",
        pad_id: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pad_id: int = pad_id
        self.pooling: str = pooling
        self.embeddings = Embeddings(vocab_size, d_model, max_len, dropout)
        self.body = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
        self.head = nn.Sequential(
            nn.Linear(d_model, d_model), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_model, num_classes)
        )

    def make_mask(self, tokens: torch.Tensor) -> torch.Tensor:
        return (tokens != self.pad_id)[:, None, None, :]

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = self.make_mask(tokens)
        hidden = self.body(self.embeddings(tokens), mask)
        return self.head(pool(hidden, mask.squeeze(1).squeeze(1), self.pooling))


answer("clipped-gradients", "Gradients are clipped before each step, and the meter is a small class.")


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.98))
    loss_fn = nn.CrossEntropyLoss()
    meters = []
    model.train()
    for epoch in range(epochs):
        meter = AverageMeter()
        for index in torch.split(torch.randperm(len(labels), generator=generator), batch_size):
            output = model(tokens[index])
            loss = loss_fn(output, labels[index])
            model.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            meter.update(loss.item(), index.numel())
        meters.append(meter.avg)
    return meters


# ==== wrong ====
"""Classifiers as other people get them wrong."""


@answer("axis-left-over", "cls keeps the axis of positions, and the mean too.", named=["cls-keeps-the-axis"])
def pool(hidden, mask, strategy):
    m = mask.unsqueeze(-1)
    if strategy == "cls":
        return hidden[:, :1]
    elif strategy == "mean":
        return (hidden * m).sum(1, keepdim=True) / m.sum(1, keepdim=True).clamp(min=1)
    elif strategy == "max":
        top = hidden.masked_fill(~m, float("-inf")).amax(1)
        return torch.where(torch.isinf(top), torch.zeros_like(top), top)
    raise ValueError(strategy)


@answer("no-step", "The optimizer is made and never steps.", named=["gradients-emptied-too-late"])
def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    model.train()
    out = []
    for _ in range(epochs):
        total = 0.0
        for sel in torch.randperm(len(tokens), generator=generator).split(batch_size):
            loss = cross_entropy(model(tokens[sel]), labels[sel])
            opt.zero_grad()
            loss.backward()
            total += loss.item() * len(sel)
        out.append(total / len(tokens))
    return out


answer(
    "row-0-is-padding",
    "Row 0 of the table never learns, whichever token is padding.",
    EncoderClassifier="nn.Embedding(vocab_size, d_model) -> nn.Embedding(vocab_size, d_model, padding_idx=0)",
)

answer(
    "drops-whole-features",
    "Dropout as images have it: what is dropped is dropped at all positions.",
    EncoderClassifier="nn.Dropout(dropout) -> DropFeatures(dropout)",
)


class DropFeatures(nn.Dropout1d):
    def forward(self, x):
        return super().forward(x.mT).mT
