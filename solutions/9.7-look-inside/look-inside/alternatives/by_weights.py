"""Columns of w_o set to zero and put back; a column of ones for the bias; masks of positions."""

import torch


def attention_entropy(weights):
    entropy = torch.zeros_like(weights[..., 0])
    for key in range(weights.shape[-1]):
        w = weights[..., key]
        safe = w.clamp(min=torch.finfo(w.dtype).tiny)
        entropy = entropy - w * safe.log()
    return entropy


def induction_score(weights, period):
    T = weights.shape[-1]
    if period < 1 or period >= T:
        raise ValueError("no position has a previous copy")
    queries = torch.arange(period, T, device=weights.device)
    return weights[..., queries, queries - period + 1].sum(-1) / len(queries)


def probe(features, labels, *, ridge=1e-3):
    classes = sorted(set(labels.tolist()))
    x = features.detach().double()
    shift = x[0].clone()
    x = torch.cat([x - shift, torch.ones(len(x), 1, dtype=x.dtype, device=x.device)], dim=1)
    y = torch.stack([(labels == one).double() for one in classes], dim=1)
    penalty = torch.full((x.shape[1],), float(ridge), dtype=x.dtype, device=x.device)
    penalty[-1] = 0.0
    solution = torch.linalg.lstsq(
        torch.cat([x, penalty.sqrt().diag()]), torch.cat([y, y.new_zeros(x.shape[1], y.shape[1])])
    ).solution
    names = torch.tensor(classes, dtype=labels.dtype, device=labels.device)

    def apply(new):
        new = new.detach().double() - shift
        return names[(new @ solution[:-1] + solution[-1]).argmax(1)]

    return apply


def ablate_heads(model, layer, heads):
    return Off(model, layer, heads)


class Off:
    def __init__(self, model, layer, heads):
        block = model.layers[layer]
        self.attention = getattr(block, "attention", None)
        if self.attention is None:
            self.attention = block.self_attention
        self.heads = set(heads)
        if not self.heads <= set(range(self.attention.num_heads)):
            raise ValueError("no such head")

    def __enter__(self):
        weight = self.attention.w_o.weight
        d = weight.shape[1] // self.attention.num_heads
        self.saved = weight.detach().clone()
        with torch.no_grad():
            for head in self.heads:
                weight[:, head * d : (head + 1) * d] = 0.0

    def __exit__(self, *error):
        with torch.no_grad():
            self.attention.w_o.weight.copy_(self.saved)
        return False
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
