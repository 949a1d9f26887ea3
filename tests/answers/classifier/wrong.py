"""Classifiers as other people get them wrong."""


class axis_left_over:
    """cls keeps the axis of positions, and the mean too.

    Named: cls_keeps_the_axis
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, :1]
        elif strategy == "mean":
            return (hidden * m).sum(1, keepdim=True) / m.sum(1, keepdim=True).clamp(min=1)
        elif strategy == "max":
            top = hidden.masked_fill(~m, float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class no_positions:
    """The embeddings of the tokens go into the encoder as they are.

    Named: positions_missing
    """

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            hidden = self.encoder(self.dropout(self.embedding(tokens)), real[:, None, None, :])
            return self.head(pool(hidden, real, self.pooling))


class log_probabilities:
    """The model ends with a log-softmax.

    Named: log_softmax_in_the_model
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))  # and none of it is pooled
            + return self.head(pool(hidden, real, self.pooling)).log_softmax(dim=-1)
        """


class no_step:
    """The optimizer is made and never steps.

    Named: gradients_emptied_too_late
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for sel in torch.randperm(len(tokens), generator=generator).split(batch_size):
                loss = cross_entropy(model(tokens[sel]), labels[sel])
                opt.zero_grad()
                loss.backward()
                total += loss.item() * len(sel)
            out.append(total / len(tokens))
        return out
