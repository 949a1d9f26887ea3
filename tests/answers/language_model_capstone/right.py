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


class head_by_head:
    """A loop over heads, each with its own columns."""

    class Layer:
        def attend(self, x):
            made = []
            q, k, v = self.qkv(x).chunk(3, -1)
            for a, b, c in zip(*(part.chunk(self.num_heads, -1) for part in (q, k, v)), strict=True):
                scores = torch.einsum("btd,bsd->bts", a, b) / a.size(-1) ** 0.5
                scores = scores + torch.full_like(scores, float("-inf")).triu(1)
                made.append(scores.softmax(-1) @ c)
            return self.out(torch.cat(made, -1))


class positions_by_lookup:
    """Positions are looked up with arange, as tokens are."""

    class LanguageModel:
        forward = """
            - x = x + self.positions.weight[: tokens.size(1)]
            + x = x + self.positions(torch.arange(tokens.size(1), device=tokens.device))
        """


class one_residual_for_both:
    """One line for both norms, in a loop over the sublayers."""

    class Layer:
        def forward(self, x):
            for norm, sublayer in [(self.norm1, self.attend), (self.norm2, self.think)]:
                x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            return x


class loss_by_hand:
    """The loss from log_softmax and gather."""

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + logs = logits.log_softmax(dim=-1)
        + loss = -logs.gather(-1, batch[:, 1:].unsqueeze(-1)).mean()
    """


class cosine_after_the_warmup:
    """The rate falls along half a cosine."""

    def rate_at(step, steps, warmup):
        if step <= warmup:
            return step / warmup
        done = (step - warmup) / max(steps - warmup, 1)
        return 1.0 if step == 1 else 0.5 + 0.5 * __import__("math").cos(__import__("math").pi * done)


class constant_after_the_warmup:
    """The rate stays where the warm-up has brought it, by a min."""

    def rate_at(step, steps, warmup):
        return min(1.0, step / warmup) if warmup else 1.0


class pieces_stacked:
    """Pieces are cut one by one and stacked."""

    train = """
        - batch = tokens[(begin + window).to(tokens.device)]
        + batch = torch.stack([tokens[b : b + length + 1] for b in begin.flatten().tolist()])
    """


class adamw_without_decay:
    """AdamW without decay, and its gradients set to None."""

    train = """
        - optimizer = torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.95))
        + optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.0)

        - optimizer.param_groups[0]["lr"] = rate
        + for group in optimizer.param_groups:
        +     group["lr"] = rate
    """


class gumbel:
    """Tokens are drawn as the largest of noisy logits."""

    generate = """
        - shares = (logits / temperature).softmax(dim=-1)
        - chosen = torch.multinomial(shares, 1, generator=generator)
        + u = torch.rand(logits.shape, generator=generator, device=logits.device).clamp(1e-9, 1 - 1e-7)
        + chosen = (logits / temperature - (-u.log()).log()).argmax(dim=-1, keepdim=True)
    """


class written_into_a_tensor:
    """Room for all tokens is made first, and filled."""

    generate = """
        - for _ in range(count):
        -     logits = model(tokens[:, -model.max_len :])[:, -1]
        + T = tokens.size(1)
        + room = torch.cat((tokens, tokens.new_zeros(len(tokens), count)), dim=1)
        + for end in range(T, T + count):
        +     logits = model(room[:, max(0, end - model.max_len) : end])[:, -1]

        - tokens = torch.cat((tokens, chosen), dim=1)
        + room[:, end] = chosen.squeeze(1)

        - return tokens
        + return room
    """


class log_with_line_ends_of_windows:
    """The log as an editor on Windows saves it, with an empty line at its end."""

    def training_log():
        return LOG.replace("\n", "\r\n") + "\r\n"
