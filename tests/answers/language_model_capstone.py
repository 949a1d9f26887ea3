"""Answers to language-model-capstone."""

# ==== right ====
"""Language models as other people write them; all are trained as the log of the reference says."""


class nanogpt_attention:
    """Scores, a triangle of ones, -inf and a softmax, as nanoGPT has it without flash."""

    class Layer:
        def attend(self, x):
            B, T, C = x.size()
            q, k, v = self.qkv(x).split(C, dim=2)
            k = k.view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
            q = q.view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
            v = v.view(B, T, self.num_heads, C // self.num_heads).transpose(1, 2)
            att = (q @ k.transpose(-2, -1)) * (1.0 / k.size(-1) ** 0.5)
            mask = torch.tril(torch.ones(T, T, device=x.device)) == 0
            att = F.softmax(att.masked_fill(mask, float("-inf")), dim=-1)
            return self.out((att @ v).transpose(1, 2).contiguous().view(B, T, C))


class one_residual_for_both:
    """One line for both norms, in a loop over the sublayers."""

    class Layer:
        def forward(self, x):
            for norm, sublayer in [(self.norm1, self.attend), (self.norm2, self.think)]:
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


class cosine_after_the_warmup:
    """The rate falls along half a cosine."""

    def rate_at(step, steps, warmup):
        if step <= warmup:
            return step / warmup
        done = (step - warmup) / max(steps - warmup, 1)
        return 1.0 if step == 1 else 0.5 + 0.5 * __import__("math").cos(__import__("math").pi * done)


# ==== wrong ====
"""Language models as other people get them wrong."""


class first_norm_of_the_paper:
    """Whoever knows the paper of 2017 alone writes norm last, always.

    Named: always_norm_last
    """

    class Layer:
        def forward(self, x):
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.think(x))


class decay_alone:
    """The rate falls from the start, and nothing warms up.

    Named: no_warmup
    """

    def rate_at(step, steps, warmup):
        return 1 - (step - 1) / (steps + 1)


class log_of_one_run:
    """The log has the base run alone.

    Named: run_missing
    """

    def training_log():
        return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))


class last_norm_in_front:
    """With norm="last" only the first of a layer's norms is behind the sum."""

    class Layer:
        forward = """
            - return self.norm2(x + self.think(x))
            + return x + self.think(self.norm2(x))
        """


class ten_thousand_less:
    """What is to come has the score -10,000, which large scores are below."""

    class Layer:
        attend = """
            - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            + scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
            + future = torch.ones(q.size(2), q.size(2), dtype=torch.bool, device=x.device).triu(1)
            + heads = scores.masked_fill(future, -1e4).softmax(-1) @ v
        """


class positions_begin_anew:
    """Positions are counted to 64, and then from 0 again."""

    class LanguageModel:
        forward = """
            - x = x + self.positions.weight[: tokens.size(1)]
            + x = x + self.positions(torch.arange(tokens.size(1), device=tokens.device) % 64)
        """


class dtype_of_the_prompt:
    """What is written is of the dtype of the tokens that came."""

    generate = """
        - tokens = torch.cat((tokens, chosen), dim=1)
        + tokens = torch.cat((tokens, chosen.to(tokens.dtype)), dim=1)
    """


class last_loss_logged:
    """A row has the loss of the last position of each piece."""

    train = """
        - rows.append((step, loss.item(), rate))
        + rows.append((step, F.cross_entropy(logits[:, -1], batch[:, -1]).item(), rate))
    """


class first_thousand_pieces:
    """Pieces begin in the first thousand tokens."""

    train = """
        - begin = torch.randint(len(tokens) - length, (BATCH, 1), generator=chance)
        + begin = torch.randint(min(1000, len(tokens) - length), (BATCH, 1), generator=chance)
    """
