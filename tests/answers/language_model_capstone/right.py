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
