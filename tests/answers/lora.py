"""Answers to lora."""

# ==== right ====
"""Adapters as somebody wrote them who knew the lesson and the stub alone."""

answer("kept-in-a-list", "Old weights are kept in a list; layers are chosen as a set.")


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        if r < 1:
            raise ValueError(f"r is {r}, expected a rank of at least 1")
        super().__init__()
        base.requires_grad_(False)
        self.base = base
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        bound = base.in_features**-0.5
        self.A = nn.Parameter(torch.empty(r, base.in_features, **like).uniform_(-bound, bound))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        self.scale = alpha / r
        self.kept = []

    def forward(self, x):
        if self.kept:
            return self.base(x)
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)


def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r is {r}, expected a rank of at least 1")
    places = [
        (full, m)
        for full, m in model.named_modules(remove_duplicate=False)
        if full and isinstance(m, nn.Linear)
    ]
    chosen = set()
    for name in names:
        found = [m for full, m in places if full == name or full.split(".")[-1] == name]
        if not found:
            raise ValueError(
                f"no nn.Linear is called {name!r}, expected one of {[full for full, _ in places]}"
            )
        chosen.update(found)
    model.requires_grad_(False)
    adapters = {}
    for full, m in places:
        if m in chosen:
            if m not in adapters:
                adapters[m] = LoRALinear(m, r, alpha)
            parent, _, last = full.rpartition(".")
            setattr(model.get_submodule(parent), last, adapters[m])


def merge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and not m.kept:
            old = m.base.weight
            with torch.no_grad():
                new = old + m.scale * (m.B @ m.A)
            m.kept.append(old)
            m.base.weight = nn.Parameter(new, requires_grad=False)


def unmerge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and m.kept:
            m.base.weight = m.kept.pop()


def adapter_state(model):
    state = {}
    for name, m in model.named_modules():
        if isinstance(m, LoRALinear):
            prefix = name + "." if name else ""
            state[prefix + "A"] = m.A.detach().clone()
            state[prefix + "B"] = m.B.detach().clone()
    return state


def load_adapter(model, state):
    own = {}
    for name, m in model.named_modules():
        if isinstance(m, LoRALinear):
            if m.kept:
                raise ValueError(
                    f"the layer {name!r} is merged, expected an unmerged one: call unmerge first"
                )
            prefix = name + "." if name else ""
            own[prefix + "A"] = m.A
            own[prefix + "B"] = m.B
    if set(own) != set(state):
        missing, unknown = sorted(set(own) - set(state)), sorted(set(state) - set(own))
        raise ValueError(f"the state lacks {missing} and has unknown {unknown}; expected {sorted(own)}")
    for name, p in own.items():
        if state[name].shape != p.shape:
            raise ValueError(f"{name} has the shape {list(state[name].shape)}, expected {list(p.shape)}")
    with torch.no_grad():
        for name, p in own.items():
            p.copy_(state[name])


answer("past-the-module", "Old weights in __dict__, parameters and modules exchanged in torch's own tables.")


class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        if not r >= 1:
            raise ValueError(f"expected a rank r of 1 or more, got {r}")
        super().__init__()
        self.base, self.r, self.alpha = base, r, alpha
        for p in base.parameters():
            p.requires_grad = False
        outputs, inputs = base.weight.shape
        self.A = nn.Parameter(base.weight.new_empty(r, inputs))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)
        self.B = nn.Parameter(base.weight.new_zeros(outputs, r))
        self.__dict__["old"] = None

    def difference(self):
        return (self.alpha / self.r) * torch.einsum("or,ri->oi", self.B, self.A)

    def forward(self, x):
        y = self.base(x)
        if self.__dict__["old"] is None:
            narrow = nn.functional.linear(x, self.A)
            y = y + nn.functional.linear(narrow, self.B) * (self.alpha / self.r)
        return y


def inject(model, names, r, alpha):
    if not r >= 1:
        raise ValueError(f"expected a rank r of 1 or more, got {r}")
    wanted = list(names)
    called = {}
    for full, module in model.named_modules(remove_duplicate=False):
        if isinstance(module, nn.Linear):
            called.setdefault(module, set()).update((full, full.rsplit(".", 1)[-1]))
    known = set().union(*called.values())
    for name in wanted:
        if name not in known:
            raise ValueError(f"got the name {name!r}, expected that of an nn.Linear, one of {sorted(known)}")
    for p in model.parameters():
        p.requires_grad = False
    new = {id(m): LoRALinear(m, r, alpha) for m, its in called.items() if its & set(wanted)}
    for holder in list(model.modules()):
        for key, child in list(holder._modules.items()):
            if id(child) in new:
                holder._modules[key] = new[id(child)]


def merge(model):
    layers = [m for m in model.modules() if isinstance(m, LoRALinear)]
    for layer in layers:
        if layer.__dict__["old"] is None:
            layer.__dict__["old"] = layer.base.weight
            merged = (layer.base.weight + layer.difference()).detach()
            layer.base._parameters["weight"] = nn.Parameter(merged, requires_grad=False)


def unmerge(model):
    def put_back(m):
        if isinstance(m, LoRALinear) and m.__dict__["old"] is not None:
            m.base._parameters["weight"] = m.__dict__["old"]
            m.__dict__["old"] = None

    model.apply(put_back)


def adapter_state(model):
    ours = {id(p) for m in model.modules() if isinstance(m, LoRALinear) for p in (m.A, m.B)}
    return {name: p.detach().clone() for name, p in model.named_parameters() if id(p) in ours}


def load_adapter(model, state):
    for name, m in model.named_modules():
        if isinstance(m, LoRALinear) and m.__dict__["old"] is not None:
            raise ValueError(f"{name or 'the layer'} is merged; expected that no layer is")
    ours = {id(p) for m in model.modules() if isinstance(m, LoRALinear) for p in (m.A, m.B)}
    own = {name: p for name, p in model.named_parameters() if id(p) in ours}
    for name in own:
        if name not in state:
            raise ValueError(f"{name} is missing; there are {sorted(state)}, expected {sorted(own)}")
    for name, value in state.items():
        if name not in own:
            raise ValueError(f"{name} is unknown; expected {sorted(own)}")
        if value.shape != own[name].shape:
            raise ValueError(f"{name} is of shape {tuple(value.shape)}, expected {tuple(own[name].shape)}")
    for name, value in state.items():
        own[name].data.copy_(value)


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


# ==== wrong ====
"""Adapters with a slip each, by somebody who knew the lesson and the stub alone."""


@answer("plain-alpha", "The scale is alpha in place of alpha / r.", named=["alpha-not-divided"])
class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        if r < 1:
            raise ValueError(f"r is {r}, expected a rank of at least 1")
        super().__init__()
        base.requires_grad_(False)
        self.base = base
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        bound = base.in_features**-0.5
        self.A = nn.Parameter(torch.empty(r, base.in_features, **like).uniform_(-bound, bound))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))
        self.scale = alpha
        self.old = ()


@answer("default-dtype", "A and B are made without the base's dtype and device.", named=["float32-parts"])
class LoRALinear(nn.Module):
    def __init__(self, base, r, alpha):
        if r < 1:
            raise ValueError(f"r is {r}, expected a rank of at least 1")
        super().__init__()
        base.requires_grad_(False)
        self.base = base
        bound = base.in_features**-0.5
        self.A = nn.Parameter(torch.empty(r, base.in_features).uniform_(-bound, bound))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scale = alpha / r
        self.old = ()


@answer("walk-once", "Modules are listed once, so the second place of a layer keeps the base.",
        named=["tied-layer-in-one-place"])  # fmt: skip
def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r is {r}, expected a rank of at least 1")
    places = [(full, m) for full, m in model.named_modules() if full and isinstance(m, nn.Linear)]
    chosen = set()
    for name in names:
        found = [m for full, m in places if full == name or full.split(".")[-1] == name]
        if not found:
            raise ValueError(
                f"no nn.Linear is called {name!r}, expected one of {[full for full, _ in places]}"
            )
        chosen.update(found)
    model.requires_grad_(False)
    adapters = {}
    for full, m in places:
        if m in chosen:
            if m not in adapters:
                adapters[m] = LoRALinear(m, r, alpha)
            parent, _, last = full.rpartition(".")
            setattr(model.get_submodule(parent), last, adapters[m])


@answer("one-for-each-place", "Each place of a layer gets a new adapter.",
        named=["tied-layer-twice", "tied-layer-listed-twice"])  # fmt: skip
def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r is {r}, expected a rank of at least 1")
    places = [
        (full, m)
        for full, m in model.named_modules(remove_duplicate=False)
        if full and isinstance(m, nn.Linear)
    ]
    chosen = set()
    for name in names:
        found = [m for full, m in places if full == name or full.split(".")[-1] == name]
        if not found:
            raise ValueError(
                f"no nn.Linear is called {name!r}, expected one of {[full for full, _ in places]}"
            )
        chosen.update(found)
    model.requires_grad_(False)
    adapters = {}
    for full, m in places:
        if m in chosen:
            adapters[m] = LoRALinear(m, r, alpha)
            parent, _, last = full.rpartition(".")
            setattr(model.get_submodule(parent), last, adapters[m])


@answer(
    "names-twice", "Names are walked through to check, and again to choose.", named=["names-walked-twice"]
)
def inject(model, names, r, alpha):
    if r < 1:
        raise ValueError(f"r is {r}, expected a rank of at least 1")
    places = [
        (full, m)
        for full, m in model.named_modules(remove_duplicate=False)
        if full and isinstance(m, nn.Linear)
    ]
    known = {full for full, _ in places} | {full.split(".")[-1] for full, _ in places}
    chosen = set()
    for name in names:
        if name not in known:
            raise ValueError(
                f"no nn.Linear is called {name!r}, expected one of {[full for full, _ in places]}"
            )
    for name in names:
        chosen.update(m for full, m in places if full == name or full.split(".")[-1] == name)
    model.requires_grad_(False)
    adapters = {}
    for full, m in places:
        if m in chosen:
            if m not in adapters:
                adapters[m] = LoRALinear(m, r, alpha)
            parent, _, last = full.rpartition(".")
            setattr(model.get_submodule(parent), last, adapters[m])


answer(
    "numbers-saved",
    "The weight itself is added to, and its old numbers copied back.",
    named=["weight-written-into"],
)


def merge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and not m.old:
            m.old = (m.base.weight.detach().clone(),)
            with torch.no_grad():
                m.base.weight += m.scale * (m.B @ m.A)


def unmerge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and m.old:
            with torch.no_grad():
                m.base.weight.copy_(m.old[0])
            m.old = ()


@answer("copied-into-the-new", "Old numbers are copied into the new parameter.", named=["copy-put-back"])
def unmerge(model):
    for m in model.modules():
        if isinstance(m, LoRALinear) and m.old:
            with torch.no_grad():
                m.base.weight.copy_(m.old[0])
            m.old = ()


@answer("detached", "The state is detached and not copied.", named=["not-copied"])
def adapter_state(model):
    state = {}
    for name, m in model.named_modules():
        if isinstance(m, LoRALinear):
            prefix = name + "." if name else ""
            state[prefix + "A"] = m.A.detach()
            state[prefix + "B"] = m.B.detach()
    return state


@answer("last-parts", "Whatever is called A or B is in the state.", named=["found-by-name"])
def adapter_state(model):
    return {
        name: p.detach().clone() for name, p in model.named_parameters() if name.split(".")[-1] in ("A", "B")
    }


@answer("shape-in-the-loop", "A shape is compared just before it is copied.", named=["shape-met-late"])
def load_adapter(model, state):
    own = {}
    for name, m in model.named_modules():
        if isinstance(m, LoRALinear):
            if m.old:
                raise ValueError(
                    f"the layer {name!r} is merged, expected an unmerged one: call unmerge first"
                )
            prefix = name + "." if name else ""
            own[prefix + "A"] = m.A
            own[prefix + "B"] = m.B
    if set(own) != set(state):
        missing, unknown = sorted(set(own) - set(state)), sorted(set(state) - set(own))
        raise ValueError(f"the state lacks {missing} and has unknown {unknown}; expected {sorted(own)}")
    with torch.no_grad():
        for name, p in own.items():
            if state[name].shape != p.shape:
                raise ValueError(f"{name} has the shape {list(state[name].shape)}, expected {list(p.shape)}")
            p.copy_(state[name])
