"""Classifiers as other people get them wrong."""


class mean_by_torch_mean:
    """The mean is taken over all positions, with a dictionary of strategies.

    Named: mean_counts_padding
    """

    def pool(hidden, mask, strategy):
        ways = {
            "cls": lambda: hidden[:, 0],
            "mean": lambda: hidden.mean(dim=1),
            "max": lambda: torch.where(
                mask.any(1, keepdim=True), hidden.masked_fill(~mask[..., None], -torch.inf).amax(1), 0.0
            ),
        }
        if strategy not in ways:
            raise ValueError(strategy)
        return ways[strategy]()


class masked_but_divided_by_all:
    """Padding is set to zero and then the mean is taken over all positions.

    Named: mean_divides_by_length
    """

    def pool(hidden, mask, strategy):
        if strategy == "cls":
            return hidden[:, 0]
        if strategy == "mean":
            return (hidden * mask.unsqueeze(-1)).mean(dim=1)
        if strategy == "max":
            h = hidden.masked_fill(~mask.unsqueeze(-1), float("-inf")).max(dim=1).values
            return h.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        raise ValueError(strategy)


class count_without_clamp:
    """The sum of the real vectors is divided by their number, which may be 0.

    Named: mean_nan_for_padding_only
    """

    def pool(hidden, mask, strategy):
        if strategy == "cls":
            return hidden[:, 0]
        if strategy == "mean":
            m = mask.unsqueeze(-1).to(hidden.dtype)
            return (hidden * m).sum(1) / m.sum(1)
        if strategy == "max":
            top = hidden.masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class nan_to_num:
    """NaN is replaced by zero after the division.

    Named: mean_nan_mended
    """

    def pool(hidden, mask, strategy):
        if strategy == "cls":
            return hidden[:, 0]
        if strategy == "mean":
            m = mask.unsqueeze(-1)
            return torch.nan_to_num((hidden * m).sum(1) / m.sum(1))
        if strategy == "max":
            top = hidden.masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class count_plus_a_little:
    """A small number is added to the count, to be on the safe side.

    Named: mean_count_inexact
    """

    def pool(hidden, mask, strategy):
        if strategy == "cls":
            return hidden[:, 0]
        if strategy == "mean":
            m = mask.unsqueeze(-1).to(hidden.dtype)
            return (hidden * m).sum(1) / (m.sum(1) + 1e-3)
        if strategy == "max":
            top = hidden.masked_fill(~mask.unsqueeze(-1), float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class max_of_product:
    """The max is that of the vectors times the mask.

    Named: max_padding_is_zero
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            return torch.max(hidden * m, dim=1)[0]
        raise ValueError(strategy)


class max_returns_the_pair:
    """max over an axis gives values and indices, and both are returned.

    Named: max_pair_returned
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            return hidden.masked_fill(~m, float("-inf")).max(dim=1)
        raise ValueError(strategy)


class max_filled_with_1e4:
    """Padding is filled with -1e4, which half precision can hold.

    Named: max_finite_fill
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            top = hidden.masked_fill(~m, -1e4).max(dim=1).values
            return top.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
        raise ValueError(strategy)


class max_of_minus_infinity:
    """A row of padding only has the max -inf.

    Named: max_minus_infinity
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            return hidden.masked_fill(~m, float("-inf")).max(dim=1).values
        raise ValueError(strategy)


class max_in_place:
    """Padding is overwritten by indexing, as a well-known library's page on sentence vectors does.

    Named: pool_in_place
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1).expand(hidden.size())
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            hidden[~m] = float("-inf")
            top = hidden.max(dim=1).values
            return torch.where(mask.any(1, keepdim=True), top, torch.zeros_like(top))
        raise ValueError(strategy)


class over_the_batch:
    """Mean and max run over the batch's axis.

    Named: pooled_over_the_batch
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(0) / m.sum(0).clamp(min=1)
        elif strategy == "max":
            return hidden.masked_fill(~m, float("-inf")).amax(0)
        raise ValueError(strategy)


class mask_upside_down:
    """The mask is taken for one of padding, in mean and max.

    Named: pool_mask_inverted
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return hidden.masked_fill(m, 0.0).sum(1) / (~m).sum(1).clamp(min=1)
        elif strategy == "max":
            top = hidden.masked_fill(m, float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class last_position_for_cls:
    """cls reads the end of the text, as decoders do.

    Named: cls_is_last
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, -1]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            top = hidden.masked_fill(~m, float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class cls_of_the_first_text:
    """cls takes the first text of the batch.

    Named: cls_of_first_row
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            top = hidden.masked_fill(~m, float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


class unknown_is_none:
    """An unknown strategy gives None.

    Named: strategy_gives_none
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        elif strategy == "max":
            top = hidden.masked_fill(~m, float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)


class unknown_is_a_key_error:
    """An unknown strategy is looked up in a dictionary.

    Named: strategy_key_error
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        top = hidden.masked_fill(~m, float("-inf")).amax(1)
        return {
            "cls": hidden[:, 0],
            "mean": (hidden * m).sum(1) / m.sum(1).clamp(min=1),
            "max": torch.where(torch.isinf(top), torch.zeros_like(top), top),
        }[strategy]


class else_is_max:
    """The last branch has no question.

    Named: strategy_falls_through
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1)
        if strategy == "cls":
            return hidden[:, 0]
        if strategy == "mean":
            return (hidden * m).sum(1) / m.sum(1).clamp(min=1)
        top = hidden.masked_fill(~m, float("-inf")).amax(1)
        return torch.where(torch.isinf(top), torch.zeros_like(top), top)


class product_in_float:
    """The mean is made in float32 and stays there.

    Named: pool_float32
    """

    def pool(hidden, mask, strategy):
        m = mask.unsqueeze(-1).float()
        if strategy == "cls":
            return hidden[:, 0]
        elif strategy == "mean":
            return (hidden.float() * m).sum(1) / m.sum(1).clamp(min=1e-9)
        elif strategy == "max":
            top = hidden.masked_fill(m == 0, float("-inf")).amax(1)
            return torch.where(torch.isinf(top), torch.zeros_like(top), top)
        raise ValueError(strategy)


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


class no_mask_for_the_encoder:
    """A post-norm classifier pools by the mask, but the encoder never gets it.

    Named: attention_sees_padding
    """

    class EncoderClassifier:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout, norm_first=False)
        """

        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            hidden = self.encoder(self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)]))
            return self.head(pool(hidden, real, self.pooling))


class flat_mask:
    """The mask goes into the encoder as [B, T], which is not broadcast as it should be.

    Named: mask_not_broadcast
    """

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
            hidden = self.encoder(x, real)
            return self.head(pool(hidden, real, self.pooling))


class padding_mask_of_torch:
    """The mask is True at padding, as torch's own encoder wants it.

    Named: mask_inverted
    """

    class EncoderClassifier:
        def forward(self, tokens):
            padding = tokens.eq(self.pad_id)
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
            hidden = self.encoder(x, padding[:, None, None, :])
            return self.head(pool(hidden, ~padding, self.pooling))


class zero_is_padding:
    """Padding is found by truth, so it is always 0.

    Named: pad_id_ignored
    """

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.bool()
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
            hidden = self.encoder(x, real[:, None, None, :])
            return self.head(pool(hidden, real, self.pooling))


class everything_pooled:
    """The encoder gets the mask, and pooling gets one of ones.

    Named: padding_pooled
    """

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
            hidden = self.encoder(x, real[:, None, None, :])
            return self.head(pool(hidden, torch.ones_like(real), self.pooling))


class always_the_mean:
    """The classifier pools by the mean, whatever was asked for.

    Named: pooling_fixed
    """

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
            hidden = self.encoder(x, real[:, None, None, :])
            return self.head(pool(hidden, real, "mean"))


class log_probabilities:
    """The model ends with a log-softmax.

    Named: log_softmax_in_the_model
    """

    class EncoderClassifier:
        forward = """
            - return self.head(pool(hidden, real, self.pooling))  # and none of it is pooled
            + return self.head(pool(hidden, real, self.pooling)).log_softmax(dim=-1)
        """


class probabilities:
    """The model ends with a softmax module.

    Named: softmax_in_the_model
    """

    class EncoderClassifier:
        __init__ = """
            - self.head = nn.Linear(d_model, num_classes)
            + self.head = nn.Sequential(nn.Linear(d_model, num_classes), nn.Softmax(dim=-1))
        """


class logits_with_an_axis:
    """Every position is classified, and nothing is pooled.

    Named: logits_for_every_position
    """

    class EncoderClassifier:
        def forward(self, tokens):
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
            return self.head(self.encoder(x, tokens.ne(self.pad_id)[:, None, None, :]))


class features_without_gradients:
    """The encoder runs without gradients, as a frozen body would.

    Named: encoder_detached
    """

    class EncoderClassifier:
        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            with torch.no_grad():
                x = self.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)])
                hidden = self.encoder(x, real[:, None, None, :])
            return self.head(pool(hidden, real, self.pooling))


class dropout_not_passed:
    """The classifier's sizes are passed by name, and dropout is forgotten.

    Named: dropout_ignored
    """

    class EncoderClassifier:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, dropout)
            + self.dropout = nn.Identity()
            + self.encoder = Encoder(num_layers, d_model, num_heads=num_heads, d_ff=d_ff)
        """


class inputs_dropped_always:
    """The functional dropout of the embeddings is not told of the mode.

    Named: dropout_always
    """

    class EncoderClassifier:
        __init__ = """
            - self.dropout = nn.Dropout(dropout)
            + self.p = dropout
        """

        def forward(self, tokens):
            real = tokens.ne(self.pad_id)
            x = nn.functional.dropout(self.embedding(tokens) + self.positions[: tokens.size(1)], self.p)
            hidden = self.encoder(x, real[:, None, None, :])
            return self.head(pool(hidden, real, self.pooling))


class bert_lengths:
    """There are 512 learned positions, as in BERT, whatever max_len says.

    Named: positions_of_512
    """

    class EncoderClassifier:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.positions = nn.Parameter(torch.randn(512, d_model) * 0.02)
        """


class table_as_attribute:
    """The table of positions is an attribute that no cast reaches.

    Named: positions_keep_float32
    """

    class EncoderClassifier:
        __init__ = """
            - self.register_buffer("positions", sinusoidal_positions(max_len, d_model), persistent=False)
            + self.positions = sinusoidal_positions(max_len, d_model)
        """


class zero_grad_forgotten:
    """A loop over a DataLoader forgets zero_grad.

    Named: gradients_pile_up
    """

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(TensorDataset(tokens, labels), batch_size, shuffle=True, generator=generator)
        optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        model.train()
        history = []
        for epoch in range(epochs):
            running = 0.0
            for x, y in loader:
                loss = cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                running += loss.item() * len(y)
            history.append(running / len(tokens))
        return history


class zero_grad_once_an_epoch:
    """Gradients are emptied at the beginning of each epoch alone.

    Named: gradients_emptied_once_an_epoch
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        history = []
        for epoch in range(epochs):
            optimizer.zero_grad()
            running = 0.0
            for i in torch.randperm(len(tokens), generator=generator).split(batch_size):
                loss = cross_entropy(model(tokens[i]), labels[i])
                loss.backward()
                optimizer.step()
                running += loss.item() * len(i)
            history.append(running / len(tokens))
        return history


class zero_grad_before_the_step:
    """zero_grad stands between backward and step, in a loop over slices.

    Named: gradients_emptied_too_late
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.Adam(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            perm, total = torch.randperm(len(tokens), generator=generator), 0.0
            for s in range(0, len(tokens), batch_size):
                sel = perm[s : s + batch_size]
                loss = cross_entropy(model(tokens[sel]), labels[sel])
                loss.backward()
                opt.zero_grad()
                opt.step()
                total += loss.item() * sel.numel()
            out.append(total / len(tokens))
        return out


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


class mean_of_the_loader:
    """The losses of a DataLoader's batches are averaged by their number.

    Named: mean_over_a_loader, mean_of_batch_means
    """

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(
            TensorDataset(tokens, labels), batch_size=batch_size, shuffle=True, generator=generator
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        history = []
        for _ in range(epochs):
            model.train()
            running = 0.0
            for inputs, targets in loader:
                optimizer.zero_grad()
                loss = cross_entropy(model(inputs), targets)
                loss.backward()
                optimizer.step()
                running += loss.item()
            history.append(running / len(loader))
        return history


class numpy_mean_of_batches:
    """The losses of an epoch's batches are averaged as a list.

    Named: mean_of_batch_means, mean_over_a_loader
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        history = []
        model.train()
        for _ in range(epochs):
            losses = []
            for idx in torch.randperm(len(tokens), generator=generator).split(batch_size):
                optimizer.zero_grad()
                loss = cross_entropy(model(tokens[idx]), labels[idx])
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            history.append(sum(losses) / len(losses))
        return history


class loss_tensors_kept:
    """The epoch's losses are means of tensors, which stay tensors.

    Named: losses_as_tensors
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        history = []
        model.train()
        for _ in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(tokens), generator=generator).split(batch_size):
                optimizer.zero_grad()
                loss = cross_entropy(model(tokens[idx]), labels[idx])
                loss.backward()
                optimizer.step()
                total += loss.detach() * len(idx)
            history.append(total / len(tokens))
        return history


class returns_the_model:
    """fit returns the model, in the manner of another library.

    Named: model_returned
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        for _ in range(epochs):
            for idx in torch.randperm(len(tokens), generator=generator).split(batch_size):
                optimizer.zero_grad()
                cross_entropy(model(tokens[idx]), labels[idx]).backward()
                optimizer.step()
        return model


class prints_and_returns_nothing:
    """fit prints its losses and returns nothing.

    Named: losses_not_returned
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        for epoch in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(tokens), generator=generator).split(batch_size):
                optimizer.zero_grad()
                loss = cross_entropy(model(tokens[idx]), labels[idx])
                loss.backward()
                optimizer.step()
                total += loss.item() * len(idx)
            print(f"epoch {epoch}: {total / len(tokens):.4f}")


class loader_with_drop_last:
    """The DataLoader drops a short last batch.

    Named: last_batch_dropped
    """

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(
            TensorDataset(tokens, labels), batch_size, shuffle=True, drop_last=True, generator=generator
        )
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total, count = 0.0, 0
            for x, y in loader:
                opt.zero_grad()
                loss = cross_entropy(model(x), y)
                loss.backward()
                opt.step()
                total, count = total + loss.item() * len(x), count + len(x)
            out.append(total / max(count, 1))
        return out


class whole_batches_by_integer_division:
    """The number of batches is an integer division, so a rest is left out.

    Named: last_batch_dropped
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            order, total = torch.randperm(len(tokens), generator=generator), 0.0
            for b in range(len(tokens) // batch_size):
                i = order[b * batch_size : (b + 1) * batch_size]
                opt.zero_grad()
                loss = cross_entropy(model(tokens[i]), labels[i])
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
        return out


class loader_without_generator:
    """The DataLoader shuffles by the global generator.

    Named: generator_ignored
    """

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(TensorDataset(tokens, labels), batch_size=batch_size, shuffle=True)
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for x, y in loader:
                opt.zero_grad()
                loss = cross_entropy(model(x), y)
                loss.backward()
                opt.step()
                total += loss.item() * len(x)
            out.append(total / len(tokens))
        return out


class shuffled_once:
    """The order is drawn once, before the epochs.

    Named: order_drawn_once
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out, order = [], torch.randperm(len(tokens), generator=generator)
        for _ in range(epochs):
            total = 0.0
            for i in order.split(batch_size):
                opt.zero_grad()
                loss = cross_entropy(model(tokens[i]), labels[i])
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
        return out


class loader_not_shuffled:
    """The DataLoader is not told to shuffle.

    Named: never_shuffled
    """

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(TensorDataset(tokens, labels), batch_size=batch_size, generator=generator)
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for x, y in loader:
                opt.zero_grad()
                loss = cross_entropy(model(x), y)
                loss.backward()
                opt.step()
                total += loss.item() * len(x)
            out.append(total / len(tokens))
        return out


class labels_in_old_order:
    """Tokens are shuffled into a new tensor, labels are sliced as they stood.

    Named: labels_left_behind
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            shuffled, total = tokens[torch.randperm(len(tokens), generator=generator)], 0.0
            for s in range(0, len(tokens), batch_size):
                x, y = shuffled[s : s + batch_size], labels[s : s + batch_size]
                opt.zero_grad()
                loss = cross_entropy(model(x), y)
                loss.backward()
                opt.step()
                total += loss.item() * len(x)
            out.append(total / len(tokens))
        return out


class rate_of_the_default:
    """The optimizer is made without lr.

    Named: lr_ignored
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters())
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for i in torch.randperm(len(tokens), generator=generator).split(batch_size):
                opt.zero_grad()
                loss = cross_entropy(model(tokens[i]), labels[i])
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
        return out


class plain_descent:
    """The optimizer is plain SGD, which hardly moves at such an lr.

    Named: plain_sgd
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.SGD(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for i in torch.randperm(len(tokens), generator=generator).split(batch_size):
                opt.zero_grad()
                loss = cross_entropy(model(tokens[i]), labels[i])
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
        return out


class mode_never_set:
    """The mode of the model is left as it comes.

    Named: stays_in_eval_mode
    """

    from torch.utils.data import DataLoader, TensorDataset

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        loader = DataLoader(
            TensorDataset(tokens, labels), batch_size=batch_size, shuffle=True, generator=generator
        )
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        out = []
        for _ in range(epochs):
            total = 0.0
            for x, y in loader:
                opt.zero_grad()
                loss = cross_entropy(model(x), y)
                loss.backward()
                opt.step()
                total += loss.item() * len(x)
            out.append(total / len(tokens))
        return out


class evaluated_in_between:
    """After each epoch the accuracy is looked at in eval mode, and the mode is not set back.

    Named: eval_after_first_epoch
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.Adam(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for i in torch.randperm(len(tokens), generator=generator).split(batch_size):
                opt.zero_grad()
                loss = cross_entropy(model(tokens[i]), labels[i])
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
            model.eval()
            with torch.no_grad():
                accuracy = (model(tokens).argmax(-1) == labels).float().mean()
            print(f"{accuracy:.2f}")
        return out


class squared_error:
    """The loss is the squared distance from one-hot labels.

    Named: loss_not_cross_entropy
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for i in torch.randperm(len(tokens), generator=generator).split(batch_size):
                opt.zero_grad()
                logits = model(tokens[i])
                target = nn.functional.one_hot(labels[i], logits.shape[-1]).to(logits.dtype)
                loss = nn.functional.mse_loss(logits, target)
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
        return out


class softmax_before_the_loss:
    """fit takes the softmax and then cross-entropy, which takes it again.

    Named: softmax_in_fit
    """

    def fit(model, tokens, labels, *, epochs=10, batch_size=32, lr=1e-3, generator=None):
        opt = torch.optim.AdamW(model.parameters(), lr=lr)
        model.train()
        out = []
        for _ in range(epochs):
            total = 0.0
            for i in torch.randperm(len(tokens), generator=generator).split(batch_size):
                opt.zero_grad()
                loss = cross_entropy(model(tokens[i]).softmax(dim=-1), labels[i])
                loss.backward()
                opt.step()
                total += loss.item() * len(i)
            out.append(total / len(tokens))
        return out
