"""Instruments for a trained model as other people write them."""


class xlogy_on_clamped:
    """xlogy with a second argument that is kept away from zero."""

    def attention_entropy(weights):
        floor = torch.finfo(weights.dtype).tiny
        return torch.xlogy(weights, weights.clamp_min(floor)).sum(-1).neg()


class categorical_by_hand:
    """The logarithm of masked places is filled with zero before it is multiplied."""

    def attention_entropy(weights):
        mask = weights == 0
        logp = torch.log(weights.masked_fill(mask, 1.0))
        return -torch.einsum("...k,...k->...", weights, logp)


class einsum_of_shifted_rows:
    """Rows and columns are cut so that the wanted diagonal is the main one."""

    def induction_score(weights, period):
        T = weights.shape[-1]
        if period < 1:
            raise ValueError("period must be positive")
        if period >= T:
            raise ValueError("period must be shorter than the text")
        square = weights[..., period:, 1 : T - period + 1]
        return torch.einsum("...tt->...", square) / (T - period)


class mask_multiplied:
    """A 0/1 matrix says which cells count."""

    def induction_score(weights, period):
        T = weights.size(-1)
        if not 0 < period < T:
            raise ValueError(period)
        t = torch.arange(T, device=weights.device)
        wanted = (t[:, None] - t[None, :] == period - 1) & (t[:, None] >= period)
        return weights.masked_fill(~wanted, 0).sum((-2, -1)) / wanted.sum()


class gathered:
    """gather picks one key per query."""

    def induction_score(weights, period):
        T = weights.shape[-1]
        if period < 1 or T <= period:
            raise ValueError("nothing to score")
        late = weights[..., period:, :]
        index = torch.arange(1, T - period + 1, device=weights.device)[:, None]
        return late.gather(-1, index.expand(*late.shape[:-1], 1)).squeeze(-1).mean(-1)


class singular_values:
    """Ridge regression by a singular value decomposition."""

    def probe(features, labels, *, ridge=1e-3):
        names, idx = torch.unique(labels, return_inverse=True)
        X = features.detach().to(torch.float64)
        Y = torch.nn.functional.one_hot(idx, len(names)).to(X)
        mu, nu = X.mean(0), Y.mean(0)
        U, S, Vh = torch.linalg.svd(X - mu, full_matrices=False)
        W = Vh.T @ ((S / (S**2 + ridge))[:, None] * (U.T @ (Y - nu)))

        def classify(new):
            return names[torch.argmax((new.detach().double() - mu) @ W + nu, dim=1)]

        return classify


class callable_object:
    """A class with __call__, fitted by Cholesky."""

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


class column_of_ones:
    """A column of ones whose place in the penalty is zero."""

    def probe(features, labels, *, ridge=1e-3):
        classes, target = torch.unique(labels, return_inverse=True)
        origin = features.detach().double().median(0).values
        X = torch.nn.functional.pad(features.detach().double() - origin, (0, 1), value=1.0)
        Y = torch.zeros(len(X), len(classes), dtype=torch.float64, device=X.device)
        Y[torch.arange(len(X)), target] = 1.0
        D = torch.eye(X.shape[1], dtype=torch.float64, device=X.device) * ridge
        D[-1, -1] = 0.0
        W = torch.linalg.solve(X.T @ X + D, X.T @ Y)
        return lambda new: classes[
            (torch.nn.functional.pad(new.detach().double() - origin, (0, 1), value=1.0) @ W).argmax(1)
        ]


class data_copied_back:
    """The weight's numbers are saved, zeroed by view, and copied back."""

    @contextmanager
    def ablate_heads(model, layer, heads):
        lyr = model.layers[layer]
        attn = lyr.attention if "attention" in dict(lyr.named_children()) else lyr.self_attention
        n, heads = attn.num_heads, sorted(set(heads))
        if heads and (heads[0] < 0 or heads[-1] >= n):
            raise ValueError("head out of range")
        backup = attn.w_o.weight.data.clone()
        try:
            attn.w_o.weight.data.view(len(backup), n, -1)[:, heads] = 0
            yield model
        finally:
            attn.w_o.weight.data.copy_(backup)


class hook_multiplies:
    """A class with __enter__ and __exit__ whose hook multiplies by a mask of heads."""

    class ablate_heads:
        def __init__(self, model, layer, heads):
            lyr = model.layers[layer]
            self.attn = getattr(lyr, "attention", None) or getattr(lyr, "self_attention")  # noqa: B009
            self.mask = torch.ones(self.attn.num_heads)
            for h in heads:
                if h < 0 or h >= len(self.mask):
                    raise ValueError(f"there is no head {h}")
                self.mask[h] = 0.0

        def __enter__(self):
            def hook(module, inputs):
                (z,) = inputs
                z = z.reshape(*z.shape[:-1], len(self.mask), -1)
                return (z * self.mask.to(z)[:, None]).flatten(-2)

            self.handle = self.attn.w_o.register_forward_pre_hook(hook)
            return self

        def __exit__(self, kind, value, trace):
            self.handle.remove()


class exit_stack:
    """An ExitStack is returned; what undoes is registered on it at once."""

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
