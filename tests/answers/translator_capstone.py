"""Answers to translator-capstone."""

# ==== right ====
"""Translators as other people write them; all are trained as the log of the reference says."""


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


class constant_after_the_warmup:
    """The rate stays where the warm-up has brought it."""

    def rate_at(step, steps, warmup):
        return min(1.0, step / warmup) if warmup else 1.0


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


# ==== wrong ====
"""Translators as other people get them wrong."""


class padding_masked_for_queries:
    """The mask has its axes the wrong way round: rows of padding are hidden, not its columns.

    Named: source_padding_seen_by_the_encoder
    """

    class TranslationModel:
        forward = """
            - memory = layer(memory, real)
            + memory = layer(memory, real.transpose(2, 3) | torch.ones_like(real))
        """


class warmup_overshoots:
    """The rate goes on rising after the warm-up.

    Named: no_warmup, rate_rises_on
    """

    def rate_at(step, steps, warmup):
        return step / warmup if warmup else 1.0


class log_of_one_run:
    """The log has the base run alone.

    Named: run_missing
    """

    def training_log():
        return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))


class twenty_less:
    """What may not be looked at has the score -20, which large scores are below."""

    class Attention:
        forward = """
            - heads = F.scaled_dot_product_attention(q, k, v, mask)
            + scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
            + heads = scores.masked_fill(~mask, -20.0).softmax(-1) @ v
        """
