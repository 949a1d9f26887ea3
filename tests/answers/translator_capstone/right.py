"""Translators as other people write them; all are trained as the log of the reference says."""


class scores_by_hand:
    """Scores, a mask of -inf and a softmax."""

    class Attention:
        forward = """
            - heads = F.scaled_dot_product_attention(q, k, v, mask)
            + scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
            + heads = scores.masked_fill(mask.logical_not(), float("-inf")).softmax(dim=-1) @ v
        """


class additive_mask:
    """A mask of numbers that is added."""

    class Attention:
        forward = """
            - heads = F.scaled_dot_product_attention(q, k, v, mask)
            + added = torch.zeros(mask.shape, dtype=q.dtype, device=q.device).masked_fill(~mask, float("-inf"))
            + heads = F.scaled_dot_product_attention(q, k, v, attn_mask=added)
        """


class sublayers_one_after_the_other:
    """Three sublayers written out for both norms."""

    class Layer:
        def forward(self, x, mask, memory=None, memory_mask=None):
            if self.norm_first:
                y = self.norms[0](x)
                x = x + self.attention(y, y, mask)
                if self.crossing is not None:
                    x = x + self.crossing(self.norms[1](x), memory, memory_mask)
                return x + self.linear2(F.relu(self.linear1(self.norms[-1](x))))
            x = self.norms[0](x + self.attention(x, x, mask))
            if self.crossing is not None:
                x = self.norms[1](x + self.crossing(x, memory, memory_mask))
            return self.norms[-1](x + self.linear2(F.relu(self.linear1(x))))


class positions_by_lookup:
    """Positions are looked up with arange."""

    class TranslationModel:
        def placed(self, x, which):
            if self.places is None:
                return x
            return x + self.places[which](torch.arange(x.size(1), device=x.device))


class causal_by_comparison:
    """The causal mask from comparing positions."""

    class TranslationModel:
        forward = """
            - past = torch.ones(time, time, dtype=torch.bool, device=target.device).tril()
            + place = torch.arange(time, device=target.device)
            + past = place[None, :] <= place[:, None]
        """


class loss_over_words:
    """Words are chosen with a mask first."""

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + word = wanted != PAD
        + loss = F.cross_entropy(logits[word], wanted[word])
    """


class loss_transposed:
    """The vocabulary as the second axis, as cross_entropy likes it."""

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + loss = F.cross_entropy(logits.transpose(1, 2), wanted, ignore_index=0)
    """


class begun_by_roll:
    """The decoder's input by rolling the target and writing BOS in front."""

    train = """
        - written = torch.cat((torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]), dim=1)
        + written = wanted.roll(1, dims=1)
        + written[:, 0] = BOS
    """


class constant_after_the_warmup:
    """The rate stays where the warm-up has brought it."""

    def rate_at(step, steps, warmup):
        return min(1.0, step / warmup) if warmup else 1.0


class adamw_without_decay:
    """AdamW without decay."""

    train = """
        - optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98))
        + optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.0)
    """


class written_into_a_tensor:
    """Room for all words is made first, and filled."""

    def translate(model, source, *, max_len):
        was = model.training
        model.eval()
        out = source.new_full((source.size(0), max_len), model.pad_id)
        begun, done = source.new_full((source.size(0), 1), BOS), source.new_zeros(source.size(0)).bool()
        with torch.no_grad():
            for t in range(max_len):
                word = model(source, begun)[:, -1].argmax(-1)
                out[~done, t] = word[~done]
                done = done | (word == EOS)
                begun = torch.cat([begun, word[:, None]], 1)
        model.train(was)
        return out


class log_with_line_ends_of_windows:
    """The log as an editor on Windows saves it."""

    def training_log():
        return LOG.replace("\n", "\r\n") + "\r\n"
