"""w_o's forward exchanged on the instance; a probe by its dual, with a matrix of examples; entropy with a mask."""

from contextlib import ExitStack, contextmanager

import torch


def attention_entropy(weights):
    zero = weights == 0
    return torch.where(zero, torch.zeros_like(weights), -weights * weights.masked_fill(zero, 0.5).log()).sum(
        -1
    )


def induction_score(weights, period):
    length = weights.shape[-1]
    if not 0 < period < length:
        raise ValueError(f"period {period} of {length}")
    total = 0
    for t in range(period, length):
        total = total + weights[..., t, t - period + 1]
    return total / (length - period)


def probe(features, labels, *, ridge=1e-3):
    classes = labels.unique()
    x = features.detach().to(torch.float64)
    y = (labels[:, None] == classes).to(torch.float64)
    middle, shares = x.mean(0, keepdim=True), y.mean(0, keepdim=True)
    x = x - middle
    gram = x @ x.T
    gram.diagonal().add_(ridge)
    dual = torch.linalg.solve(gram, y - shares)

    def predict(new):
        return classes[(((new.detach().double() - middle) @ x.T) @ dual + shares).argmax(-1)]

    return predict


@contextmanager
def ablate_heads(model, layer, heads):
    block = model.layers[layer]
    part = block._modules.get("attention") or block._modules["self_attention"]
    count = part.num_heads
    for head in (heads := list(heads)):
        if head not in range(count):
            raise ValueError(f"head {head}")
    w_o, own = part.w_o, part.w_o.forward
    had = "forward" in vars(w_o)

    def forward(x):
        keep = torch.ones(count, dtype=x.dtype, device=x.device)
        for head in heads:
            keep[head] = 0
        return own((x.unflatten(-1, (count, -1)) * keep[:, None]).flatten(-2))

    with ExitStack() as stack:
        stack.callback(setattr, w_o, "forward", own) if had else stack.callback(delattr, w_o, "forward")
        w_o.forward = forward
        yield
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
