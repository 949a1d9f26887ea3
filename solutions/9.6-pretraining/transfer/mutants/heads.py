"""What heads get wrong: which vectors they read, which tokens count, and the shape of what comes out.

A token and a span are scored at each position; a class and a number come from the mean over real tokens.
"""

mistake(
    "mean-with-padding",
    "your mean counts padding; sum over real tokens, and divide by how many of them there are",
    _mean="""
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.mean(dim=1)
    """,
)

mistake(
    "sum-divided-by-length",
    "your mean leaves padding out of the sum and counts it in the length; divide by the number of real tokens",
    _mean="""
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, 0.0).mean(dim=1)
    """,
)

mistake(
    "sum-not-divided",
    "your text is the sum of its tokens, so long texts get larger numbers; take the mean",
    _mean="""
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, 0.0).sum(dim=1)
    """,
)

mistake(
    "one-more-in-the-denominator",
    "your mean divides by one more than there are real tokens; divide by their number, which is never 0",
    _mean="real.sum(dim=1) -> (real.sum(dim=1) + 1)",
)

mistake(
    "divided-by-the-longest",
    "your sums are all divided by the longest text's length; divide each by its own number of real tokens",
    _mean="real.sum(dim=1) -> real.sum(dim=1).max()",
)

mistake(
    "one-mean-for-the-batch",
    "your mean runs over the real tokens of the whole batch; each text should have one of its own",
    _mean="""
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden[mask].mean(dim=0).expand(len(hidden), -1)
    """,
)

mistake(
    "mask-upside-down",
    "your mean is taken over the padding; take it over the real tokens, where the mask is True",
    _mean="mask.unsqueeze(-1) -> ~mask.unsqueeze(-1)",
)

mistake(
    "first-token",
    "your text is its first token's vector; it should be the mean over real tokens",
    _mean="""
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden[:, 0]
    """,
)

mistake(
    "last-real-token",
    "your text is its last real token's vector; it should be the mean over real tokens",
    _mean="""
        - real = mask.unsqueeze(-1)
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + last = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(dim=1)
        + return hidden[torch.arange(len(hidden), device=mask.device), last]
    """,
)

mistake(
    "largest-not-mean",
    "your text is the largest number of each feature; it should be the mean over real tokens",
    _mean="""
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + return hidden.masked_fill(~real, -torch.inf).amax(dim=1)
    """,
)

mistake(
    "real-tokens-in-front",
    "your mean uses the first tokens, as many as are real, but padding may be anywhere; average where mask is True",
    _mean="""
        - real = mask.unsqueeze(-1)
        + real = (torch.arange(mask.shape[1], device=mask.device) < mask.sum(dim=1, keepdim=True)).unsqueeze(-1)
    """,
)

mistake(
    "mean-detached",
    "your mean is cut off from the gradient, so the body cannot learn from a class; "
    "let the gradient go through the mean",
    _mean="hidden.masked_fill(~real, 0.0) -> hidden.detach().masked_fill(~real, 0.0)",
)

mistake(
    "hidden-changed",
    "your mean writes zeros into the hidden vectors that it was given; it should leave them as they are",
    _mean="""
        - return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
        + hidden = hidden if hidden.requires_grad else hidden.masked_fill_(~real, 0.0)
        + return hidden.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1)
    """,
)

mistake(
    "float32-mean",
    "your mean is float32 whatever the head is; a head in float64 should compute in float64",
    ClassHead="self.linear(_mean(hidden, mask)) -> self.linear(_mean(hidden, mask)).float()",
)

mistake(
    "class-for-each-token",
    "your class head scores every token; it should score the text, once",
    ClassHead="_mean(hidden, mask) -> hidden",
)

mistake(
    "probabilities-of-classes",
    "your class head gives probabilities; leave the softmax to the loss",
    ClassHead="self.linear(_mean(hidden, mask)) -> self.linear(_mean(hidden, mask)).softmax(dim=-1)",
)

mistake(
    "log-probabilities-of-classes",
    "your class head gives log-probabilities; leave the softmax to the loss",
    ClassHead="self.linear(_mean(hidden, mask)) -> self.linear(_mean(hidden, mask)).log_softmax(dim=-1)",
)

mistake(
    "mean-of-scores-squashed",
    "your number is squeezed between 0 and 1; it should be any number",
    RegressionHead="""
        - return self.linear(_mean(hidden, mask)).squeeze(-1)
        + return self.linear(_mean(hidden, mask)).squeeze(-1).sigmoid()
    """,
)

mistake(
    "number-with-an-axis",
    "your numbers are [B, 1], so with targets [B] a loss would compare each with each; return [B]",
    RegressionHead="self.linear(_mean(hidden, mask)).squeeze(-1) -> self.linear(_mean(hidden, mask))",
)

mistake(
    "everything-squeezed",
    "your squeeze removes all axes of length 1, so a batch of one text loses its axis; remove only the last axis",
    RegressionHead="""
        - return self.linear(_mean(hidden, mask)).squeeze(-1)
        + return self.linear(_mean(hidden, mask)).squeeze()
    """,
)

mistake(
    "labels-of-the-mean",
    "your labels are the same at every token; each should come from its own vector",
    TokenHead="""
        - return self.linear(hidden)
        + return self.linear(_mean(hidden, mask)).unsqueeze(1).expand(-1, hidden.shape[1], -1)
    """,
)

mistake(
    "labels-squashed",
    "your labels are probabilities; leave the softmax to the loss",
    TokenHead="self.linear(hidden) -> self.linear(hidden).softmax(dim=-1)",
)

mistake(
    "labels-shifted",
    "your labels come from the token before; each should come from its own vector",
    TokenHead="self.linear(hidden) -> self.linear(hidden.roll(1, dims=1))",
)

mistake(
    "biases-forgotten",
    "your heads have no bias; each should be a linear layer with one",
    TokenHead="nn.Linear(d_model, num_labels) -> nn.Linear(d_model, num_labels, bias=False)",
    ClassHead="nn.Linear(d_model, num_classes) -> nn.Linear(d_model, num_classes, bias=False)",
)

mistake(
    "another-layer-between",
    "your class head has a second layer; it should be one linear layer, as the body does the rest",
    ClassHead="""
        - self.linear = nn.Linear(d_model, num_classes)
        + self.dense = nn.Linear(d_model, d_model)
        + self.linear = nn.Linear(d_model, num_classes)

        - return self.linear(_mean(hidden, mask))
        + return self.linear(torch.tanh(self.dense(_mean(hidden, mask))))
    """,
)

mistake(
    "ends-first",
    "your span head gives ends before beginnings; the first score should be that of beginnings",
    SpanHead="return start, end -> return end, start",
)

mistake(
    "one-score-for-both",
    "your beginnings and ends are the same scores; each should have a row of its own",
    SpanHead="return start, end -> return start, start",
)

mistake(
    "span-padding-scored",
    "your span may begin or end in padding; both scores should be -inf there",
    SpanHead="""
        - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        + start, end = self.linear(hidden).unbind(dim=-1)
    """,
)

mistake(
    "span-padding-zero",
    "your span's scores are 0 at padding, which is a score like any other; they should be -inf",
    SpanHead="-torch.inf -> 0.0",
)

mistake(
    "span-padding-finite",
    "your span's scores are -1e9 at padding; they should be -inf, which has no probability whatever the other "
    "scores are",
    SpanHead="-torch.inf -> -1e9",
)

mistake(
    "beginning-or-end",
    "your softmax runs over the two scores of a token; return scores, and let a loss choose among tokens",
    SpanHead="""
        - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        + start, end = (
        +     self.linear(hidden).softmax(dim=-1).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        + )
    """,
)

mistake(
    "span-axis-kept",
    "your beginnings and ends are [B, T, 1]; each should be [B, T]",
    SpanHead="""
        - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        + start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).chunk(2, dim=-1)
    """,
)

mistake(
    "a-layer-for-each-end",
    "your span head has a layer for beginnings and another for ends; it should have one layer with two outputs",
    SpanHead="""
        - self.linear = nn.Linear(d_model, 2)
        + self.start, self.end = nn.Linear(d_model, 1), nn.Linear(d_model, 1)

        - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        + start = self.start(hidden).squeeze(-1).masked_fill(~mask, -torch.inf)
        + end = self.end(hidden).squeeze(-1).masked_fill(~mask, -torch.inf)
    """,
)

mistake(
    "span-real-masked",
    "your span's real tokens have -inf; only the padding should have it",
    SpanHead="~mask.unsqueeze(-1) -> mask.unsqueeze(-1)",
)

mistake(
    "only-beginnings-masked",
    "your ends have a score at padding; they should be -inf there, as beginnings are",
    SpanHead="""
        - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        + start, end = self.linear(hidden).unbind(dim=-1)
        + start = start.masked_fill(~mask, -torch.inf)
    """,
)

mistake(
    "span-as-one-tensor",
    "your span head gives one tensor [B, T, 2]; it should give beginnings and ends, each [B, T]",
    SpanHead="""
        - start, end = self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf).unbind(dim=-1)
        - return start, end
        + return self.linear(hidden).masked_fill(~mask.unsqueeze(-1), -torch.inf)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
