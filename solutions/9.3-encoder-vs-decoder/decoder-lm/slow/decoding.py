"""Models that are right and read again what they have read.

In training one pass under a causal mask does all positions; in generation a cache spares the past.
"""


@mistake(
    "token-by-token",
    "you read a text that is complete token by token in eval mode; read all positions in one pass under a causal "
    "mask",
    fails=["test_teacher_forcing_speed"],
)
class DecoderLM:
    def _read(self, tokens, cache=None):
        """Score the next token at each of the new positions: [B, T] -> [B, T, V]; return the longer past too."""
        pasts = cache if cache is not None else [None] * len(self.blocks)
        start = 0 if cache is None else cache[0][0].size(2)
        positions = torch.arange(start, start + tokens.size(1), device=tokens.device)
        x = self.dropout(self.token(tokens) + self.position(positions))  # [B, T, D]
        new = []
        for block, past in zip(self.blocks, pasts, strict=True):
            x, past = block(x, past)
            new.append(past)
        return self.head(self.norm(x)), new

    def forward(self, tokens, cache=None):
        if self.training:
            return self._read(tokens, cache)
        found = []
        for token in tokens.split(1, dim=1):
            logits, cache = self._read(token, cache)
            found.append(logits)
        return torch.cat(found, dim=1), cache


mistake(
    "rereading",
    "your cache is the text, and each step reads all of it again; store every layer's keys and values instead",
    fails=["test_decoding_speed"],
)

del Past


class Block:
    del _attend

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (self._heads(w(h)) for w in (self.attention.w_q, self.attention.w_k, self.attention.w_v))
        heads, _ = scaled_dot_product_attention(q, k, v, causal_mask(k.size(2), device=x.device))
        x = x + self.dropout(self.attention.w_o(heads.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.feed_forward(self.norm2(x)))


class DecoderLM:
    def forward(self, tokens, cache=None):
        text = tokens if cache is None else torch.cat((cache, tokens), dim=1)
        x = self.dropout(self.token(text) + self.position(torch.arange(text.size(1), device=text.device)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, -tokens.size(1) :])), text
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
