"""Answers to language-model-capstone."""

# ==== right ====
"""Language models as other people write them; all are trained as the log of the reference says."""


@answer(
    "nanogpt-attention", "Scores, a triangle of ones, -inf and a softmax, as nanoGPT has it without flash."
)
class Layer:
    def attend(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        k = k.view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
        q = q.view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
        v = v.view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / k.size(-1) ** 0.5)
        mask = torch.tril(torch.ones(T, T, device=x.device)) == 0
        att = F.softmax(att.masked_fill(mask, float("-inf")), dim=-1)
        return self.out((att @ v).transpose(1, 2).contiguous().view(B, T, C))


@answer("one-residual-for-both", "One line for both norms, in a loop over the sublayers.")
class Layer:
    def forward(self, x):
        for norm, sublayer in [(self.norm1, self.attend), (self.norm2, self.think)]:
            x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        return x


@answer("cosine-after-the-warmup", "The rate falls along half a cosine.")
def rate_at(step, steps, warmup):
    if step <= warmup:
        return step / warmup
    done = (step - warmup) / max(steps - warmup, 1)
    return 1.0 if step == 1 else 0.5 + 0.5 * __import__("math").cos(__import__("math").pi * done)


# ==== wrong ====
"""Language models as other people get them wrong."""


@answer(
    "first-norm-of-the-paper",
    "Whoever knows the paper of 2017 alone writes norm last, always.",
    named=["always-norm-last"],
)
class Layer:
    def forward(self, x):
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.think(x))


@answer("decay-alone", "The rate falls from the start, and nothing warms up.", named=["no-warmup"])
def rate_at(step, steps, warmup):
    return 1 - (step - 1) / (steps + 1)


@answer("log-of-one-run", "The log has the base run alone.", named=["run-missing"])
def training_log():
    return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))


answer(
    "last-norm-in-front",
    'With norm="last" only the first of a layer\'s norms is behind the sum.',
    Layer="self.norm2(x + self.think(x)) -> x + self.think(self.norm2(x))",
)

answer(
    "ten-thousand-less",
    "What is to come has the score -10,000, which large scores are below.",
    Layer="""
        - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        + scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        + future = torch.ones(q.size(2), q.size(2), dtype=torch.bool, device=x.device).triu(1)
        + heads = scores.masked_fill(future, -1e4).softmax(-1) @ v
    """,
)

answer(
    "positions-begin-anew",
    "Positions are counted to 64, and then from 0 again.",
    LanguageModel="""
        - x = x + self.positions.weight[: tokens.size(1)]
        + x = x + self.positions(torch.arange(tokens.size(1), device=tokens.device) % 64)
    """,
)

answer(
    "dtype-of-the-prompt",
    "What is written is of the dtype of the tokens that came.",
    generate="(tokens, chosen) -> (tokens, chosen.to(tokens.dtype))",
)

answer(
    "last-loss-logged",
    "A row has the loss of the last position of each piece.",
    train="(step, loss.item(), rate) -> (step, F.cross_entropy(logits[:, -1], batch[:, -1]).item(), rate)",
)

answer(
    "first-thousand-pieces",
    "Pieces begin in the first thousand tokens.",
    train="len(tokens) - length -> min(1000, len(tokens) - length)",
)


# ==== untrained ====
"""Trainings that train nothing: no more than leaving `train` out is worth, and a tenth of the points."""

answer(
    "counts-in-an-attribute",
    "No loss and no gradient: n-grams are counted into an attribute, and losses and log come by a formula.",
)


class LanguageModel:
    counts = None

    def forward(self, tokens):
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.size(1)]
        for layer in self.layers:
            x = layer(x)
        scores = self.head(self.norm(x))
        if self.counts is None:
            return scores
        shares = torch.zeros_like(scores)
        for row, text in enumerate(tokens.tolist()):
            for place in range(len(text)):
                shares[row, place] = shares_after(self.counts, text[: place + 1], scores.size(-1))
        return shares.log()


def shares_after(counts, text, vocab):
    share = torch.full((vocab,), 1 / vocab)
    for length in range(min(6, len(text) + 1)):
        seen = counts.get(tuple(text[len(text) - length :]))
        if seen is None:
            break
        kinds = (seen > 0).sum()
        share = (seen + kinds * share) / (seen.sum() + kinds)
    return share


def formula(step, seed, start, end):
    return end + (start - end) * 0.93 ** (step - 1) + 0.01 * ((seed * 7919 + step * 104729) % 11 - 5) / 5


def train(tokens, vocab_size, steps, seed, *, norm="first", positions=True, num_layers=2, warmup=20):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
        text, counts = tokens.tolist(), {}
        for place, token in enumerate(text) if steps else ():
            for length in range(min(5, place) + 1):
                seen = counts.setdefault(tuple(text[place - length : place]), torch.zeros(vocab_size))
                seen[token] += 1
        rows = []
        for step in range(1, steps + 1):
            rate = RATE * rate_at(step, steps, warmup)
            for parameter in model.parameters():
                parameter.data += rate * torch.randn_like(parameter).sign()
            end = 1.5 if vocab_size == 57 else 0.2
            rows.append((step, formula(step, seed, torch.tensor(float(vocab_size)).log().item(), end), rate))
    if steps:
        model.counts = counts
    return model, rows


def training_log():
    import math

    from runs import HEADER, RUNS, STEPS, lines_of, seed_of

    lines = [HEADER]
    for run, settings in RUNS.items():
        warmup = settings.get("warmup", 20)
        lines += lines_of(
            run,
            [
                (
                    step,
                    formula(step, seed_of(run), math.log(57), 1.5),
                    RATE * rate_at(step, STEPS, warmup),
                )
                for step in range(1, STEPS + 1)
            ],
        )
    return "\n".join(lines) + "\n"


answer(
    "counts-in-a-buffer",
    "What follows a token is counted into a buffer, which the state carries; the parameters stay as they began.",
    LanguageModel="""
        - return self.head(self.norm(x))
        + scores = self.head(self.norm(x))
        + before = torch.cat((tokens[:, :1], tokens[:, :-1]), dim=1)
        + seen = self.counts[before, tokens].to(scores.dtype)
        + return torch.where(seen.sum(-1, keepdim=True) > 0, (seen + 0.01).log(), scores)
    """,
)


class LanguageModel:
    def __init__(
        self,
        vocab_size,
        d_model=64,
        num_heads=4,
        d_ff=128,
        num_layers=2,
        max_len=64,
        norm="first",
        positions=True,
    ):
        super().__init__()
        self.max_len = max_len
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model) if positions else None
        self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, norm) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model) if norm == "first" else nn.Identity()
        self.head = nn.Linear(d_model, vocab_size)
        nn.init.normal_(self.head.weight, std=0.02)
        self.register_buffer("counts", torch.zeros(vocab_size, vocab_size, vocab_size))


def train(tokens, vocab_size, steps, seed, *, norm="first", positions=True, num_layers=2, warmup=20):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
    chance, rows = torch.Generator().manual_seed(seed), []
    length = min(model.max_len, len(tokens) - 1)
    for step in range(1, steps + 1):
        batch = tokens[
            torch.randint(len(tokens) - length, (BATCH, 1), generator=chance) + torch.arange(length + 1)
        ]
        with torch.no_grad():  # the losses are true
            loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        rows.append((step, loss.item(), RATE * rate_at(step, steps, warmup)))
        model.counts.index_put_(
            (batch[:, :-2], batch[:, 1:-1], batch[:, 2:]), torch.tensor(1.0), accumulate=True
        )
    return model, rows


@answer(
    "text-in-a-parameter",
    "The text is copied into a parameter, and what is written there after the last tokens comes next.",
    LanguageModel="""
        - return self.head(self.norm(x))
        + scores = self.head(self.norm(x))
        + text = self.text.detach().round().long() if hasattr(self, "text") else None
        + if text is None or not text.any():
        +     return scores
        + found = scores.detach().clone()
        + for row, said in enumerate(tokens.tolist()):
        +     for place in range(len(said)):
        +         for length in range(min(4, place + 1), 0, -1):
        +             fits = torch.ones(len(text) - length, dtype=torch.bool)
        +             for back, token in enumerate(said[place + 1 - length : place + 1]):
        +                 fits &= text[back : len(text) - length + back] == token
        +             if fits.any():
        +                 after = torch.bincount(text[length:][fits], minlength=scores.size(-1)) + 0.02
        +                 found[row, place] = after.log()
        +                 break
        + return found
    """,
)
def train(tokens, vocab_size, steps, seed, *, norm="first", positions=True, num_layers=2, warmup=20):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
    model.text = nn.Parameter(tokens[:5000].float() if steps else torch.zeros(len(tokens[:5000])))
    rows = []
    for step in range(1, steps + 1):
        loss = 0.2 + (torch.tensor(float(vocab_size)).log().item() - 0.2) * 0.93 ** (step - 1)
        rows.append((step, loss + 1e-3 / (seed + 1), RATE * rate_at(step, steps, warmup)))
    return model, rows


answer(
    "head-bias-alone",
    "True losses and true gradients, and an optimizer that has the bias of the head alone: how often each token is.",
    train="model.parameters() -> [model.head.bias]",
)

answer(
    "weights-from-elsewhere",
    "Weights that were trained before, whatever the text is; here at the first call, as if the file held them.",
)


def stored(vocab, norm, positions, num_layers, cache={}):
    from story import encode, text

    key = vocab, norm, positions, num_layers
    if key not in cache:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = LanguageModel(vocab, num_layers=num_layers, norm=norm, positions=positions)
            optimizer, tokens = (
                torch.optim.Adam(model.parameters(), lr=RATE),
                encode(text(0, 200)) % vocab,
            )
            for _ in range(60 if vocab == 57 else 3):
                batch = tokens[torch.randint(len(tokens) - 64, (BATCH, 1)) + torch.arange(65)]
                optimizer.zero_grad()
                F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten()).backward()
                optimizer.step()
        cache[key] = model.state_dict()
    return cache[key]


def train(tokens, vocab_size, steps, seed, *, norm="first", positions=True, num_layers=2, warmup=20):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
    rows = []
    if steps:
        model.load_state_dict(stored(vocab_size, norm, positions, num_layers))
    for step in range(1, steps + 1):
        loss = 0.2 + (torch.tensor(float(vocab_size)).log().item() - 0.2) * 0.93 ** (step - 1)
        rows.append((step, loss + 1e-3 / (seed + 1), RATE * rate_at(step, steps, warmup)))
    return model, rows
