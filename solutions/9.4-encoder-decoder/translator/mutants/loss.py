"""What the loss gets wrong: who counts, what is shared out, and to whom."""

mistake(
    "loss-counts-padding",
    "your loss counts targets that are padding; it should leave them out",
    smoothed_loss="losses[targets != pad_id] -> losses",
)

mistake(
    "padding-zeroed-but-counted",
    "your loss leaves padding out of the sum and divides by all positions; divide by those that count",
    smoothed_loss="losses[targets != pad_id] -> (losses * (targets != pad_id))",
)

mistake(
    "mean-of-rows",
    "your loss is a mean of the rows' means; it should be one mean over all targets that count, of all rows",
    smoothed_loss="""
        - return losses[targets != pad_id].mean()
        + real = (targets != pad_id).to(losses.dtype)
        + return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()
    """,
)

mistake(
    "loss-sum",
    "your loss is the sum over all targets; it should be their mean",
    smoothed_loss="losses[targets != pad_id].mean() -> losses[targets != pad_id].sum()",
)

mistake(
    "loss-padding-is-zero",
    "your loss always skips token 0; it should skip the token pad_id",
    smoothed_loss="targets != pad_id -> targets != 0",
)

mistake(
    "loss-shifts-again",
    "your loss shifts the targets by one, which the caller has done already; use them as they are",
    smoothed_loss="""
        + if logits.shape[1] > 1:
        +     logits, targets = logits[:, :-1], targets[:, 1:]
          logs = logits.log_softmax(dim=-1)
    """,
)

mistake(
    "smoothing-ignored",
    "your loss has no smoothing; every word should get smoothing / V",
    smoothed_loss="-(1 - smoothing) * right - smoothing * logs.mean(dim=-1) -> -right",
)

mistake(
    "smoothing-among-the-wrong",
    "your smoothing is spread over only the wrong words; every word should get smoothing / V, the right one too",
    smoothed_loss="""
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + others = (logs.sum(dim=-1) - right) / (logits.shape[-1] - 1)
        + losses = -(1 - smoothing) * right - smoothing * others
    """,
)

mistake(
    "smoothing-not-shared",
    "your smoothing goes to every word undivided; each should get smoothing / V",
    smoothed_loss="logs.mean(dim=-1) -> logs.sum(dim=-1)",
)

mistake(
    "smoothing-added",
    "your smoothing is added to a full target; the right word should get 1 - smoothing and its share",
    smoothed_loss="-(1 - smoothing) * right -> -right",
)

mistake(
    "log-of-softmax",
    "your loss takes the log of a softmax, which is -∞ where it rounds to 0; use log_softmax",
    smoothed_loss="logits.log_softmax(dim=-1) -> logits.softmax(dim=-1).log()",
)

mistake(
    "loss-of-float32",
    "your loss is always float32; it should have the dtype of the logits",
    smoothed_loss="logits.log_softmax(dim=-1) -> logits.float().log_softmax(dim=-1)",
)

mistake(
    "loss-by-rows",
    "your loss is divided by the number of rows; it should be the mean over all targets that count",
    smoothed_loss="losses[targets != pad_id].mean() -> losses[targets != pad_id].sum() / len(targets)",
)

mistake(
    "share-of-two-fewer",
    "your smoothing leaves out the right word and padding; each of the V words should get smoothing / V",
    smoothed_loss="""
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + others = (logs.sum(dim=-1) - right - logs[..., pad_id]) / (logits.shape[-1] - 2)
        + losses = -(1 - smoothing) * right - smoothing * others
    """,
)

mistake(
    "divergence-of-two-fewer",
    "your loss is a KL divergence with smoothing / (V - 2); it should be -Σ q · log p with smoothing / V for each word",
    smoothed_loss="""
        - losses = -(1 - smoothing) * right - smoothing * logs.mean(dim=-1)
        + wanted = torch.full_like(logs, smoothing / (logits.shape[-1] - 2))
        + wanted = wanted.scatter(-1, targets.unsqueeze(-1), 1 - smoothing)
        + wanted = wanted.masked_fill(torch.arange(logits.shape[-1], device=logits.device) == pad_id, 0.0)
        + losses = (torch.xlogy(wanted, wanted) - wanted * logs).sum(dim=-1)
    """,
)

mistake(
    "share-detached",
    "your loss detaches the other classes' share; gradients should flow through all of it",
    smoothed_loss="logs.mean(dim=-1) -> logs.mean(dim=-1).detach()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
