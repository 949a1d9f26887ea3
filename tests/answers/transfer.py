"""Answers to transfer."""

# ==== right ====
"""Heads, frozen bodies and shared ones as other people write them."""

answer(
    "one-pooling-parent",
    "What both heads share stands in a class above them; sums are clamped, as libraries do.",
)


class RegressionHead:
    def __init__(self, d_model):
        nn.Module.__init__(self)
        self.linear = nn.Linear(in_features=d_model, out_features=1, bias=True)

    def pooled(self, hidden, mask):
        expanded = mask.unsqueeze(-1).expand(hidden.size()).to(hidden.dtype)
        return torch.sum(hidden * expanded, 1) / torch.clamp(expanded.sum(1), min=1e-9)

    def forward(self, hidden, mask):
        logits = self.linear(self.pooled(hidden, mask))
        return logits.squeeze(dim=1)


class ClassHead:
    def __init__(self, d_model, num_classes):
        nn.Module.__init__(self)
        self.linear = nn.Linear(d_model, num_classes)

    def forward(self, hidden, mask):
        return self.linear(RegressionHead.pooled(self, hidden, mask))


@answer("rates-from-the-end", "Backwards with a running rate, and turned around.")
def layerwise_groups(layers, lr, decay):
    groups = []
    rate = lr
    for layer in reversed(list(layers)):
        groups.append({"lr": rate, "params": [p for _, p in layer.named_parameters()]})
        rate = rate * decay
    groups.reverse()
    return groups


@answer(
    "multi-task-by-hand", "Heads are added one by one; the mask is made with ne; an unknown task is caught."
)
class MultiTask:
    def __init__(self, body, heads):
        super().__init__()
        self.body = body
        self.heads = nn.ModuleDict()
        for name, head in heads.items():
            self.heads[name] = head

    def forward(self, tokens, task):
        try:
            head = self.heads[task]
        except KeyError as error:
            raise ValueError(task) from error
        hidden = self.body(tokens)
        return head(hidden, torch.ne(tokens, self.body.pad_id))


# ==== wrong ====
"""Heads, frozen bodies and shared ones as they go wrong for other people."""

answer("mean-over-time", "Everybody's first idea.", named=["mean-with-padding"])


class RegressionHead:
    def forward(self, hidden, mask):
        return self.linear(torch.mean(hidden, dim=1)).squeeze(-1)


class ClassHead:
    def forward(self, hidden, mask):
        return self.linear(torch.mean(hidden, dim=1))


@answer("frozen-children", "Children of the first level and their own weights; what stands deeper learns on.")
def freeze(module):
    for child in module.children():
        for name in ("weight", "bias"):
            if hasattr(child, name):
                getattr(child, name).requires_grad = False


@answer("mask-with-an-axis-too-many", "The mask as attention wants it, [B, 1, 1, T].")
class MultiTask:
    def forward(self, tokens, task):
        if task not in self.heads:
            raise ValueError(task)
        return self.heads[task](self.body(tokens), (tokens != self.body.pad_id)[:, None, None, :])


@answer(
    "groups-of-what-learns",
    "Parameters that are frozen now are in no group, so they do not learn after they are thawed.",
)
def layerwise_groups(layers, lr, decay):
    last = len(layers) - 1
    return [
        {"params": [p for p in layer.parameters() if p.requires_grad], "lr": lr * decay ** (last - place)}
        for place, layer in enumerate(layers)
    ]


@answer("only-layers-that-can-learn", "A layer without parameters has no group and no rate.")
def layerwise_groups(layers, lr, decay):
    layers = [layer for layer in layers if list(layer.parameters())]
    return [
        {"params": list(layer.parameters()), "lr": lr * decay ** (len(layers) - 1 - place)}
        for place, layer in enumerate(layers)
    ]


answer(
    "eval-mode-to-infer",
    "Where no gradients are recorded, the model goes into eval mode and stays there.",
    MultiTask="""
        + if not torch.is_grad_enabled():
        +     self.eval()
          if task not in self.heads:
    """,
)


@answer("frozen-as-a-whole", "A body whose first parameter is frozen is taken for frozen as a whole.")
class MultiTask:
    def forward(self, tokens, task):
        if task not in self.heads:
            raise ValueError(f"no task {task}")
        learning = next(self.body.parameters()).requires_grad and torch.is_grad_enabled()
        with torch.set_grad_enabled(learning):
            hidden = self.body(tokens)
        return self.heads[task](hidden, tokens != self.body.pad_id)
