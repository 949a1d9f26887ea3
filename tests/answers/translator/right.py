"""Translators as other people write them."""


class annotated_loss:
    """A table of smoothed targets, as an annotated transformer fills it; the sum is divided by the number of words."""

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        V = logits.size(-1)
        x = logits.reshape(-1, V).log_softmax(dim=-1)
        target = targets.reshape(-1)
        true_dist = torch.full_like(x, smoothing / V)
        true_dist.scatter_add_(
            1, target.unsqueeze(1), torch.full_like(target.unsqueeze(1), 1, dtype=x.dtype) * (1 - smoothing)
        )
        keep = target != pad_id
        return -(true_dist[keep] * x[keep]).sum() / keep.sum()


class cross_entropy_with_an_index:
    """torch's own loss with its two options, over the flattened batch."""

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        B, T, V = logits.shape
        criterion = nn.CrossEntropyLoss(ignore_index=pad_id, label_smoothing=smoothing)
        return criterion(logits.reshape(B * T, V), targets.reshape(B * T).long())


class nll_and_smooth:
    """fairseq's way: a negative log-likelihood and the sum over all words, weighed."""

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        lprobs = logits.log_softmax(dim=-1)
        target = targets.unsqueeze(-1)
        nll = -lprobs.gather(dim=-1, index=target)
        smooth = -lprobs.sum(dim=-1, keepdim=True)
        pad = target.eq(pad_id)
        nll, smooth = nll.masked_fill(pad, 0.0), smooth.masked_fill(pad, 0.0)
        eps = smoothing / lprobs.size(-1)
        return ((1.0 - smoothing) * nll.sum() + eps * smooth.sum()) / (~pad).sum()


class scaled_embeddings:
    """Words are multiplied by the root of the width before positions are added, as in the paper."""

    class Translator:
        def encode(self, source):
            scale = self.source_words.embedding_dim**0.5
            x = self.source_words(source) * scale + self.positions[: source.shape[1]]
            return self.encoder(self.dropout(x), padding_mask(source, self.pad_id))

        def decode(self, target, memory, source):
            scale = self.target_words.embedding_dim**0.5
            x = self.target_words(target) * scale + self.positions[: target.shape[1]]
            causal = causal_mask(target.shape[1], device=target.device)
            return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))


class masks_made_apart:
    """Methods that make the masks, as tutorials have them; the target's padding is hidden from others, too."""

    class Translator:
        def make_src_mask(self, src):
            return (src != self.pad_id).unsqueeze(1).unsqueeze(2)

        def make_trg_mask(self, trg):
            length = trg.shape[1]
            sub = torch.tril(torch.ones((length, length), device=trg.device)).bool()
            own = torch.eye(length, dtype=torch.bool, device=trg.device)
            return (self.make_src_mask(trg) & sub) | own

        def encode(self, source):
            x = self.source_words(source) + self.positions[: source.shape[1]]
            return self.encoder(self.dropout(x), self.make_src_mask(source))

        def decode(self, target, memory, source):
            x = self.dropout(self.target_words(target) + self.positions[: target.shape[1]])
            return self.head(self.decoder(x, memory, self.make_trg_mask(target), self.make_src_mask(source)))


class a_module_of_positions:
    """Positions and dropout in a module of their own, with a batch axis of one."""

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


class hypotheses_in_lists:
    """Beam search with a list of (sum, words) for each source, sorted at each step."""

    def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
        mode = model.training
        model.eval()
        rows = []
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
        model.train(mode)
        longest = max(map(len, rows))
        filled = [row + [model.pad_id] * (longest - len(row)) for row in rows]
        return torch.tensor(filled, device=source.device)


class greedy_by_itself:
    """A greedy loop for one beam, which stops when every row has met its end; more beams take the general way."""

    @torch.no_grad()
    def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
        training = model.training
        model.eval()
        if beams > 1:
            out = _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
        else:
            memory = model.encode(source)
            ys = source.new_full((source.size(0), 1), bos_id)
            done = torch.zeros(source.size(0), dtype=torch.bool, device=source.device)
            for _ in range(max_len):
                next_word = model.decode(ys, memory, source)[:, -1].argmax(dim=-1)
                next_word = torch.where(done, torch.full_like(next_word, model.pad_id), next_word)
                ys = torch.cat([ys, next_word.unsqueeze(1)], dim=1)
                done |= next_word == eos_id
                if bool(done.all()):
                    break
            out = ys[:, 1:]
        model.train(training)
        return out
