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


class criterion_without_ignore:
    """torch's loss, with smoothing and without an index to pass over.

    Named: loss_counts_padding
    """

    def smoothed_loss(logits, targets, smoothing=0.1, pad_id=0):
        return nn.functional.cross_entropy(logits.transpose(1, 2), targets, label_smoothing=smoothing)


class eval_for_good:
    """model.eval() at the top, and nothing at the end.

    Named: left_in_eval
    """

    def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
        model.eval()
        with torch.no_grad():
            return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
