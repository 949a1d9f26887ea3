"""Search for sequences."""

import torch


class SequenceGenerator:
    def __init__(self, score_fn, tokenizer, max_length, device="cpu"):
        self.score_fn, self.tokenizer = score_fn, tokenizer
        self.max_length, self.device = max_length, device

    def generate_greedy(self, x, temperature=1.0, repeat_penalty=1.0):
        sequences, scores = self.generate_beam(x, 1, temperature, repeat_penalty)
        return sequences[:, 0], scores[:, 0]

    def generate_beam(self, x, beam_width, temperature=1.0, repeat_penalty=1.0):
        eos = self.tokenizer.eos_id
        logp = torch.log_softmax(self.score_fn(x) / temperature, dim=-1)
        vocab = logp.shape[-1]
        # Not more beams than there are first tokens.
        scores, first = logp.topk(min(beam_width, vocab), dim=-1)
        beams = torch.cat([x[:, None].expand(-1, first.shape[1], -1), first[..., None]], dim=-1)
        done = first == eos
        while beams.shape[-1] < self.max_length and not done.all():
            width = beams.shape[1]
            # One call for each beam: the scores of x depend on its row.
            every = [torch.log_softmax(self.score_fn(beams[:, k]) / temperature, -1) for k in range(width)]
            logp = torch.stack(every, dim=1)
            stay = torch.full_like(logp, float("-inf"))
            stay[..., eos] = 0.0
            total = scores[..., None] + torch.where(done[..., None], stay, logp)
            scores, flat = total.flatten(1).topk(min(beam_width, width * vocab), dim=-1)
            parent, token = flat // vocab, flat % vocab
            before = beams.gather(1, parent[..., None].expand(-1, -1, beams.shape[-1]))
            beams = torch.cat([before, token[..., None]], -1)
            done = done.gather(1, parent) | (token == eos)
        return beams, scores
