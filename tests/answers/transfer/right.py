"""Heads, frozen bodies and shared ones as other people write them."""


class weights_of_the_mean:
    """The mean as a matrix product: weights 1/n at real tokens, bmm."""

    class RegressionHead:
        def forward(self, hidden, mask):
            w = mask.to(hidden.dtype)
            w = w / w.sum(dim=1, keepdim=True)
            return self.linear(torch.bmm(w[:, None, :], hidden)[:, 0]).view(-1)

    class ClassHead:
        def forward(self, hidden, mask):
            w = mask.to(hidden.dtype)
            w = w / w.sum(dim=1, keepdim=True)
            return self.linear(torch.einsum("bt,btd->bd", w, hidden))


class scores_before_the_mean:
    """A linear layer and a mean change places: every token is scored, then real scores are averaged."""

    class RegressionHead:
        def forward(self, hidden, mask):
            scores = self.linear(hidden)[..., 0].masked_fill(mask.logical_not(), 0)
            return scores.sum(1) / mask.sum(1)

    class ClassHead:
        def forward(self, hidden, mask):
            scores = self.linear(hidden) * mask[:, :, None]
            return scores.sum(1) / mask.sum(1)[:, None]


class nanmean:
    """Padding becomes nan, and nanmean passes over it."""

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear(hidden.masked_fill(~mask[..., None], float("nan")).nanmean(1)).flatten()

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear(hidden.masked_fill(~mask[..., None], float("nan")).nanmean(1))


class one_pooling_parent:
    """What both heads share stands in a class above them; sums are clamped, as libraries do."""

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


class split_and_squeezed:
    """The span as published code has it: split, squeeze, and each filled by itself."""

    class SpanHead:
        def forward(self, hidden, mask):
            logits = self.linear(hidden)
            start_logits, end_logits = logits.split(1, dim=-1)
            start_logits = start_logits.squeeze(-1).contiguous()
            end_logits = end_logits.squeeze(-1).contiguous()
            return (
                torch.where(mask, start_logits, torch.full_like(start_logits, float("-inf"))),
                torch.where(mask, end_logits, torch.full_like(end_logits, float("-inf"))),
            )


class by_rows_of_the_weight:
    """Each score from a row of its own."""

    class SpanHead:
        def forward(self, hidden, mask):
            scores = []
            for row, bias in zip(self.linear.weight, self.linear.bias):
                scores.append((hidden @ row + bias).masked_fill(mask == 0, -float("inf")))
            return tuple(scores)


class labels_token_by_token:
    """A loop over positions; what stands at padding is zero."""

    class TokenHead:
        def forward(self, hidden, mask):
            columns = [self.linear(hidden[:, t]) for t in range(hidden.size(1))]
            return torch.stack(columns, dim=1) * mask.unsqueeze(2).to(hidden.dtype)


class labels_flattened:
    """Batch and time are one axis, and two again; -inf at padding, which nobody reads."""

    class TokenHead:
        def forward(self, hidden, mask):
            B, T, D = hidden.shape
            out = self.linear(hidden.reshape(B * T, D)).reshape(B, T, -1)
            return out.masked_fill(~mask.unsqueeze(-1), float("-inf"))


class requires_grad_of_the_module:
    """torch's own method."""

    def freeze(module):
        module.requires_grad_(False)


class freezing_by_recursion:
    """Own parameters, then children; a leftover gradient is cleared."""

    def freeze(module):
        for p in module._parameters.values():
            if p is not None:
                p.requires_grad_(False)
                p.grad = None
        for child in module.children():
            freeze(child)


class rates_from_the_end:
    """Backwards with a running rate, and turned around."""

    def layerwise_groups(layers, lr, decay):
        groups = []
        rate = lr
        for layer in reversed(list(layers)):
            groups.append({"lr": rate, "params": [p for _, p in layer.named_parameters()]})
            rate = rate * decay
        groups.reverse()
        return groups


class generators_and_more_keys:
    """Parameters as the generator that torch takes as well, and a name for each group."""

    def layerwise_groups(layers, lr, decay):
        depth = len(layers)
        return [
            {"params": layers[i].parameters(), "lr": lr * (decay ** (depth - i - 1)), "name": f"layer {i}"}
            for i in range(depth)
        ]


class multi_task_by_hand:
    """Heads are added one by one; the mask is made with ne; an unknown task is caught."""

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


class multi_task_remembers_the_padding:
    """The padding is read once, when the model is made."""

    class MultiTask:
        def __init__(self, body, heads):
            super().__init__()
            self.pad_id = body.pad_id
            self.body = body
            self.heads = nn.ModuleDict(dict(heads))

        def forward(self, tokens, task):
            if task not in self.heads.keys():
                raise ValueError(f"Unknown task: {task}")
            mask = ~(tokens == self.pad_id)
            return self.heads[task](self.body(tokens), mask)
