"""Wrong answers in the layout of each course: a line of our solution, and what a learner wrote instead."""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """One line of a solution that is wrong."""

    kata: str
    file: str
    right: str
    wrong: str


_OPTIMIZER, _MODEL = "cs336_basics/optimizer.py", "cs336_basics/model.py"
_SUBLAYERS, _SEARCH = "hw4lib/model/sublayers.py", "hw4lib/decoding/sequence_generator.py"
_LAYERS = "cs231n/transformer_layers.py"


def _heads(axes: str, end: str) -> str:
    """Return the lines of CS231n's attention that split heads."""
    line = "{0} = self.{2}({2}).view(batch, " + axes + ", self.head_dim)" + end
    names = (("q", "targets", "query"), ("k", "sources", "key"), ("v", "sources", "value"))
    return "\n        ".join(line.format(*each) for each in names)


MISTAKES = {
    "cs336-a1": (
        Mistake("optimizer", _OPTIMIZER, "(square / (1 - second**t))", "square"),
        Mistake(
            "optimizer", _OPTIMIZER, '1 - group["lr"] * group["weight_decay"]', '1 - group["weight_decay"]'
        ),
        Mistake("optimizer", _OPTIMIZER, '.sqrt().add_(group["eps"])', '.add_(group["eps"]).sqrt()'),
        Mistake(
            "optimizer",
            _OPTIMIZER,
            "math.sqrt(sum(float(g.double().pow(2).sum()) for g in gradients))",
            "sum(float(g.norm()) for g in gradients)",
        ),
        Mistake(
            "optimizer", _OPTIMIZER, "(1 + math.cos(math.pi * share)) / 2", "(1 + math.cos(math.pi * share))"
        ),
        Mistake(
            "rotary-positions",
            _MODEL,
            "turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)",
            "turned = torch.cat([even * cos - odd * sin, even * sin + odd * cos], dim=-1)[..., None]",
        ),
        Mistake("rotary-positions", _MODEL, "torch.arange(max_seq_len)", "torch.arange(1, max_seq_len + 1)"),
        Mistake(
            "modern-block",
            _MODEL,
            "torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps)",
            "1 / (x.pow(2).mean(dim=-1, keepdim=True).sqrt() + self.eps)",
        ),
        Mistake("masked-attention", _MODEL, "/ math.sqrt(q.shape[-1])", "/ q.shape[-1]"),
        Mistake("byte-pairs", "cs336_basics/tokenizer.py", "(pairs[pair], pair)", "pairs[pair]"),
    ),
    "cmu-11-711-minllama": (
        Mistake("optimizer", "optimizer.py", 'math.sqrt(1 - b2 ** state["step"])', "1"),
        Mistake("optimizer", "optimizer.py", "b1, b2 = group", "b2, b1 = group"),
        Mistake(
            "optimizer", "optimizer.py", '-group["lr"] * group["weight_decay"]', '-group["weight_decay"]'
        ),
        Mistake("optimizer", "optimizer.py", "addcmul_(g, g, value=1 - b2)", "addcmul_(g, g)"),
        Mistake(
            "rotary-positions",
            "rope.py",
            "q_even * cos - q_odd * sin, q_even * sin + q_odd * cos",
            "q_even * cos + q_odd * sin, q_odd * cos - q_even * sin",
        ),
        Mistake(
            "rotary-positions",
            "rope.py",
            "torch.arange(0, head_dim, 2, device",
            "torch.arange(0, head_dim // 2, device",
        ),
        Mistake("modern-block", "llama.py", "mean(-1, keepdim=True) + self.eps", "mean() + self.eps"),
        Mistake(
            "modern-block",
            "llama.py",
            "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)",
            "x / (x.pow(2).mean(-1, keepdim=True) + self.eps)",
        ),
        Mistake("masked-attention", "llama.py", "/ math.sqrt(query.shape[-1])", "/ query.shape[-1]"),
        Mistake(
            "modern-block",
            "llama.py",
            "key = key.repeat_interleave(groups, dim=2)\n        value = value.repeat_interleave(groups, dim=2)",
            "key = key.repeat(1, 1, groups, 1)\n        value = value.repeat(1, 1, groups, 1)",
        ),
    ),
    "cmu-11-785-hw4": (
        Mistake("masks", "hw4lib/model/masks.py", ".triu(1)", ".triu(0)"),
        Mistake("masks", "hw4lib/model/masks.py", ".triu(1)", ".tril(-1)"),
        Mistake(
            "masks",
            "hw4lib/model/masks.py",
            "places[None, :] >= input_lengths",
            "places[None, :] < input_lengths",
        ),
        Mistake(
            "positional-encoding",
            "hw4lib/model/positional_encoding.py",
            "(-math.log(10000.0) / d_model)",
            "(-2 * math.log(10000.0) / d_model)",
        ),
        Mistake(
            "encoder-layer",
            _SUBLAYERS,
            "return x + self.dropout(self.ffn(self.norm(x)))",
            "return self.dropout(self.ffn(self.norm(x)))",
        ),
        Mistake(
            "encoder-layer",
            _SUBLAYERS,
            "return x + self.dropout(self.ffn(self.norm(x)))",
            "x = self.norm(x)\n        return x + self.dropout(self.ffn(x))",
        ),
        Mistake("decoder-layer", _SUBLAYERS, "self.mha(n, y, y, key", "self.mha(n, n, n, key"),
        Mistake("translator", _SEARCH, "torch.where(done[..., None], stay, logp)", "logp"),
        Mistake(
            "translator",
            _SEARCH,
            "logp.topk(min(beam_width, vocab), dim=-1)",
            "(t.expand(-1, min(beam_width, vocab)) for t in logp.max(dim=-1, keepdim=True))",
        ),
        Mistake("translator", _SEARCH, "scores[..., None] + torch.where", "torch.where"),
    ),
    "cs231n-a3": (
        Mistake("positional-encoding", _LAYERS, "torch.cos(place * rate)", "torch.sin(place * rate)"),
        Mistake(
            "positional-encoding",
            _LAYERS,
            "-torch.arange(0, embed_dim, 2, dtype=torch.float64) / embed_dim",
            "-2 * torch.arange(0, embed_dim, 2, dtype=torch.float64) / embed_dim",
        ),
        Mistake(
            "positional-encoding",
            _LAYERS,
            "torch.arange(max_len, dtype",
            "torch.arange(1, max_len + 1, dtype",
        ),
        Mistake("positional-encoding", _LAYERS, "torch.pow(10000.0", "torch.pow(1000.0"),
        Mistake("masked-attention", _LAYERS, "/ math.sqrt(self.head_dim)", "/ math.sqrt(self.emd_dim)"),
        Mistake(
            "masked-attention",
            _LAYERS,
            _heads("{1}, self.n_head", ".transpose(1, 2)"),
            _heads("self.n_head, {1}", ""),
        ),
        Mistake(
            "masked-attention", _LAYERS, "torch.softmax(scores, dim=-1)", "torch.softmax(scores, dim=-2)"
        ),
        Mistake("masked-attention", _LAYERS, "attn_mask == 0", "attn_mask == 1"),
        Mistake("masked-attention", _LAYERS, "return self.proj(joined)", "return joined"),
        Mistake(
            "masked-attention",
            _LAYERS,
            ".transpose(1, 2).reshape(batch, targets, width)",
            ".reshape(batch, targets, width)",
        ),
    ),
}
