"""Classifiers that are right and waste what a batch is for."""


@mistake(
    "one-text-at-a-time",
    "you encode one text after the other; give the encoder the whole batch at once",
    fails=["test_batch_speed"],
)
class EncoderClassifier:
    def forward(self, tokens):
        return torch.cat([self._classify(text) for text in tokens.split(1)])

    def _classify(self, tokens):
        real = tokens != self.pad_id  # [B, T]
        x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
        hidden = self.encoder(x, real[:, None, None, :])  # no position attends to padding
        return self.head(pool(hidden, real, self.pooling))  # and none of it is pooled


mistake(
    "pooled-row-by-row",
    "you pool one text after the other in Python; sum over the time axis of the whole batch, with padding set to 0",
    pool="""
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return torch.stack([_mean(row[real]) for row, real in zip(hidden, mask, strict=True)])
    """,
    fails=["test_batch_speed"],
)


def _mean(vectors):
    return vectors.sum(dim=0) / max(len(vectors), 1)


mistake(
    "one-hot",
    "you multiply one-hot vectors as wide as the vocabulary by the table of word vectors; take the rows by their "
    "index",
    EncoderClassifier="""
        - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
        + one_hot = nn.functional.one_hot(tokens, self.embedding.num_embeddings).to(self.embedding.weight.dtype)
        + x = self.dropout(one_hot @ self.embedding.weight + self.positions[: tokens.shape[1]])
    """,
    fails=["test_vocabulary_speed"],
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
