"""Translators as other people get them wrong."""


class memory_mask_forgotten:
    """The source's mask is used while reading and forgotten beside the memory.

    Named: padding_looked_at
    """

    class Translator:
        def decode(self, target, memory, source):
            x = self.target_words(target) + self.positions[: target.shape[1]]
            tgt_mask = causal_mask(target.shape[1], device=target.device)
            return self.head(self.decoder(self.dropout(x), memory, tgt_mask))


class no_mask_at_all:
    """Sentences are hoped to be of one length: neither half knows of padding.

    Named: padding_read, padding_looked_at, no_padding_mask
    """

    class Translator:
        def encode(self, source):
            return self.encoder(self.dropout(self.source_words(source) + self.positions[: source.shape[1]]))

        def decode(self, target, memory, source):
            x = self.target_words(target) + self.positions[: target.shape[1]]
            return self.head(self.decoder(self.dropout(x), memory, causal_mask(target.shape[1])))


class future_shown:
    """The causal mask is the upper triangle: True was taken for hidden.

    Named: decoder_sees_ahead, mask_upside_down
    """

    class Translator:
        def decode(self, target, memory, source):
            x = self.target_words(target) + self.positions[: target.shape[1]]
            length = target.shape[1]
            hidden = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=0)
            return self.head(self.decoder(self.dropout(x), memory, hidden, padding_mask(source, self.pad_id)))


class one_table_for_both:
    """One embedding table serves both languages, as large as the source's.

    Named: vocabularies_exchanged
    """

    class Translator:
        __init__ = """
            - self.target_words = nn.Embedding(target_vocab, d_model)
            + self.target_words = self.source_words
        """


class shared_stack:
    """The encoder has one layer, which every depth shares.

    Named: encoder_of_one_layer
    """

    class Translator:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(1, d_model, num_heads, d_ff, dropout)
        """


class criterion_without_ignore:
    """torch's loss, with smoothing and without an index to pass over.

    Named: loss_counts_padding
    """

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        return nn.functional.cross_entropy(logits.transpose(1, 2), targets, label_smoothing=smoothing)


class annotated_share:
    """The share is smoothing / (V - 2), for all but the right word and padding, as an annotated transformer has it.

    Named: smoothing_among_the_wrong, share_of_two_fewer
    """

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        x = logits.log_softmax(dim=-1).flatten(0, 1)
        target = targets.flatten()
        dist = torch.full_like(x, smoothing / (x.size(1) - 2))
        dist.scatter_(1, target.unsqueeze(1), 1 - smoothing)
        dist[:, pad_id] = 0
        keep = target != pad_id
        return -(dist[keep] * x[keep]).sum() / keep.sum()


class batch_mean:
    """The sum is divided by the number of rows.

    Named: loss_by_rows
    """

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1),
            targets.flatten(),
            ignore_index=pad_id,
            label_smoothing=smoothing,
            reduction="sum",
        )
        return loss / len(targets)


class start_token_kept:
    """A greedy loop that returns what it has grown, with the token it began with.

    Named: bos_returned, beams_alike
    """

    @torch.no_grad()
    def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
        mode = model.training
        model.eval()
        memory = model.encode(source)
        ys = source.new_full((len(source), 1), bos_id)
        for _ in range(max_len):
            word = model.decode(ys, memory, source)[:, -1].argmax(-1, keepdim=True)
            ended = (ys == eos_id).any(1, keepdim=True)
            ys = torch.cat([ys, word.masked_fill(ended, model.pad_id)], dim=1)
        model.train(mode)
        return ys


class stops_at_one:
    """A loop for one sentence, used for a batch: it breaks when any row has met its end.

    Named: all_stop_with_the_first, beams_alike
    """

    @torch.no_grad()
    def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
        mode = model.training
        model.eval()
        memory = model.encode(source)
        ys = source.new_full((len(source), 1), bos_id)
        for _ in range(max_len):
            word = model.decode(ys, memory, source)[:, -1].argmax(-1, keepdim=True)
            ys = torch.cat([ys, word], dim=1)
            if (word == eos_id).any():
                break
        model.train(mode)
        return ys[:, 1:]


class eval_for_good:
    """model.eval() at the top, and nothing at the end.

    Named: left_in_eval
    """

    def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
        model.eval()
        with torch.no_grad():
            return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)


class encoded_again:
    """The whole model is called at each step, encoder and all.

    Named: reads_at_every_step
    """

    _search = """
        - logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
        + memory = model.encode(source)
        + logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
    """


class google_penalty:
    """The length penalty is that of GNMT, ((5 + length) / 6) to its power.

    Named: penalty_of_gnmt
    """

    _search = """
        - scores = candidates / longer.unsqueeze(-1) ** length_penalty
        + scores = candidates / ((5 + longer.unsqueeze(-1)) / 6) ** length_penalty

        - best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
        + best = (sums / ((5 + lengths) / 6) ** length_penalty).argmax(dim=1)
    """


class memory_not_repeated_in_order:
    """The memory is repeated for the beams as `repeat` does: beams meet the source of another row.

    Named: beams_beside_other_rows
    """

    _search = """
        - memory = model.encode(source).repeat_interleave(beams, dim=0)  # [B * K, S, D]
        - source = source.repeat_interleave(beams, dim=0)
        + memory = model.encode(source).repeat(beams, 1, 1)
        + source = source.repeat(beams, 1)
    """


class training_target_whole:
    """decode shifts the target itself, as the trainer does already.

    Named: target_shifted_in_decode
    """

    class Translator:
        def decode(self, target, memory, source):
            target = torch.cat((target[:, :1], target[:, :-1]), 1)
            x = self.target_words(target) + self.positions[: target.shape[1]]
            causal = causal_mask(target.shape[1], device=target.device)
            return self.head(self.decoder(self.dropout(x), memory, causal, padding_mask(source, self.pad_id)))
