"""Heads, frozen bodies and shared ones as they go wrong for other people."""


class mean_over_time:
    """Everybody's first idea.

    Named: mean_with_padding
    """

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear(torch.mean(hidden, dim=1)).squeeze(-1)

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear(torch.mean(hidden, dim=1))


class zeros_and_a_mean:
    """Padding is set to zero, and the mean is taken over all of it.

    Named: sum_divided_by_length
    """

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear((hidden * mask.unsqueeze(-1)).mean(1)).squeeze(-1)

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear((hidden * mask.unsqueeze(-1)).mean(1))


class cls_vector:
    """The first position, as BERT's own classifier has it.

    Named: first_token
    """

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear(hidden[:, 0, :]).squeeze(-1)

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear(hidden[:, 0, :])


class last_real_token:
    """The last real token, as decoders do.

    Named: last_real_token
    """

    class RegressionHead:
        def forward(self, hidden, mask):
            last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(1)
            return self.linear(hidden[torch.arange(len(hidden)), last]).squeeze(-1)

    class ClassHead:
        def forward(self, hidden, mask):
            last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(1)
            return self.linear(hidden[torch.arange(len(hidden)), last])


class cut_to_the_length:
    """hidden[:n].mean(), by the number of real tokens: right for padding behind.

    Named: real_tokens_in_front
    """

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear(torch.stack([h[: int(m.sum())].mean(0) for h, m in zip(hidden, mask)]))

    class RegressionHead:
        def forward(self, hidden, mask):
            rows = torch.stack([h[: int(m.sum())].mean(0) for h, m in zip(hidden, mask)])
            return self.linear(rows).squeeze(-1)


class mean_of_the_whole_batch:
    """mask indexing forgets which text a token belongs to: one mean for all.

    Named: one_mean_for_the_batch
    """

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear(hidden[mask].mean(0)).expand(len(hidden), -1)


class divided_by_the_longest:
    """The sum over real tokens, divided by the longest text's number of them.

    Named: divided_by_the_longest
    """

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear((hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1).max())

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear((hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1).max()).squeeze(-1)


class one_more_in_the_denominator:
    """The usual + 1 against a division by zero.

    Named: one_more_in_the_denominator
    """

    class ClassHead:
        def forward(self, hidden, mask):
            return self.linear((hidden * mask.unsqueeze(-1)).sum(1) / (mask.sum(1, keepdim=True) + 1))


class log_probabilities:
    """log_softmax in the head.

    Named: log_probabilities_of_classes
    """

    class ClassHead:
        def forward(self, hidden, mask):
            pooled = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
            return self.linear(pooled).log_softmax(-1)


class dropout_and_tanh:
    """A pooler in front of the head, as BERT has it.

    Named: another_layer_between
    """

    class ClassHead:
        def __init__(self, d_model, num_classes):
            super().__init__()
            self.pooler = nn.Linear(d_model, d_model)
            self.linear = nn.Linear(d_model, num_classes)

        def forward(self, hidden, mask):
            pooled = (hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
            return self.linear(torch.tanh(self.pooler(pooled)))


class number_kept_as_column:
    """[B, 1], as nn.Linear gives it.

    Named: number_with_an_axis
    """

    class RegressionHead:
        def forward(self, hidden, mask):
            return self.linear((hidden * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True))


class large_negative_number:
    """-1e9 in place of -inf.

    Named: span_padding_finite
    """

    class SpanHead:
        def forward(self, hidden, mask):
            start, end = self.linear(hidden).unbind(-1)
            return start.masked_fill(~mask, -1e9), end.masked_fill(~mask, -1e9)


class masked_by_multiplication:
    """Scores times the mask.

    Named: span_padding_zero
    """

    class SpanHead:
        def forward(self, hidden, mask):
            start, end = (self.linear(hidden) * mask.unsqueeze(-1)).unbind(-1)
            return start, end


class chunks_keep_the_axis:
    """chunk leaves an axis of one.

    Named: span_axis_kept
    """

    class SpanHead:
        def forward(self, hidden, mask):
            start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).chunk(2, -1)
            return start, end


class softmax_over_the_two:
    """Probabilities over the last axis: beginning or end, at each token.

    Named: beginning_or_end
    """

    class SpanHead:
        def forward(self, hidden, mask):
            start, end = (
                self.linear(hidden).softmax(-1).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(-1)
            )
            return start, end


class two_layers_for_a_span:
    """One linear layer for beginnings and one for ends.

    Named: a_layer_for_each_end
    """

    class SpanHead:
        def __init__(self, d_model):
            super().__init__()
            self.start, self.end = nn.Linear(d_model, 1), nn.Linear(d_model, 1)

        def forward(self, hidden, mask):
            return (
                self.start(hidden).squeeze(-1).masked_fill(~mask, -torch.inf),
                self.end(hidden).squeeze(-1).masked_fill(~mask, -torch.inf),
            )


class frozen_under_no_grad:
    """no_grad around nothing that lasts.

    Named: eval_mode_only
    """

    def freeze(module):
        with torch.no_grad():
            module.eval()


class frozen_children:
    """Children of the first level and their own weights; what stands deeper learns on."""

    def freeze(module):
        for child in module.children():
            for name in ("weight", "bias"):
                if hasattr(child, name):
                    getattr(child, name).requires_grad = False


class frozen_by_hook:
    """Gradients are stopped where they come in.

    Named: gradient_forbidden
    """

    def freeze(module):
        for parameter in module.parameters():
            parameter.requires_grad = False
        module.register_forward_hook(lambda module, inputs, output: output.detach())


class decay_from_the_front:
    """The exponent is the layer's own number.

    Named: rates_reversed
    """

    def layerwise_groups(layers, lr, decay):
        return [{"params": list(m.parameters()), "lr": lr * decay**i} for i, m in enumerate(layers)]


class one_too_many:
    """len(layers) - i.

    Named: last_decayed_too
    """

    def layerwise_groups(layers, lr, decay):
        n = len(layers)
        return [{"params": list(m.parameters()), "lr": lr * decay ** (n - i)} for i, m in enumerate(layers)]


class built_backwards:
    """The last layer's group comes first.

    Named: groups_from_the_last
    """

    def layerwise_groups(layers, lr, decay):
        groups = []
        for i, layer in enumerate(reversed(list(layers))):
            groups.append({"params": list(layer.parameters()), "lr": lr * decay**i})
        return groups


class one_group_for_each_parameter:
    """A group for each parameter, as some libraries make them.

    Named: a_group_for_each_parameter
    """

    def layerwise_groups(layers, lr, decay):
        return [
            {"params": [p], "lr": lr * decay ** (len(layers) - 1 - i)}
            for i, layer in enumerate(layers)
            for p in layer.parameters()
        ]


class list_of_heads:
    """A plain dict for the heads.

    Named: heads_in_a_dict
    """

    class MultiTask:
        def __init__(self, body, heads):
            super().__init__()
            self.body = body
            self.heads = {name: head for name, head in heads.items()}


class mask_with_an_axis_too_many:
    """The mask as attention wants it, [B, 1, 1, T]."""

    class MultiTask:
        def forward(self, tokens, task):
            if task not in self.heads:
                raise ValueError(task)
            return self.heads[task](self.body(tokens), (tokens != self.body.pad_id)[:, None, None, :])


class all_heads_at_once:
    """Every head's answer, in a dict."""

    class MultiTask:
        def forward(self, tokens, task):
            if task not in self.heads:
                raise ValueError(task)
            hidden, mask = self.body(tokens), tokens != self.body.pad_id
            return {name: head(hidden, mask) for name, head in self.heads.items()}


class body_in_eval_mode:
    """A shared body is only read, so it is detached.

    Named: body_without_gradient
    """

    class MultiTask:
        def forward(self, tokens, task):
            if task not in self.heads:
                raise ValueError(task)
            return self.heads[task](self.body(tokens).detach(), tokens != self.body.pad_id)


class positive_tokens_are_real:
    """tokens > 0.

    Named: padding_is_zero
    """

    class MultiTask:
        def forward(self, tokens, task):
            if task not in self.heads:
                raise ValueError(task)
            return self.heads[task](self.body(tokens), tokens > 0)


class assertion_for_a_task:
    """assert in place of an error of its own.

    Named: unknown_task_is_an_assertion
    """

    class MultiTask:
        def forward(self, tokens, task):
            assert task in self.heads, f"unknown task {task}"
            return self.heads[task](self.body(tokens), tokens != self.body.pad_id)
