"""What the balancing loss gets wrong: E · Σ f · P, where f counts all choices and P is the mean over all tokens."""

mistake(
    "without-the-number",
    "your loss lacks the factor E, so even routing gives 1 / E; multiply by the number of experts",
    balance_loss="return count * (share -> return (share",
)

mistake(
    "share-of-tokens",
    "your shares are divided by the number of tokens, so they add up to k; divide by the number of choices",
    balance_loss="experts.numel() -> (experts.numel() // experts.size(-1))",
    convention="some implementations leave the factor k in",
)

mistake(
    "first-choice-counted",
    "your shares count only each token's first choice; they should count all k",
    balance_loss="experts.flatten().bincount(minlength=count).double() / experts.numel() -> "
    "experts[..., 0].flatten().bincount(minlength=count).double() / experts[..., 0].numel()",
    convention="GShard counts first choices alone",
)

mistake(
    "own-choices",
    "your shares count the largest logits and not `experts`; they should count the choices that were made",
    balance_loss="experts.flatten().bincount(minlength=count).double() / experts.numel() -> "
    "logits.argmax(-1).flatten().bincount(minlength=count).double() / logits[..., 0].numel()",
)

mistake(
    "shares-up-to-the-last",
    "your shares end with the largest number that was chosen; count all E, also those that nobody chose",
    balance_loss="bincount(minlength=count) -> bincount()",
)

mistake(
    "probabilities-squared",
    "your loss multiplies the mean probabilities by themselves; one factor should be the share of choices",
    balance_loss="share.to(logits.dtype) * probability -> probability * probability",
)

mistake(
    "probabilities-detached",
    "your probabilities are detached, so nothing learns from the loss; its gradient should go through them",
    balance_loss="logits.softmax(dim=-1) -> logits.detach().softmax(dim=-1)",
)

mistake(
    "logits-averaged",
    "your P is the softmax of the mean logits; it should be the mean of the softmax",
    balance_loss="logits.softmax(dim=-1).reshape(-1, count).mean(dim=0) -> "
    "logits.reshape(-1, count).mean(dim=0).softmax(dim=-1)",
)

mistake(
    "summed-over-tokens",
    "your P is a sum over tokens, so the loss grows with the batch; it should be the mean",
    balance_loss=".mean(dim=0) -> .sum(dim=0)",
)

mistake(
    "share-in-float32",
    "your shares are float32, so a float64 loss is right to seven digits only; divide in float64",
    balance_loss=".double() / experts.numel() -> .float() / experts.numel()",
)

mistake(
    "loss-in-float32",
    "your loss is float32, whatever the logits are; it should have their dtype",
    balance_loss="return count * (share.to(logits.dtype) * probability).sum() -> "
    "return count * (share.to(logits.dtype) * probability).sum().float()",
)

mistake(
    "counted-in-the-dtype",
    "your choices are counted in the logits' dtype, and a count in bfloat16 stops at 256; count in int64",
    balance_loss="""
        - share = experts.flatten().bincount(minlength=count).double() / experts.numel()
        + ones = torch.ones(experts.numel(), dtype=logits.dtype, device=logits.device)
        + share = logits.new_zeros(count).index_add(0, experts.flatten(), ones) / experts.numel()
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
