"""Answers to look-inside."""

# ==== right ====
"""Instruments for a trained model as other people write them."""


@answer("xlogy-on-clamped", "xlogy with a second argument that is kept away from zero.")
def attention_entropy(weights):
    floor = torch.finfo(weights.dtype).tiny
    return torch.xlogy(weights, weights.clamp_min(floor)).sum(-1).neg()


answer("callable-object", "A class with __call__, fitted by Cholesky.")


class LinearProbe:
    def __init__(self, features, labels, ridge):
        self.classes = torch.unique(labels)
        X = features.detach().double()
        Y = (labels.unsqueeze(1) == self.classes).double()
        self.mean, self.prior = X.mean(0), Y.mean(0)
        X = X - self.mean
        A = X.T @ X + ridge * torch.eye(X.shape[1], dtype=torch.float64, device=X.device)
        self.W = torch.cholesky_solve(X.T @ (Y - self.prior), torch.linalg.cholesky(A))

    def __call__(self, features):
        logits = (features.detach().double() - self.mean) @ self.W + self.prior
        return self.classes[logits.argmax(1)]


def probe(features, labels, *, ridge=1e-3):
    return LinearProbe(features, labels, ridge)  # noqa: F821


@answer("exit-stack", "An ExitStack is returned; what undoes is registered on it at once.")
def ablate_heads(model, layer, heads):
    from contextlib import ExitStack

    block = model.layers[layer]
    attn = getattr(block, "attention" if hasattr(block, "attention") else "self_attention")
    H = attn.num_heads
    heads = list(heads)
    if not all(h in range(H) for h in heads):
        raise ValueError("unknown head")
    d = attn.w_o.in_features // H

    def hook(_, inputs):
        x = inputs[0].clone()
        for h in heads:
            x[..., h * d : (h + 1) * d] = 0
        return (x,)

    class Off(ExitStack):
        def __enter__(self):
            self.callback(attn.w_o.register_forward_pre_hook(hook).remove)
            return super().__enter__()

    return Off()


# ==== wrong ====
"""Instruments for a trained model as they go wrong for other people."""


@answer("asserted", "An AssertionError for a bad period.")
def induction_score(weights, period):
    assert 0 < period < weights.shape[-1]
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


answer(
    "kept-in-a-list",
    "Hooks are put in a list of the module and all removed by the first that ends.",
    ablate_heads="""
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + HOOKS.append(attention.w_o.register_forward_pre_hook(partial(silenced, columns)))

        - handle.remove()
        + while HOOKS:
        +     HOOKS.pop().remove()
    """,
    named=["all-hooks-removed"],
)

HOOKS = []  # noqa: RUF012


@answer(
    "values-off",
    "The head's rows of w_v are set to zero; their bias still comes through, and groups go off together.",
    named=["shared-values-zeroed", "shared-heads-counted"],
)
@contextmanager
def ablate_heads(model, layer, heads):
    block = model.layers[layer]
    attn = block.attention if hasattr(block, "attention") else block.self_attention
    heads = list(heads)
    if any(h < 0 or h >= attn.num_heads for h in heads):
        raise ValueError("no such head")
    d = attn.w_v.in_features // attn.num_heads
    saved = attn.w_v.weight.data.clone()
    try:
        for h in heads:
            attn.w_v.weight.data[h * d : (h + 1) * d] = 0
        yield
    finally:
        attn.w_v.weight.data.copy_(saved)


answer(
    "columns-of-the-stream",
    "Heads share the columns that leave w_o, not those that enter it.",
    ablate_heads="attention.w_o.in_features -> attention.w_o.out_features",
)

answer(
    "self-attention-first",
    "self_attention is what is taken, where a layer has an attention as well.",
    ablate_heads="""
        - attention = block.attention if hasattr(block, "attention") else block.self_attention
        + attention = block.self_attention if hasattr(block, "self_attention") else block.attention
    """,
)


@answer("least-share", "The logarithm is that of a millionth at least.")
def attention_entropy(weights):
    return -(weights * weights.clamp(min=1e-6).log()).sum(dim=-1)


@answer(
    "written-in-place",
    "What w_o reads is set to zero where it lies: where the layer adds to the same tensor, that loses columns, too.",
)
def silenced(columns, _, args):
    args[0].detach().masked_fill_(columns.to(args[0].device), 0)
