"""How repetition is punished, and surprise measured, wrongly.

A penalty makes every token that occurred less likely, once; perplexity is exp of the mean loss over what counts.
"""

mistake(
    "always-divided",
    "your penalty divides logits below 0 as well, which makes their tokens likelier; multiply those",
    repetition_penalty="torch.where(logits > 0, logits / penalty, logits * penalty) -> logits / penalty",
)

mistake(
    "signs-exchanged",
    "your penalty multiplies logits above 0 and divides the others, so it rewards repetition; exchange the two",
    repetition_penalty="logits / penalty, logits * penalty -> logits * penalty, logits / penalty",
)

mistake(
    "always-multiplied",
    "your penalty multiplies every logit, which makes a token more likely above 0; divide there",
    repetition_penalty="torch.where(logits > 0, logits / penalty, logits * penalty) -> logits * penalty",
)

mistake(
    "penalty-subtracted",
    "your penalty is subtracted from the logits; divide those above 0 by it, and multiply the others",
    repetition_penalty="torch.where(logits > 0, logits / penalty, logits * penalty) -> logits - penalty",
)

mistake(
    "others-penalised",
    "your penalty lowers the tokens that have not occurred; it should lower those that have",
    repetition_penalty="lowered, logits -> logits, lowered",
)


@mistake(
    "once-each-time",
    "your penalty is applied again each time a token occurs; apply it a single time, however often the token occurred",
)
def repetition_penalty(logits, tokens, penalty):
    counts = torch.zeros_like(logits).scatter_add(-1, tokens, torch.ones_like(tokens, dtype=logits.dtype))
    factor = penalty**counts
    return torch.where(logits > 0, logits / factor, logits * factor)


mistake(
    "tokens-of-all-rows",
    "your penalty takes the tokens of all rows together; each row should use its own text",
    repetition_penalty="""
        + tokens = tokens.flatten().expand(len(logits), -1)
          occurred = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, tokens, True)
    """,
)

mistake(
    "loss-itself",
    "your perplexity is the mean loss; it should be exp of it",
    perplexity="losses.mean().exp() -> losses.mean()",
)

mistake(
    "two-to-the-loss",
    "your perplexity is 2 to the power of a loss in nats; the base should be that of the logarithm, e",
    perplexity="losses.mean().exp() -> 2 ** losses.mean()",
)

mistake(
    "sum-of-losses",
    "your perplexity is exp of the sum of the losses; take their mean",
    perplexity="losses.mean() -> losses.sum()",
)

mistake(
    "mean-of-rows",
    "your perplexity is the mean of each row's; take the mean over all targets, before exp",
    perplexity="""
        - if pad_id is not None:
        -     losses = losses[targets != pad_id]
        - return float(losses.mean().exp())
        + counts = torch.ones_like(losses) if pad_id is None else (targets != pad_id).to(losses.dtype)
        + return float(((losses * counts).sum(-1) / counts.sum(-1).clamp(min=1)).exp().mean())
    """,
)

mistake(
    "mean-of-probabilities",
    "your perplexity takes the mean of the probabilities; take the mean of their logarithms",
    perplexity="losses.mean() -> (-(-losses).exp().mean())",
)

mistake(
    "mean-of-perplexities",
    "your perplexity is the mean of each target's exp(-log p); take the mean first, exp after it",
    perplexity="losses.mean().exp() -> losses.exp().mean()",
)

mistake(
    "shifted-here",
    "your perplexity shifts the targets by one; use them as they are, as they match the logits",
    perplexity="""
        + logits, targets = logits[:, :-1], targets[:, 1:]
          losses = -logits.log_softmax(dim=-1).gather(-1, targets[..., None]).squeeze(-1)  # [B, T]
    """,
)

mistake(
    "padding-counted",
    "your perplexity counts padding; leave targets that are pad_id out of the mean",
    perplexity="pad_id is not None -> False",
)

mistake(
    "padding-in-the-count",
    "your perplexity divides by all targets; divide by those that count",
    perplexity="losses[targets != pad_id] -> losses * (targets != pad_id)",
)

mistake(
    "zero-always-padding",
    "your perplexity leaves target 0 out where no pad_id is given; it should count all targets then",
    perplexity="""
        - if pad_id is not None:
        -     losses = losses[targets != pad_id]
        + losses = losses[targets != (pad_id or 0)]
    """,
)

mistake(
    "softmax-over-positions",
    "your perplexity takes log_softmax over the positions; take it over the vocabulary, the last axis",
    perplexity="logits.log_softmax(dim=-1) -> logits.log_softmax(dim=1)",
)

mistake(
    "log-of-softmax",
    "your perplexity takes log(softmax), so it is infinite where a probability rounds to 0; use log_softmax",
    perplexity="logits.log_softmax(dim=-1) -> logits.softmax(dim=-1).log()",
)

mistake(
    "perplexity-tensor",
    "your perplexity is a tensor; it should be a Python float",
    perplexity="float(losses.mean().exp()) -> losses.mean().exp()",
)

mistake(
    "padding-alone",
    "your perplexity is that of the padding; it should leave out targets that are pad_id",
    perplexity="losses[targets != pad_id] -> losses[targets == pad_id]",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
