"""Classifiers as other people write them."""


class masked_sum_by_product:
    """The mean is a product with the mask, as sentence encoders have it; the max takes a finite fill."""

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1).to(hidden.dtype)
        if strategy == "cls":
            return hidden[:, 0, :]
        elif strategy == "mean":
            summed = torch.sum(hidden * m, dim=1)
            counts = torch.clamp(m.sum(dim=1), min=1.0)
            return summed / counts
        elif strategy == "max":
            filled = torch.where(mask.unsqueeze(-1), hidden, torch.finfo(hidden.dtype).min)
            return torch.max(filled, dim=1).values * mask.any(dim=1, keepdim=True).to(hidden.dtype)
        else:
            raise ValueError(strategy)


class weights_by_einsum:
    """The mean is a weighted sum by einsum, with weights that add up to 1."""

    def pool(hidden, mask, strategy):
        if strategy not in {"cls", "mean", "max"}:
            raise ValueError(f"unknown pooling strategy: {strategy}")
        if strategy == "cls":
            return hidden.select(1, 0)
        if strategy == "mean":
            weights = mask.to(hidden.dtype)
            weights = weights / weights.sum(-1, keepdim=True).clamp_min(1)
            return torch.einsum("bt,btd->bd", weights, hidden)
        neg = hidden.masked_fill(~mask[:, :, None], -torch.inf)
        best, _ = neg.max(dim=1)
        return torch.where(mask.any(1)[:, None], best, torch.zeros_like(best))


class pooled_by_row:
    """Each row is pooled by itself, in a loop."""

    def pool(hidden, mask, strategy):
        if strategy == "cls":
            return hidden[:, 0]
        if strategy not in ("mean", "max"):
            raise ValueError(strategy)
        rows = []
        for h, m in zip(hidden, mask):
            real = h[m]
            if len(real) == 0:
                rows.append(h.new_zeros(h.shape[-1]))
            elif strategy == "mean":
                rows.append(real.mean(dim=0))
            else:
                rows.append(real.max(dim=0)[0])
        return torch.stack(rows)


class table_of_strategies:
    """The strategies stand in a dictionary of functions."""

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


class learned_positions:
    """Positions are learned, in an embedding of their own, beside a norm and dropout on the embeddings, as in BERT."""

    class EncoderClassifier:
        def __init__(
            self,
            vocab_size,
            num_classes,
            d_model=64,
            num_heads=4,
            d_ff=128,
            num_layers=2,
            max_len=128,
            pooling="cls",
            pad_id=0,
            dropout=0.0,
        ):
            super().__init__()
            self.pad_id = pad_id
            self.pooling = pooling
            self.word_embeddings = nn.Embedding(vocab_size, d_model)
            self.position_embeddings = nn.Embedding(max_len, d_model)
            self.LayerNorm = nn.LayerNorm(d_model)
            self.dropout = nn.Dropout(dropout)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.classifier = nn.Linear(d_model, num_classes)

        def forward(self, input_ids):
            attention_mask = input_ids.ne(self.pad_id)
            position_ids = torch.arange(input_ids.size(1), device=input_ids.device).unsqueeze(0)
            embeddings = self.word_embeddings(input_ids) + self.position_embeddings(position_ids)
            embeddings = self.dropout(self.LayerNorm(embeddings))
            sequence_output = self.encoder(embeddings, attention_mask[:, None, None, :])
            return self.classifier(pool(sequence_output, attention_mask, self.pooling))


class post_norm_with_gelu:
    """A post-norm encoder with gelu, and a pooler with tanh before the head."""

    class EncoderClassifier:
        def __init__(
            self,
            vocab_size,
            num_classes,
            d_model=64,
            num_heads=4,
            d_ff=128,
            num_layers=2,
            max_len=128,
            pooling="cls",
            pad_id=0,
            dropout=0.0,
        ):
            super().__init__()
            self.strategy, self.pad_id = pooling, pad_id
            self.tok = nn.Embedding(vocab_size, d_model, padding_idx=None)
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model))
            self.encoder = Encoder(
                num_layers, d_model, num_heads, d_ff, dropout, norm_first=False, activation="gelu"
            )
            self.pooler = nn.Sequential(nn.Linear(d_model, d_model), nn.Tanh(), nn.Dropout(dropout))
            self.out = nn.Linear(d_model, num_classes)

        def forward(self, tokens):
            B, T = tokens.shape
            keep = tokens != self.pad_id
            h = self.tok(tokens) + self.pe[:T].to(self.tok.weight.dtype)
            h = self.encoder(h, keep.view(B, 1, 1, T))
            return self.out(self.pooler(pool(h, keep, self.strategy)))


class padding_idx_embedding:
    """The embedding knows padding_idx, and its output is scaled by the root of D, as in the first paper."""

    class EncoderClassifier:
        def __init__(
            self,
            vocab_size,
            num_classes,
            d_model=64,
            num_heads=4,
            d_ff=128,
            num_layers=2,
            max_len=128,
            pooling="cls",
            pad_id=0,
            dropout=0.0,
        ):
            super().__init__()
            self.scale = d_model**0.5
            self.pooling = pooling
            self.pad_id = pad_id
            self.embed = nn.Embedding(vocab_size, d_model, padding_idx=pad_id)
            nn.init.normal_(self.embed.weight, std=d_model**-0.5)
            self.register_buffer("pos", sinusoidal_positions(max_len, d_model).unsqueeze(0), persistent=False)
            self.drop = nn.Dropout(dropout)
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.fc = nn.Linear(d_model, num_classes)

        def forward(self, tokens):
            mask = tokens != self.pad_id
            x = self.embed(tokens) * self.scale
            x = self.drop(x + self.pos[:, : x.size(1)])
            x = self.encoder(x, mask=mask[:, None, None, :])
            return self.fc(pool(x, mask, self.pooling))


class cls_vector_in_front:
    """With cls a learned vector of its own stands in front of every text, as image classifiers have it."""

    class EncoderClassifier:
        def __init__(
            self,
            vocab_size,
            num_classes,
            d_model=64,
            num_heads=4,
            d_ff=128,
            num_layers=2,
            max_len=128,
            pooling="cls",
            pad_id=0,
            dropout=0.0,
        ):
            super().__init__()
            self.pooling, self.pad_id = pooling, pad_id
            self.tok_emb = nn.Embedding(vocab_size, d_model)
            self.pos_emb = nn.Parameter(torch.zeros(1, max_len + 1, d_model))
            nn.init.trunc_normal_(self.pos_emb, std=0.02)
            self.cls_token = nn.Parameter(torch.randn(1, 1, d_model) * 0.02) if pooling == "cls" else None
            self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            self.head = nn.Linear(d_model, num_classes)

        def forward(self, tokens):
            x, real = self.tok_emb(tokens), tokens != self.pad_id
            if self.cls_token is not None:
                x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
                real = nn.functional.pad(real, (1, 0), value=True)
            x = self.encoder(x + self.pos_emb[:, : x.shape[1]], real[:, None, None])
            return self.head(pool(x, real, self.pooling))


class two_dimensional_mask:
    """The mask for attention is made as large as [B, 1, T, T], rows of padding included."""

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            mask = torch.einsum("bi,bj->bij", torch.ones_like(real).float(), real.float()).bool().unsqueeze(1)
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(-1)])
            features = self.encoder(x, mask)
            return self.head(pool(features, real, self.pooling))


class embeddings_module:
    """Embeddings and head are modules of their own, with type hints and helper methods."""

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


class loader:
    """Batches come from a DataLoader over a TensorDataset, and losses are weighed by their batches."""

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(
            TensorDataset(tokens, labels), batch_size=batch_size, shuffle=True, generator=generator
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        criterion = nn.CrossEntropyLoss()
        history = []
        for epoch in range(epochs):
            model.train()
            running_loss, seen = 0.0, 0
            for inputs, targets in loader:
                optimizer.zero_grad()
                outputs = model(inputs)
                loss = criterion(outputs, targets)
                loss.backward()
                optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                seen += inputs.size(0)
            history.append(running_loss / seen)
        return history


class sliced_permutation:
    """The order is drawn once an epoch and cut by slices."""

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        model.train()
        opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
        n = tokens.size(0)
        history = []
        for _ in range(epochs):
            perm = torch.randperm(n, generator=generator)
            losses = []
            for i in range(0, n, batch_size):
                idx = perm[i : i + batch_size]
                opt.zero_grad(set_to_none=True)
                logits = model(tokens[idx])
                losses.append(cross_entropy(logits, labels[idx], reduction="none"))
                losses[-1].mean().backward()
                losses[-1] = losses[-1].detach()
                opt.step()
            history.append(torch.cat(losses).mean().item())
        return history


class batches_by_generator_function:
    """A generator function yields batches, and log-softmax with the likelihood loss stands for cross-entropy."""

    def minibatches(tokens, labels, size, generator):
        order = torch.randperm(labels.shape[0], generator=generator)
        for start in range(0, labels.shape[0], size):
            picked = order[start : start + size]
            yield tokens.index_select(0, picked), labels.index_select(0, picked)

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.NAdam(model.parameters(), lr=lr)
        curve = []
        for _ in range(epochs):
            model.train()
            epoch_loss = 0.0
            for x, y in minibatches(tokens, labels, batch_size, generator):
                nll = nn.functional.nll_loss(model(x).log_softmax(-1), y, reduction="sum")
                opt.zero_grad()
                (nll / len(y)).backward()
                opt.step()
                epoch_loss += float(nll.detach())
            curve.append(epoch_loss / len(labels))
        return curve


class clipped_gradients:
    """Gradients are clipped before each step, and the meter is a small class."""

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


class groups_of_decay:
    """Matrices decay and vectors do not, in two groups of the optimizer."""

    def make_optimizer(model, lr):
        decay = [p for p in model.parameters() if p.requires_grad and p.dim() >= 2]
        rest = [p for p in model.parameters() if p.requires_grad and p.dim() < 2]
        groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
        return torch.optim.AdamW([g for g in groups if g["params"]], lr=lr)

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = make_optimizer(model, lr)
        model.train(True)
        result = []
        for _ in range(epochs):
            sum_loss = torch.zeros((), dtype=torch.float64)
            for ids in torch.randperm(len(tokens), generator=generator).split(batch_size):
                optimizer.zero_grad()
                loss = cross_entropy(model(tokens[ids]), labels[ids])
                loss.backward()
                optimizer.step()
                sum_loss += loss.detach().double().cpu() * len(ids)
            result.append((sum_loss / len(tokens)).item())
        return result


class step_function:
    """One training step is a function, and the epochs are comprehensions."""

    def train_step(model, optimizer, x, y):
        model.train()
        optimizer.zero_grad()
        loss = cross_entropy(model(x), y, reduction="sum")
        (loss / y.shape[0]).backward()
        optimizer.step()
        return loss.item()

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = torch.optim.RAdam(model.parameters(), lr=lr)

        def epoch():
            order = torch.randperm(len(tokens), generator=generator)
            chunks = [order[i : i + batch_size] for i in range(0, len(order), batch_size)]
            return sum(train_step(model, optimizer, tokens[c], labels[c]) for c in chunks) / len(tokens)

        return [epoch() for _ in range(epochs)]


class sampler:
    """A random sampler and a batch sampler give the indices."""

    from torch.utils.data import BatchSampler, RandomSampler

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        batches = BatchSampler(RandomSampler(labels, generator=generator), batch_size, drop_last=False)
        optimizer = torch.optim.AdamW(model.parameters(), lr)
        model.train()
        means = []
        for _ in range(epochs):
            total, n = 0.0, 0
            for batch in batches:
                batch = torch.as_tensor(batch)
                loss = cross_entropy(model(tokens[batch]), labels[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total, n = total + loss.item() * len(batch), n + len(batch)
            means.append(total / n)
        return means


class index_by_lengths:
    """The mask is made from the lengths that pooling counts, and everything else is the reference's."""

    def pool(hidden, mask, strategy):
        B, T, D = hidden.size()
        expanded = mask.unsqueeze(-1).expand(B, T, D)
        match strategy:
            case "cls":
                return hidden[:, 0]
            case "mean":
                return (hidden * expanded).sum(1) / expanded.sum(1).clamp(min=1)
            case "max":
                out = hidden.masked_fill(expanded.logical_not(), float("-inf")).max(1)[0]
                return out.masked_fill(out == float("-inf"), 0.0)
            case _:
                raise ValueError(f"{strategy=}")


class nan_aware:
    """The mean counts by lengths of at least 1, the max is taken by indices that are gathered."""

    def pool(hidden, mask, strategy):
        assert mask.shape == hidden.shape[:2]
        if strategy == "cls":
            return hidden[:, 0]
        if strategy == "mean":
            n = mask.sum(-1, keepdim=True)
            n = torch.where(n == 0, torch.ones_like(n), n)
            return torch.where(mask[..., None], hidden, 0.0).sum(1) / n
        if strategy == "max":
            scores = hidden.detach().masked_fill(~mask[..., None], float("-inf"))
            where = scores.argmax(dim=1, keepdim=True)
            best = hidden.gather(1, where).squeeze(1)
            return torch.where(mask.any(1, keepdim=True), best, 0.0)
        raise ValueError("strategy must be one of: cls, mean, max")


class matrix_product_mean:
    """The mean is a matrix product of weights and vectors, and pooling is called with strings by a method."""

    def pool(hidden, mask, strategy):
        if strategy == "mean":
            w = mask / mask.sum(1, keepdim=True).clamp(min=1)
            return (w.to(hidden.dtype).unsqueeze(1) @ hidden).squeeze(1)
        if strategy == "max":
            bias = torch.zeros_like(mask, dtype=hidden.dtype).masked_fill_(~mask, -torch.inf)
            top = (hidden + bias.unsqueeze(-1)).amax(dim=1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        if strategy == "cls":
            return hidden[:, 0]
        raise ValueError(strategy)


class truncated_init:
    """Weights begin small, and the head has no bias."""

    class EncoderClassifier:
        __init__ = """
            - self.head = nn.Linear(d_model, num_classes)
            + self.head = nn.Linear(d_model, num_classes, bias=False)
            + for module in self.modules():
            +     if isinstance(module, nn.Linear):
            +         nn.init.xavier_uniform_(module.weight)
            + nn.init.normal_(self.embedding.weight, std=0.02)
        """


class positions_at_every_call:
    """Positions are made anew at every call, on the tokens' device."""

    class EncoderClassifier:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.max_len, self.d_model = max_len, d_model
        """

        def forward(self, tokens):
            pe = sinusoidal_positions(tokens.shape[1], self.d_model, device=tokens.device)
            x = self.embedding(tokens)
            x = self.dropout(x + pe.to(x.dtype))
            real = tokens != self.pad_id
            return self.head(pool(self.encoder(x, real.unsqueeze(1).unsqueeze(2)), real, self.pooling))


class one_hot_free_of_padding:
    """Vectors of padding are set to zero before and after the encoder, which changes nothing that is read."""

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens != self.pad_id
            keep = real.unsqueeze(-1)
            h = self.embedding(tokens) + self.positions[: tokens.shape[1]]
            h = self.dropout(h).masked_fill(~keep, 0.0)
            h = self.encoder(h, real[:, None, None, :])
            return self.head(pool(h, real, self.pooling))
