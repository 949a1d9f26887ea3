"""How the rate goes wrong.

A straight line from 0 to peak, half a cosine from there to floor, and floor for ever.
"""

mistake(
    "begins-with-one",
    "your warm-up runs one step ahead; the rate should be 0 at step 0 and reach peak at step = warmup",
    warmup_cosine="peak * step / warmup -> peak * (step + 1) / (warmup + 1)",
)

mistake(
    "cosine-from-step-zero",
    "your cosine counts from step 0; it should run from warmup to total",
    warmup_cosine="(step - warmup) / (total - warmup) -> step / total",
)

mistake(
    "falls-to-zero",
    "your cosine falls to 0; it should fall to floor",
    warmup_cosine="""
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return peak * (1 + math.cos(math.pi * share)) / 2
    """,
)

mistake(
    "floor-on-top",
    "your floor is added to the whole cosine, so it begins above peak; it should fall from peak to floor",
    warmup_cosine="""
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + peak * (1 + math.cos(math.pi * share)) / 2
    """,
)

mistake(
    "rises-again",
    "your cosine continues after total, where it rises again; the rate should stay at floor there",
    warmup_cosine="""
        - if step >= total:
        -     return float(floor)
    """,
)

mistake(
    "straight-down",
    "your rate falls in a straight line; it should follow half a cosine",
    warmup_cosine="(peak - floor) * (1 + math.cos(math.pi * share)) / 2 -> (peak - floor) * (1 - share)",
)

mistake(
    "quarter-of-a-cosine",
    "your cosine runs over a quarter of its circle; it should run from 0 to π, and so from 1 to -1",
    warmup_cosine="""
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + (peak - floor) * math.cos(math.pi / 2 * share)
    """,
)

mistake(
    "divided-by-no-warmup",
    "your code divides by warmup even when it is 0; with 0 the rate should begin at peak",
    warmup_cosine="step < warmup -> step < warmup or step / warmup < 1",
)

mistake(
    "first-rate-not-zero",
    "your warm-up counts from 1; the rate should be 0 at step 0 and first reach peak at step = warmup",
    warmup_cosine="peak * step / warmup -> peak * (step + 1) / warmup",
)

mistake(
    "half-forgotten",
    "your cosine starts at twice its height; divide 1 + cos by 2",
    warmup_cosine="""
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + (peak - floor) * (1 + math.cos(math.pi * share))
    """,
)

mistake(
    "whole-circle",
    "your cosine runs over its whole circle, down and up again; it should run from 0 to π, and so from 1 to -1",
    warmup_cosine="math.pi * share -> 2 * math.pi * share",
)

mistake(
    "pi-forgotten",
    "your cosine runs from 0 to 1, so the rate never falls far; it should run from 0 to π, and so from 1 to -1",
    warmup_cosine="math.pi * share -> share",
)

mistake(
    "cut-off-at-floor",
    "your cosine falls to 0 and is cut off at floor; half a cosine should lead from peak to floor itself",
    warmup_cosine="""
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return max(floor, peak * (1 + math.cos(math.pi * share)) / 2)
    """,
)

mistake(
    "zero-after-total",
    "your rate is 0 from total on; it should stay at floor",
    warmup_cosine="float(floor) -> 0.0",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
