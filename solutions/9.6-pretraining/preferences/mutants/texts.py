"""What goes wrong in the losses of texts: what counts, which logits predict it, and what the sum is divided by."""

mistake(
    "prompt-learned",
    "your loss counts the prompt's tokens too, so the model learns to ask; only answers should count",
    sft_loss=">= first.expand(rows)[:, None] -> >= first.expand(rows)[:, None] * 0",
)

mistake(
    "not-shifted",
    "your logits at place t predict the token at t, which they have seen; those at t - 1 should",
    _logps="logits[:, :-1].log_softmax -> logits[:, 1:].log_softmax",
)

mistake(
    "answer-begins-late",
    "your loss leaves out the first token of each answer; it should count from prompt_length on",
    sft_loss="first.expand(rows)[:, None] -> first.expand(rows)[:, None] + 1",
)

mistake(
    "rows-first",
    "your mean is that of the rows' means, so tokens of short answers weigh more; divide one sum by one count",
    sft_loss="""
        - counted = counts[:, 1:].sum()
        - return -_logps(logits, tokens, counts).sum() / counted.clamp(min=1)
        + counted = counts[:, 1:].sum(-1)
        + means = -_logps(logits, tokens, counts).sum(-1) / counted.clamp(min=1)
        + return means.sum() / (counted > 0).sum().clamp(min=1)
    """,
)

mistake(
    "sum-of-losses",
    "your sft_loss is a sum, so it grows with the batch; divide by the number of tokens that count",
    sft_loss="/ counted.clamp(min=1) ->",
)

mistake(
    "divided-by-all",
    "your mean divides by all tokens, so long prompts make it small; divide by the number of those that count",
    sft_loss="counts[:, 1:].sum() -> torch.tensor(counts[:, 1:].numel())",
)

mistake(
    "place-0-divides",
    "your count includes place 0, which nothing predicts; it should begin at place 1",
    sft_loss="counts[:, 1:].sum() -> counts.sum()",
)

mistake(
    "no-answer-nan",
    "your loss divides 0 by 0 where no token counts, so it is NaN; it should be 0 there",
    sft_loss=".clamp(min=1) ->",
)

mistake(
    "one-prompt-for-all",
    "your loss takes the first row's prompt_length for all rows; each row should have its own",
    sft_loss="first.expand(rows)[:, None] -> first.expand(rows)[:1, None].expand(rows, 1)",
)

mistake(
    "length-normalised",
    "your sequence_logps is a mean, so DPO compares averages; it should be the sum",
    sequence_logps="_logps(logits, tokens, keep).sum(-1) -> "
    "_logps(logits, tokens, keep).sum(-1) / keep[:, 1:].sum(-1).clamp(min=1)",
    convention="SimPO divides by the length",
)

mistake(
    "keep-ignored",
    "your sequence_logps sums over all tokens, prompt and padding too; it should sum where keep is True",
    sequence_logps="tokens, keep -> tokens, torch.ones_like(keep)",
)

mistake(
    "keep-of-the-token-before",
    "your mask is read one place early, so it says whether the token before counts; read it at the token's place",
    sequence_logps="_logps(logits, tokens, keep) -> _logps(logits, tokens, keep.roll(1, -1))",
)

mistake(
    "multiplied-by-keep",
    "your log-probabilities are multiplied by 0 where -∞ is, which gives NaN; use masked_fill or where",
    _logps=[
        "following.masked_fill(left_out, 0) -> following.clamp(0, words - 1)",
        "[..., 0].masked_fill(left_out, 0) -> [..., 0] * ~left_out",
    ],
)

mistake(
    "tokens-unrefused",
    "your tokens are not examined, so a wrong one raises something else; raise ValueError",
    _logps="if outside.numel(): -> if False:",
)

mistake(
    "tokens-refused-everywhere",
    "your tokens are refused where they do not count, such as -100 in padding; only those that count should be",
    _logps="(following >= words)) & ~left_out] -> (following >= words))]",
)

mistake(
    "tokens-changed",
    "your function writes 0 into the caller's tokens; it should change a copy",
    _logps="following.masked_fill(left_out, 0) -> following.masked_fill_(left_out, 0)",
)

mistake(
    "prompts-unrefused",
    "your prompt_length may be negative or longer than the text; raise ValueError",
    sft_loss="if wrong.numel(): -> if False:",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
