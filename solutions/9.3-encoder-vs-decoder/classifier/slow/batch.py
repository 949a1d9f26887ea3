"""Classifiers that are right and waste what a batch is for."""


class one_text_at_a_time:
    """you encode one text after the other: the encoder takes the whole batch at once

    Fails: test_batch_speed
    """

    class EncoderClassifier:
        def forward(self, tokens):
            return torch.cat([self._classify(text) for text in tokens.split(1)])

        def _classify(self, tokens):
            real = tokens != self.pad_id  # [B, T]
            x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
            hidden = self.encoder(x, real[:, None, None, :])  # no position attends to padding
            return self.head(pool(hidden, real, self.pooling))  # and none of it is pooled


class pooled_row_by_row:
    """you pool one text after the other in Python: sum over the time axis of the whole batch, with padding set to 0

    Fails: test_batch_speed
    """

    pool = """
        - return hidden.masked_fill(padding, 0.0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        + return torch.stack([_mean(row[real]) for row, real in zip(hidden, mask, strict=True)])
    """

    def _mean(vectors):
        return vectors.sum(dim=0) / max(len(vectors), 1)


class one_hot:
    """you multiply one-hot vectors as wide as the vocabulary by the table of word vectors: take the rows by their index

    Fails: test_vocabulary_speed
    """

    class EncoderClassifier:
        forward = """
            - x = self.dropout(self.embedding(tokens) + self.positions[: tokens.shape[1]])
            + one_hot = nn.functional.one_hot(tokens, self.embedding.num_embeddings).to(self.embedding.weight.dtype)
            + x = self.dropout(one_hot @ self.embedding.weight + self.positions[: tokens.shape[1]])
        """
