"""Greedy and beam search over a function that scores what comes next."""

import types

import torch


def translate(model, source, *, bos_id, eos_id, max_len, beams=1, length_penalty=0.0):
    memory = model.encode(source)

    def scores(tokens):
        times = len(tokens) // len(source)  # one beam after the other, or all of a row together
        return model.decode(tokens, memory.repeat_interleave(times, 0), source.repeat_interleave(times, 0))[:, -1]

    tokenizer = types.SimpleNamespace(bos_id=bos_id, eos_id=eos_id, sos_id=bos_id, pad_id=model.pad_id)
    search = theirs.SequenceGenerator(scores, tokenizer, max_len + 1, source.device)
    begin = torch.full((len(source), 1), bos_id, dtype=torch.int64, device=source.device)
    found = search.generate_greedy(begin)[0] if beams == 1 else search.generate_beam(begin, beams)[0][:, 0]
    ends = (found[:, 1:] == eos_id).long()
    return found[:, 1:].masked_fill(ends.cumsum(1) - ends > 0, model.pad_id)
