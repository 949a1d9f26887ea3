"""Answers to lora."""

# ==== right ====
"""Adapters as other people write them, from the lesson and the stub alone."""

answer("flags", "A flag for merged, and weights that are swapped.")

import math


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        if r < 1:
            raise ValueError(f"r should be >= 1, got {r}")
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.r, self.alpha, self.scaling = r, alpha, alpha / r
        self.A = nn.Parameter(base.weight.new_empty(r, base.in_features))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        nn.init.normal_(self.A, std=0.5 / math.sqrt(base.in_features))
        self.merged = False
        self._saved = []

    def forward(self, x):
        if self.merged:
            return self.base(x)
        return self.base(x) + nn.functional.linear(nn.functional.linear(x, self.A), self.B) * self.scaling


def merge(model):
    with torch.no_grad():
        for m in model.modules():
            if isinstance(m, LoRALinear) and not m.merged:
                m._saved = [m.base.weight]
                m.base.weight = nn.Parameter(m.base.weight + m.scaling * (m.B @ m.A), requires_grad=False)
                m.merged = True


def unmerge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and m.merged:
            m.base.weight = m._saved.pop()
            m.merged = False


def load_adapter(model, state):
    layers = [(n, m) for n, m in model.named_modules() if isinstance(m, LoRALinear)]
    if any(m.merged for _, m in layers):
        raise ValueError("the model is merged, expected an unmerged one")
    own = {f"{n}.{part}": getattr(m, part) for n, m in layers for part in ("A", "B")}
    found, expected = ({k: tuple(v.shape) for k, v in d.items()} for d in (state, own))
    if found != expected:
        raise ValueError(f"found {found}, expected {expected}")
    for k, v in own.items():
        v.data = state[k].to(v.data).clone()


answer("parents", "A search for what holds each layer, and a dict of replacements.")


def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r should be >= 1, got {r}")
    wanted, layers = list(names), []
    for full, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, nn.Linear):
            layers.append((full, full.split(".")[-1], module))
    picked = []
    for name in wanted:
        matches = [m for full, last, m in layers if name == full or name == last]
        if not matches:
            raise ValueError(
                f"{name!r} is not an nn.Linear of the model; known: {[full for full, _, _ in layers]}"
            )
        picked.extend(matches)
    for p in model.parameters():
        p.requires_grad_(False)
    replacement = {}
    for full, last, module in layers:
        if any(module is m for m in picked):
            if module not in replacement:
                replacement[module] = LoRALinear(module, r, alpha)
            parent = model.get_submodule(full[: -len(last) - 1]) if "." in full else model
            setattr(parent, last, replacement[module])


answer("flat-names", "States by way of named_parameters and sets of names; all is compared in one go.")


def adapter_state(model):
    adapters = {name for name, m in model.named_modules() if isinstance(m, LoRALinear)}
    state = {}
    for name, p in model.named_parameters():
        owner, _, last = name.rpartition(".")
        if owner in adapters and last in ("A", "B"):
            state[name] = p.detach().clone()
    return state


def load_adapter(model, state):
    own = adapter_state(model)
    missing, extra = own.keys() - state.keys(), state.keys() - own.keys()
    if missing or extra:
        raise ValueError(f"missing {sorted(missing)}, unexpected {sorted(extra)}")
    wrong = [(n, tuple(state[n].shape), tuple(own[n].shape)) for n in own if state[n].shape != own[n].shape]
    if wrong:
        raise ValueError(f"shapes do not fit (name, got, expected): {wrong}")
    for name, m in model.named_modules():
        if isinstance(m, LoRALinear) and m.old:
            raise ValueError(f"{name or 'the layer'} is merged; call unmerge first")
    params = dict(model.named_parameters())
    with torch.no_grad():
        for name, value in state.items():
            params[name].copy_(value)


# ==== wrong ====
"""Adapters as other people get them wrong."""


@answer("plain-alpha", "The scale is alpha alone.", named=["alpha-not-divided"])
class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        if r < 1:
            raise ValueError(f"r = {r}, expected >= 1")
        self.base = base
        for p in base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.randn(r, base.in_features).to(base.weight) / base.in_features**0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, r).to(base.weight))
        self.scale, self.old = alpha, ()

    def forward(self, x):
        return self.base(x) if self.old else self.base(x) + (x @ self.A.T @ self.B.T) * self.scale


@answer("kaiming-both", "Both factors begin like the weights of a linear layer.", named=["b-random"])
class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        if r < 1:
            raise ValueError(f"r = {r}, expected >= 1")
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features).to(base.weight))
        self.B = nn.Parameter(torch.empty(base.out_features, r).to(base.weight))
        for part in (self.A, self.B):
            nn.init.kaiming_uniform_(part, a=5**0.5)
        self.scale, self.old = alpha / r, ()

    def forward(self, x):
        return self.base(x) if self.old else self.base(x) + (x @ self.A.T @ self.B.T) * self.scale


@answer("standard-normal", "A is as randn gives it, in float32.", named=["a-large", "float32-parts"])
class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        if r <= 0:
            raise ValueError(f"expected r > 0, found {r}")
        self.base = base
        base.weight.requires_grad = False
        if base.bias is not None:
            base.bias.requires_grad = False
        self.A = nn.Parameter(torch.randn(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scale, self.old = alpha / r, ()

    def forward(self, x):
        return self.base(x) if self.old else self.base(x) + self.scale * (x @ self.A.T) @ self.B.T


@answer(
    "walk-once",
    "Modules are listed once, so the second place of a layer stays.",
    named=["tied-layer-in-one-place"],
)
def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r = {r}, expected >= 1")
    layers = {n: m for n, m in model.named_modules() if isinstance(m, nn.Linear)}
    for name in names:
        if not any(name in (n, n.split(".")[-1]) for n in layers):
            raise ValueError(f"unknown name {name}, expected one of {list(layers)}")
    for p in model.parameters():
        p.requires_grad = False
    for n, m in layers.items():
        if any(name in (n, n.split(".")[-1]) for name in names):
            parent, _, last = n.rpartition(".")
            setattr(model.get_submodule(parent), last, LoRALinear(m, r, alpha))


@answer(
    "freeze-then-fail",
    "The model is frozen and partly replaced when a wrong name turns up.",
    named=["frozen-before-looked-up"],
)
def inject(model, names, r, alpha):
    for p in model.parameters():
        p.requires_grad = False
    done = {}
    for name in names:
        hits = [
            (n, m)
            for n, m in model.named_modules(remove_duplicate=False)
            if isinstance(m, nn.Linear) and name in (n, n.split(".")[-1])
        ]
        if not hits and name not in done:
            raise ValueError(f"unknown layer {name}")
        for _, m in hits:
            adapter = LoRALinear(m, r, alpha)
            for n, other in list(model.named_modules(remove_duplicate=False)):
                if other is m:
                    parent, _, last = n.rpartition(".")
                    setattr(model.get_submodule(parent), last, adapter)
                    done |= {n: 1, last: 1}


@answer("endswith", "A name chooses whatever ends in it.", named=["ends-with", "tied-layer-in-one-place"])
def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r = {r}, expected >= 1")
    layers = [(n, m) for n, m in model.named_modules(remove_duplicate=False) if isinstance(m, nn.Linear)]
    for name in names:
        if not any(n.endswith(name) for n, _ in layers):
            raise ValueError(f"unknown name {name}")
    model.requires_grad_(False)
    new = {}
    for n, m in layers:
        if any(n.endswith(name) for name in names):
            new.setdefault(m, LoRALinear(m, r, alpha))
            parent, _, last = n.rpartition(".")
            setattr(model.get_submodule(parent), last, new[m])


@answer(
    "added-in-place",
    "The difference is added to the weight's data, and subtracted again.",
    named=["subtracted", "weight-written-into"],
)
def merge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and not m.old:
            m.old = (True,)
            m.base.weight.data += m.scale * (m.B.data @ m.A.data)


def unmerge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and m.old:
            m.old = ()
            m.base.weight.data -= m.scale * (m.B.data @ m.A.data)


@answer(
    "cloned", "The old numbers are cloned, and copied back into the weight.", named=["weight-written-into"]
)
def merge(model):
    with torch.no_grad():
        for m in model.modules():
            if isinstance(m, LoRALinear) and not m.old:
                m.old = (m.base.weight.clone(),)
                m.base.weight.add_(m.B @ m.A, alpha=m.scale)


def unmerge(model):
    with torch.no_grad():
        for m in model.modules():
            if isinstance(m, LoRALinear) and m.old:
                m.base.weight.copy_(m.old[0])
                m.old = ()


@answer("what-learns", "The state is whatever learns, not copied, and of any part that is called A or B.",
        named=["not-copied"])  # fmt: skip
def adapter_state(model):
    return {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}


@answer(
    "loaded-leniently",
    "torch's own loading, which passes over what does not fit.",
    named=["part-missing-taken", "unknown-taken"],
)
def load_adapter(model, state):
    for m in model.modules():
        if isinstance(m, LoRALinear) and m.old:
            raise ValueError("unmerge first")
    try:
        model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        raise ValueError(str(error)) from error
