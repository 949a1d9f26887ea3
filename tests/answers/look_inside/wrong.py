"""Instruments for a trained model as they go wrong for other people."""


class log_with_epsilon:
    """The usual p log (p + eps), with 1e-10.

    Named: eps_in_the_logarithm
    """

    def attention_entropy(weights):
        return -(weights * torch.log(weights + 1e-10)).sum(dim=-1)


class clamped_at_1e_6:
    """Weights are clamped from below before anything else.

    Named: eps_in_the_logarithm
    """

    def attention_entropy(weights):
        p = weights.clamp(min=1e-6)
        return -(p * p.log()).sum(-1)


class torchs_distribution:
    """Categorical normalises the rows, and refuses one of zeros.

    Named: divided_by_the_sum
    """

    def attention_entropy(weights):
        return torch.distributions.Categorical(probs=weights, validate_args=False).entropy()


class where_outside:
    """torch.where after the logarithm: right numbers, NaN gradients.

    Named: not_a_numbers_gradient
    """

    def attention_entropy(weights):
        return -torch.where(weights > 0, weights * weights.log(), 0.0).sum(-1)


class bits_by_division:
    """Divided by ln 2.

    Named: in_bits
    """

    def attention_entropy(weights):
        return -torch.where(weights > 0, weights, 1).log().mul(weights).sum(-1) / 0.6931471805599453


class cross_entropy_sign:
    """The minus is forgotten beside xlogy.

    Named: sign_missing
    """

    def attention_entropy(weights):
        return torch.xlogy(weights, weights.clamp_min(torch.finfo(weights.dtype).tiny)).sum(-1)


class numpys_trace:
    """The diagonal at -period, as in many a notebook.

    Named: looks_at_the_copy
    """

    def induction_score(weights, period):
        T = weights.shape[-1]
        if period < 1 or period >= T:
            raise ValueError("no copy")
        return torch.diagonal(weights, offset=-period, dim1=-2, dim2=-1).mean(-1)


class transformer_lens_way:
    """The whole stripe at 1 - period, as tutorials have it.

    Named: whole_diagonal
    """

    def induction_score(weights, period):
        if not 1 <= period < weights.shape[-1]:
            raise ValueError("no copy")
        return weights.diagonal(dim1=-2, dim2=-1, offset=1 - period).mean(-1)


class axes_swapped:
    """diagonal of the first two axes.

    Named: looks_ahead
    """

    def induction_score(weights, period):
        if not 1 <= period < weights.shape[-1]:
            raise ValueError("no copy")
        return weights.mT.diagonal(1 - period, -2, -1)[..., 1:].mean(-1)


class half_of_the_text:
    """The text is taken to be one copy and a second one.

    Named: second_copy_alone
    """

    def induction_score(weights, period):
        if not 1 <= period < weights.shape[-1]:
            raise ValueError("no copy")
        end = min(weights.shape[-1], 2 * period)
        return torch.stack([weights[..., t, t - period + 1] for t in range(period, end)], -1).mean(-1)


class asserted:
    """An AssertionError for a bad period."""

    def induction_score(weights, period):
        assert 0 < period < weights.shape[-1]
        return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(-1)


class least_squares:
    """lstsq with a column of ones; the ridge is forgotten.

    Named: ridge_not_used
    """

    def probe(features, labels, *, ridge=1e-3):
        classes, idx = labels.unique(return_inverse=True)
        X = features.detach().double()
        X = torch.cat([X, torch.ones(len(X), 1, dtype=X.dtype, device=X.device)], 1)
        W = torch.linalg.pinv(X) @ torch.eye(len(classes), dtype=X.dtype, device=X.device)[idx]
        return lambda new: classes[
            (torch.cat([new.double(), torch.ones(len(new), 1, device=X.device).double()], 1) @ W).argmax(1)
        ]


class ones_penalised:
    """A column of ones under the same penalty as the rest.

    Named: bias_penalised
    """

    def probe(features, labels, *, ridge=1e-3):
        classes, idx = labels.unique(return_inverse=True)
        X = torch.nn.functional.pad(features.detach().double(), (0, 1), value=1.0)
        Y = torch.nn.functional.one_hot(idx).double()
        W = torch.linalg.solve(X.T @ X + ridge * torch.eye(X.shape[1]).to(X), X.T @ Y)
        return lambda new: classes[(torch.nn.functional.pad(new.double(), (0, 1), value=1.0) @ W).argmax(1)]


class no_intercept:
    """The textbook formula, which has no intercept.

    Named: no_bias
    """

    def probe(features, labels, *, ridge=1e-3):
        classes, idx = labels.unique(return_inverse=True)
        X, Y = features.detach().double(), torch.nn.functional.one_hot(idx).double()
        W = torch.linalg.inv(X.T @ X + ridge * torch.eye(X.shape[1]).to(X)) @ X.T @ Y
        return lambda new: classes[(new.double() @ W).argmax(1)]


class mean_squared:
    """Both products are divided by N, the ridge is not.

    Named: ridge_beside_a_mean
    """

    def probe(features, labels, *, ridge=1e-3):
        classes, idx = labels.unique(return_inverse=True)
        X, Y = features.detach().double(), torch.nn.functional.one_hot(idx).double()
        m, p, n = X.mean(0), Y.mean(0), len(X)
        X = X - m
        W = torch.linalg.solve(X.T @ X / n + ridge * torch.eye(X.shape[1]).to(X), X.T @ (Y - p) / n)
        return lambda new: classes[((new.double() - m) @ W + p).argmax(1)]


class indices:
    """argmax is returned as it is.

    Named: places_returned
    """

    probe = """
        - return classes[scores.argmax(dim=-1)]
        + return scores.argmax(1).to(labels.dtype)
    """


class kept_in_a_list:
    """Hooks are put in a list of the module and all removed by the first that ends.

    Named: all_hooks_removed
    """

    HOOKS = []  # noqa: RUF012

    ablate_heads = """
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + HOOKS.append(attention.w_o.register_forward_pre_hook(partial(silenced, columns)))

        - handle.remove()
        + while HOOKS:
        +     HOOKS.pop().remove()
    """


class without_finally:
    """The lines after yield are meant to run always.

    Named: lost_with_an_exception
    """

    @contextmanager
    def ablate_heads(model, layer, heads):
        block = model.layers[layer]
        attn = block.attention if hasattr(block, "attention") else block.self_attention
        if any(h < 0 or h >= attn.num_heads for h in heads):
            raise ValueError("no such head")
        d = attn.w_o.in_features // attn.num_heads
        saved = attn.w_o.weight.data.clone()
        for h in heads:
            attn.w_o.weight.data[:, h * d : (h + 1) * d] = 0
        yield
        attn.w_o.weight.data.copy_(saved)


class rows_zeroed:
    """Rows of the weight are set to zero: w_o is taken for a matrix [in, out].

    Named: rows_for_columns
    """

    @contextmanager
    def ablate_heads(model, layer, heads):
        block = model.layers[layer]
        attn = block.attention if hasattr(block, "attention") else block.self_attention
        heads = list(heads)
        if any(h < 0 or h >= attn.num_heads for h in heads):
            raise ValueError("no such head")
        d = attn.w_o.in_features // attn.num_heads
        saved = attn.w_o.weight.data.clone()
        try:
            for h in heads:
                attn.w_o.weight.data[h * d : (h + 1) * d] = 0
            yield
        finally:
            attn.w_o.weight.data.copy_(saved)


class values_off:
    """The head's rows of w_v are set to zero; their bias still comes through, and groups go off together.

    Named: shared_values_zeroed, shared_heads_counted
    """

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


class handles_forgotten:
    """A hook that is never removed.

    Named: never_undone
    """

    ablate_heads = """
        - handle = attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        - try:
        -     yield
        - finally:
        -     handle.remove()
        + attention.w_o.register_forward_pre_hook(partial(silenced, columns))
        + yield
    """


class state_dict_reloaded:
    """state_dict is saved without copies and loaded again.

    Named: zeroed_and_kept_by_name
    """

    @contextmanager
    def ablate_heads(model, layer, heads):
        block = model.layers[layer]
        attn = block.attention if hasattr(block, "attention") else block.self_attention
        heads = list(heads)
        if any(h < 0 or h >= attn.num_heads for h in heads):
            raise ValueError("no such head")
        d = attn.w_o.in_features // attn.num_heads
        saved = model.state_dict()
        try:
            for h in heads:
                attn.w_o.weight.data[:, h * d : (h + 1) * d] = 0
            yield
        finally:
            model.load_state_dict(saved)


class returned_true:
    """__exit__ returns True out of habit.

    Named: exception_swallowed
    """

    class ablate_heads:
        def __init__(self, model, layer, heads):
            block = model.layers[layer]
            self.attn = block.attention if hasattr(block, "attention") else block.self_attention
            off = torch.zeros(self.attn.num_heads, dtype=torch.bool)
            for h in heads:
                if not 0 <= h < len(off):
                    raise ValueError("no such head")
                off[h] = True
            self.off = off.repeat_interleave(self.attn.w_o.in_features // len(off))

        def __enter__(self):
            self.handle = self.attn.w_o.register_forward_pre_hook(partial(silenced, self.off))

        def __exit__(self, *error):
            self.handle.remove()
            return True
