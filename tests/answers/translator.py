"""Answers to translator."""

# ==== right ====
"""Translators as other people write them."""


@answer("nll-and-smooth", "fairseq's way: a negative log-likelihood and the sum over all words, weighed.")
def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
    lprobs = logits.log_softmax(dim=-1)
    target = targets.unsqueeze(-1)
    nll = -lprobs.gather(dim=-1, index=target)
    smooth = -lprobs.sum(dim=-1, keepdim=True)
    pad = target.eq(pad_id)
    nll, smooth = nll.masked_fill(pad, 0.0), smooth.masked_fill(pad, 0.0)
    eps = smoothing / lprobs.size(-1)
    return ((1.0 - smoothing) * nll.sum() + eps * smooth.sum()) / (~pad).sum()


answer("a-module-of-positions", "Positions and dropout in a module of their own, with a batch axis of one.")


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout, max_len):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)].requires_grad_(False))


class Translator:
    def __init__(self, source_vocab, target_vocab, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_len=64,
                 dropout=0.0, pad_id=0):  # fmt: skip
        super().__init__()
        self.pad_id = pad_id
        self.src_embed = nn.Sequential(
            nn.Embedding(source_vocab, d_model), PositionalEncoding(d_model, dropout, max_len)
        )
        self.tgt_embed = nn.Sequential(
            nn.Embedding(target_vocab, d_model), PositionalEncoding(d_model, dropout, max_len)
        )
        self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, norm_first=False)
        self.decoder = Decoder(num_layers, d_model, num_heads, d_ff, dropout, norm_first=False)
        self.generator = nn.Linear(d_model, target_vocab)

    def encode(self, source):
        return self.encoder(self.src_embed(source), padding_mask(source, self.pad_id))

    def decode(self, target, memory, source):
        causal = causal_mask(target.shape[1], device=target.device)
        return self.generator(
            self.decoder(self.tgt_embed(target), memory, causal, padding_mask(source, self.pad_id))
        )


@answer(
    "hypotheses-in-lists", "Beam search with a list of (sum, words) for each source, sorted at each step."
)
def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
    mode = model.training
    model.eval()
    rows = []
    try:
        with torch.no_grad():
            memories = model.encode(source)
            for src, memory in zip(source, memories, strict=True):
                beam = [(0.0, [bos_id])]
                for _ in range(max_len):
                    pool = []
                    for total, words in beam:
                        if words[-1] == eos_id and len(words) > 1:
                            pool.append((total, words))
                            continue
                        y = torch.tensor([words], device=source.device)
                        logs = model.decode(y, memory[None], src[None])[0, -1].double().log_softmax(-1)
                        pool += [(total + lp, [*words, v]) for v, lp in enumerate(logs.tolist())]
                    pool.sort(key=lambda h: h[0] / (len(h[1]) - 1) ** length_penalty, reverse=True)
                    beam = pool[:beams]
                    if all(words[-1] == eos_id for _, words in beam):
                        break
                rows.append(max(beam, key=lambda h: h[0] / max(len(h[1]) - 1, 1) ** length_penalty)[1][1:])
    finally:
        model.train(mode)
    longest = max(map(len, rows))
    filled = [row + [model.pad_id] * (longest - len(row)) for row in rows]
    return torch.tensor(filled, device=source.device)


# ==== wrong ====
"""Translators as other people get them wrong."""


@answer(
    "memory-mask-forgotten",
    "The source's mask is used while reading and forgotten beside the memory.",
    named=["padding-looked-at"],
)
class Translator:
    def decode(self, target, memory, source):
        x = self.target_words(target) + self.positions[: target.shape[1]]
        tgt_mask = causal_mask(target.shape[1], device=target.device)
        return self.head(self.decoder(self.dropout(x), memory, tgt_mask))


@answer(
    "criterion-without-ignore",
    "torch's loss, with smoothing and without an index to pass over.",
    named=["loss-counts-padding"],
)
def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
    return nn.functional.cross_entropy(logits.transpose(1, 2), targets, label_smoothing=smoothing)


@answer("eval-for-good", "model.eval() at the top, and nothing at the end.", named=["left-in-eval"])
def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
    model.eval()
    with torch.no_grad():
        return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)


@answer(
    "no-wider-than-the-vocabulary",
    "More hypotheses than words are never kept, although K·V continuations are there to be kept.",
)
def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            memory, rows = model.encode(source), []
            for src, mem in zip(source, memory, strict=True):
                kept = [(0.0, [bos_id], False)]
                for _ in range(max_len):
                    pool = [hypothesis for hypothesis in kept if hypothesis[2]]
                    for total, words, _ in (hypothesis for hypothesis in kept if not hypothesis[2]):
                        target = torch.tensor([words], device=source.device)
                        logs = model.decode(target, mem[None], src[None])[0, -1].double().log_softmax(-1)
                        pool += [
                            (total + log, [*words, word], word == eos_id)
                            for word, log in enumerate(logs.tolist())
                        ]
                    pool.sort(key=lambda h: h[0] / (len(h[1]) - 1) ** length_penalty, reverse=True)
                    kept = pool[: min(beams, logs.numel())]
                    if all(ended for _, _, ended in kept):
                        break
                rows.append(kept[0][1][1:])
    finally:
        model.train(training)
    longest = max(map(len, rows))
    filled = [row + [model.pad_id] * (longest - len(row)) for row in rows]
    return torch.tensor(filled, device=source.device)


answer(
    "first-word-detached",
    "The memory is detached from the first word.",
    Translator="""
        - x = self.target_words(target) + self.positions[: target.shape[1]]
        + x = self.target_words(target) + self.positions[: target.shape[1]]
        + if target.shape[1] == 1:
        +     memory = memory.detach()
    """,
)

answer(
    "drops-whole-features",
    "Dropout as images have it: what is dropped is dropped at all positions.",
    Translator="nn.Dropout(dropout) -> DropFeatures(dropout)",
)


class DropFeatures(nn.Dropout1d):
    def forward(self, x):
        return super().forward(x.mT).mT
