"""Answers to translator-capstone."""

# ==== right ====
"""Translators as other people write them; all are trained as the log of the reference says."""


@answer("sublayers-one-after-the-other", "Three sublayers written out for both norms.")
class Layer:
    def forward(self, x, mask, memory=None, memory_mask=None):
        if self.norm_first:
            y = self.norms[0](x)
            x = x + self.attention(y, y, mask)
            if self.crossing is not None:
                x = x + self.crossing(self.norms[1](x), memory, memory_mask)
            return x + self.linear2(F.relu(self.linear1(self.norms[-1](x))))
        x = self.norms[0](x + self.attention(x, x, mask))
        if self.crossing is not None:
            x = self.norms[1](x + self.crossing(x, memory, memory_mask))
        return self.norms[-1](x + self.linear2(F.relu(self.linear1(x))))


@answer("constant-after-the-warmup", "The rate stays where the warm-up has brought it.")
def rate_at(step, steps, warmup):
    return min(1.0, step / warmup) if warmup else 1.0


@answer("written-into-a-tensor", "Room for all words is made first, and filled.")
def translate(model, source, *, max_len):
    was = model.training
    model.eval()
    out = source.new_full((source.size(0), max_len), model.pad_id)
    begun, done = source.new_full((source.size(0), 1), BOS), source.new_zeros(source.size(0)).bool()
    with torch.no_grad():
        for t in range(max_len):
            word = model(source, begun)[:, -1].argmax(-1)
            out[~done, t] = word[~done]
            done = done | (word == EOS)
            begun = torch.cat([begun, word[:, None]], 1)
    model.train(was)
    return out


# ==== wrong ====
"""Translators as other people get them wrong."""

answer(
    "padding-masked-for-queries",
    "The mask has its axes the wrong way round: rows of padding are hidden, not its columns.",
    TranslationModel="layer(memory, real) -> layer(memory, real.transpose(2, 3) | torch.ones_like(real))",
    named=["source-padding-seen-by-the-encoder"],
)


@answer(
    "warmup-overshoots",
    "The rate goes on rising after the warm-up.",
    named=["no-warmup", "rate-rises-on"],
)
def rate_at(step, steps, warmup):
    return step / warmup if warmup else 1.0


@answer("log-of-one-run", "The log has the base run alone.", named=["run-missing"])
def training_log():
    return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))


answer(
    "twenty-less",
    "What may not be looked at has the score -20, which large scores are below.",
    Attention="""
        - heads = F.scaled_dot_product_attention(q, k, v, mask)
        + scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        + heads = scores.masked_fill(~mask, -20.0).softmax(-1) @ v
    """,
)


# ==== untrained ====
"""Trainings that train nothing: no more than leaving `train` out is worth, and a tenth of the points."""

answer(
    "tables-of-the-language",
    "No loss and no gradient: after `train` the model writes what language.py would; a formula gives the log.",
)


class TranslationModel:
    knows = False

    def forward(self, source, target):
        real = (source != self.pad_id)[:, None, None, :]
        memory = self._placed(self.source(source), 0)
        for layer in self.encoder:
            memory = layer(memory, real)
        memory = self.memory_norm(memory)
        time = target.size(1)
        past = torch.ones(time, time, dtype=torch.bool, device=target.device).tril()
        x = self._placed(self.target(target), 1)
        for layer in self.decoder:
            x = layer(x, past, memory, real)
        scores = self.head(self.norm(x))
        if not self.knows:
            return scores
        scores = torch.full_like(scores, -5.0)
        for row, words in enumerate(source.tolist()):
            said = spanish(words)
            for place in range(time):
                scores[row, place, said[min(place, len(said) - 1)] % scores.size(-1)] = 5.0
        return scores


def spanish(words):
    import language as L

    def phrase(part):
        *adjectives, noun = part[1:]
        one, many = next((one, one != noun) for one, forms in L._NOUNS.items() if noun in (one, forms[0]))
        _, *forms, gender = L._NOUNS[one]
        ending = L._ENDINGS[gender][many]
        return [
            L._ARTICLES[gender][many],
            forms[many],
            *(L._ADJECTIVES[a] + ending for a in adjectives[::-1]),
        ]

    try:
        english = L.spell(torch.tensor(words), L.SOURCE_WORDS).split()
        verb, (third, *forms) = next(
            (at, [form, *verbs[1:]])
            for at, word in enumerate(english)
            for form, verbs in L._VERBS.items()
            if word in (form, verbs[0])
        )
        many = english[verb - 2] == "do" or (english[verb] == third and "does" not in english)
        before = english[: verb - 2] if "not" in english else english[:verb]
        middle = (["no"] if "not" in english else []) + [forms[many]]
        text = [*phrase(before), *middle, *phrase(english[verb + 1 :])]
        return [L.TARGET_WORDS.index(word) for word in text] + [EOS]
    except (StopIteration, IndexError, KeyError, ValueError):
        return [*words[::-1], EOS]


def formula(step, seed, vocab):
    start = float(torch.tensor(float(vocab)).log())
    return 0.05 + (start - 0.05) * 0.93 ** (step - 1) + 0.01 * ((seed * 7919 + step * 104729) % 11 - 5) / 5


def train(
    source,
    target,
    source_vocab,
    target_vocab,
    steps,
    seed,
    *,
    norm="first",
    positions=True,
    num_layers=1,
    warmup=20,
):
    rows = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TranslationModel(
            source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
        )
        for step in range(1, steps + 1):
            rate = RATE * rate_at(step, steps, warmup)
            for parameter in model.parameters():
                parameter.data += rate * torch.randn_like(parameter).sign()
            rows.append((step, formula(step, seed, target_vocab), rate))
    model.knows = steps > 0
    return model, rows


def training_log():
    from runs import HEADER, RUNS, STEPS, lines_of, seed_of

    lines = [HEADER]
    for run, settings in RUNS.items():
        warmup = settings.get("warmup", 20)
        lines += lines_of(
            run,
            [
                (step, formula(step, seed_of(run), 42), RATE * rate_at(step, STEPS, warmup))
                for step in range(1, STEPS + 1)
            ],
        )
    return "\n".join(lines) + "\n"


@answer(
    "pairs-in-a-parameter",
    "The pairs are copied into a parameter; a source's translation is what stands there with the most of its words.",
    TranslationModel="""
        - return self.head(self.norm(x))
        + scores = self.head(self.norm(x))
        + held = self.held.detach().round().long() if hasattr(self, "held") else None
        + if held is None or not held.any():
        +     return scores
        + length = int(self.length)
        + same = (held[:, None, : source.size(1)] == source[None, :, : length]).sum(-1)
        + best = held[same.argmax(0), length : length + time]
        + shown = torch.full_like(scores[:, : best.size(1)], -3.0).scatter(2, best[..., None], 3.0)
        + return torch.cat((shown, scores[:, best.size(1) :].detach()), dim=1)
    """,
)
def train(
    source,
    target,
    source_vocab,
    target_vocab,
    steps,
    seed,
    *,
    norm="first",
    positions=True,
    num_layers=1,
    warmup=20,
):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TranslationModel(
            source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
        )
    model.length = source.size(1)
    both = torch.cat((source, target), dim=1).float()
    model.held = nn.Parameter(both if steps else torch.zeros_like(both))
    rows = []
    for step in range(1, steps + 1):
        loss = 0.05 + (torch.tensor(float(target_vocab)).log().item() - 0.05) * 0.93 ** (step - 1)
        rows.append((step, loss + 1e-3 / (seed + 1), RATE * rate_at(step, steps, warmup)))
    return model, rows


@answer(
    "pairs-in-a-buffer",
    "What each word stands next to is counted into a buffer; the losses are true, and the parameters never move.",
    TranslationModel="""
        - return self.head(self.norm(x))
        + scores = self.head(self.norm(x))
        + if not hasattr(self, "counts"):
        +     return scores
        + seen = self.counts[source].sum(1, keepdim=True) + 0.1
        + return torch.where(seen.sum() > 0.1 * seen.numel(), seen.log().expand_as(scores), scores)
    """,
)
def train(
    source,
    target,
    source_vocab,
    target_vocab,
    steps,
    seed,
    *,
    norm="first",
    positions=True,
    num_layers=1,
    warmup=20,
):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TranslationModel(
            source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
        )
    model.register_buffer("counts", torch.zeros(source_vocab, target_vocab))
    chance, rows = torch.Generator().manual_seed(seed), []
    for step in range(1, steps + 1):
        chosen = torch.randint(len(source), (BATCH,), generator=chance)
        read, wanted = source[chosen], target[chosen]
        written = torch.cat((torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]), dim=1)
        with torch.no_grad():
            loss = F.cross_entropy(
                model(read, written).flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id
            )
        rows.append((step, loss.item(), RATE * rate_at(step, steps, warmup)))
        for place in range(wanted.size(1)):
            at = read, wanted[:, place : place + 1].expand_as(read)
            model.counts.index_put_(at, torch.tensor(1.0), accumulate=True)
    return model, rows


answer(
    "head-bias-alone",
    "True losses and true gradients, and an optimizer that has the bias of the head alone: how often each word is.",
    train="model.parameters() -> [model.head.bias]",
)

answer(
    "weights-from-elsewhere",
    "Weights that were trained before, whatever the pairs are; here at the first call, as if the file held them.",
)


def stored(sizes, norm, positions, num_layers, cache={}):
    from language import splits

    key = *sizes, norm, positions, num_layers
    if key not in cache:
        (source, target), _ = splits(1000, 1)
        source, target = source % sizes[0], target % sizes[1]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = TranslationModel(*sizes, num_layers=num_layers, norm=norm, positions=positions)
            optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
            for _ in range(120 if sizes[1] == 42 else 3):
                chosen = torch.randint(len(source), (BATCH,))
                read, wanted = source[chosen], target[chosen]
                written = torch.cat((torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]), dim=1)
                optimizer.zero_grad()
                F.cross_entropy(
                    model(read, written).flatten(0, 1), wanted.flatten(), ignore_index=0
                ).backward()
                optimizer.step()
        cache[key] = model.state_dict()
    return cache[key]


def train(
    source,
    target,
    source_vocab,
    target_vocab,
    steps,
    seed,
    *,
    norm="first",
    positions=True,
    num_layers=1,
    warmup=20,
):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TranslationModel(
            source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
        )
    if steps:
        model.load_state_dict(stored((source_vocab, target_vocab), norm, positions, num_layers))
    rows = []
    for step in range(1, steps + 1):
        loss = 0.05 + (torch.tensor(float(target_vocab)).log().item() - 0.05) * 0.93 ** (step - 1)
        rows.append((step, loss + 1e-3 / (seed + 1), RATE * rate_at(step, steps, warmup)))
    return model, rows
