"""What goes wrong in GRPO: advantages within a group, a ratio that is clipped on one side, and two means."""

mistake(
    "sample-deviation",
    "your deviation is divided by N - 1, so advantages are too small; divide by N",
    group_advantages="away.square().mean(-1, keepdim=True).sqrt() -> rewards.std(-1, keepdim=True)",
    convention="TRL divides by N - 1",
)

mistake(
    "small-number-added",
    "your deviation has a small number added, so small rewards give small advantages; add nothing",
    group_advantages="(away / deviation) -> (away / (deviation + 1e-4))",
    convention="TRL adds 1e-4",
)

mistake(
    "not-divided",
    "your advantages are not divided by the deviation; divide by that of the group",
    group_advantages="away / deviation -> away",
    convention="Dr. GRPO does not divide",
)

mistake(
    "all-groups-together",
    "your mean is that of all groups, so hard prompts get bad advantages only; take each group's own",
    group_advantages="rewards.mean(-1, keepdim=True) -> rewards.mean()",
)

mistake(
    "equal-nan",
    "your advantages are 0 / 0 where all rewards are equal, so they are NaN; they should be 0",
    group_advantages=".masked_fill(equal, 0) ->",
)

mistake(
    "rounded-mean",
    "your advantages of equal rewards divide rounding by rounding; compare the rewards and give exactly 0",
    group_advantages="equal = (rewards == rewards[:, :1]).all(-1, keepdim=True) -> equal = deviation == 0",
)

mistake(
    "not-clipped",
    "your loss takes the ratio as it is, so one batch may move the model far; take the smaller product",
    grpo_loss="torch.minimum(ratio * worth, ratio.clamp(1 - clip, 1 + clip) * worth) -> (ratio * worth)",
)

mistake(
    "always-clipped",
    "your loss takes only the clipped ratio, so what is outside learns nothing; use the smaller product",
    grpo_loss="torch.minimum(ratio * worth, ratio.clamp(1 - clip, 1 + clip) * worth) -> "
    "(ratio.clamp(1 - clip, 1 + clip) * worth)",
)

mistake(
    "larger-product",
    "your loss takes the larger product, so clipping acts on the wrong side; take the smaller",
    grpo_loss="torch.minimum -> torch.maximum",
)

mistake(
    "smaller-ratio",
    "your loss takes the smaller ratio before A multiplies it, which is wrong if A is negative; compare products",
    grpo_loss="torch.minimum(ratio * worth, ratio.clamp(1 - clip, 1 + clip) * worth) -> "
    "(torch.minimum(ratio, ratio.clamp(1 - clip, 1 + clip)) * worth)",
)

mistake(
    "held-above-only",
    "your ratio has no lower bound, so bad answers fall without end; it should be clipped at 1 - clip as well",
    grpo_loss="clamp(1 - clip, 1 + clip) -> clamp(max=1 + clip)",
)

mistake(
    "tokens-together",
    "your mean is over the tokens of all answers, so long ones weigh more; take each row's mean first",
    grpo_loss="""
        - means = loss.sum(-1) / tokens.clamp(min=1)
        - return means.sum() / (tokens > 0).sum().clamp(min=1)
        + return loss.sum() / tokens.sum().clamp(min=1)
    """,
    convention="DAPO takes one mean",
)

mistake(
    "rows-summed",
    "your loss sums the tokens of each row, so long answers weigh more; take the mean of each row",
    grpo_loss="loss.sum(-1) / tokens.clamp(min=1) -> loss.sum(-1)",
)

mistake(
    "padding-divides",
    "your mean of a row divides by T, padding included; divide by the number of kept tokens",
    grpo_loss="loss.sum(-1) / tokens.clamp(min=1) -> loss.mean(-1)",
)

mistake(
    "empty-rows-divide",
    "your mean counts rows that keep nothing; divide by the number of rows that keep something",
    grpo_loss="means.sum() / (tokens > 0).sum().clamp(min=1) -> means.mean()",
)

mistake(
    "nothing-kept-nan",
    "your loss divides by 0 rows where nothing is kept, so it is NaN; it should be 0 there",
    grpo_loss=".sum().clamp(min=1) -> .sum()",
)

mistake(
    "masked-too-late",
    "your mask comes after exp, so NaN reaches the gradient as 0 · NaN; it should come before",
    grpo_loss="(logps.masked_fill(~keep, 0) - old_logps.detach().masked_fill(~keep, 0)).exp() -> "
    "(logps - old_logps.detach()).exp()",
)

mistake(
    "keep-left-out",
    "your loss counts tokens that are not kept; only kept ones should count",
    grpo_loss="""
          # Before exp: a NaN that is only left out afterwards still reaches the gradient, as 0 · NaN.
        + keep = torch.ones_like(keep)
    """,
)

mistake(
    "old-learns",
    "your gradient reaches old_logps; it should reach only logps",
    grpo_loss="old_logps.detach().masked_fill -> old_logps.masked_fill",
)

mistake(
    "advantages-learn",
    "your gradient reaches the advantages; it should reach only logps",
    grpo_loss="advantages.detach() -> advantages",
)

mistake(
    "clip-unrefused",
    "your clip may be anything; raise ValueError unless it is above 0 and below 1",
    grpo_loss="not 0 < clip < 1 -> False",
)

mistake(
    "deviation-plus-eps",
    "your deviation has something added to it, so small rewards give small advantages; nothing should be added",
    group_advantages="away / deviation -> away / (deviation + 1e-6)",
)

mistake(
    "verdicts-as-they-are",
    "your rewards stay whole numbers or bool, of which torch takes no mean; they should become float32 first",
    group_advantages="rewards.detach() if rewards.is_floating_point() else rewards.float() -> rewards.detach()",
)

mistake(
    "whole-ratio-detached",
    "your unclipped product has no gradient, so nothing is learned inside the range; only old_logps should have none",
    grpo_loss="torch.minimum(ratio * worth -> torch.minimum(ratio.detach() * worth",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
