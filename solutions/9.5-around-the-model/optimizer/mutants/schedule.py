"""How the rate goes wrong.

A straight line from 0 to peak, half a cosine from there to floor, and floor for ever.
"""


class begins_with_one:
    """your warm-up is one step ahead: step 0 has the rate 0, and step = warmup has peak

    Fails: test_warmup
    """

    warmup_cosine = """
        - return peak * step / warmup
        + return peak * (step + 1) / (warmup + 1)
    """


class cosine_from_step_zero:
    """your cosine counts from step 0: it begins at warmup, it runs from there to total

    Fails: test_cosine
    """

    warmup_cosine = """
        - share = (step - warmup) / (total - warmup)
        + share = step / total
    """


class falls_to_zero:
    """your cosine falls to 0, not to floor

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return peak * (1 + math.cos(math.pi * share)) / 2
    """


class floor_on_top:
    """your floor is added to the whole cosine: it then begins above peak

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + peak * (1 + math.cos(math.pi * share)) / 2
    """


class rises_again:
    """your cosine continues after total, where it rises again

    Fails: test_after
    """

    warmup_cosine = """
        - if step >= total:
        -     return float(floor)
    """


class straight_down:
    """your rate falls in a straight line: half a cosine is asked for

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + (peak - floor) * (1 - share)
    """


class quarter_of_a_cosine:
    """your cosine runs over a quarter of its circle: from 0 to π it goes from 1 to -1

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + (peak - floor) * math.cos(math.pi / 2 * share)
    """


class divided_by_no_warmup:
    """your warm-up is divided by even when it is 0

    Fails: test_no_warmup
    """

    warmup_cosine = """
        - if step < warmup:
        + if step < warmup or step / warmup < 1:
    """


class first_rate_not_zero:
    """your warm-up counts from 1: step 0 has the rate 0, and step = warmup is the first with peak

    Fails: test_warmup
    """

    warmup_cosine = """
        - return peak * step / warmup
        + return peak * (step + 1) / warmup
    """


class half_forgotten:
    """your cosine falls from twice its height: 1 + cos goes from 2 to 0, so half of it is meant

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + (peak - floor) * (1 + math.cos(math.pi * share))
    """


class whole_circle:
    """your cosine runs over its whole circle, down and up again: from 0 to π it goes from 1 to -1

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return floor + (peak - floor) * (1 + math.cos(2 * math.pi * share)) / 2
    """


class cut_off_at_floor:
    """your cosine falls to 0 and is cut off at floor: half a cosine goes from peak to floor itself

    Fails: test_cosine
    """

    warmup_cosine = """
        - return floor + (peak - floor) * (1 + math.cos(math.pi * share)) / 2
        + return max(floor, peak * (1 + math.cos(math.pi * share)) / 2)
    """


class zero_after_total:
    """your rate is 0 from total on: it stays at floor

    Fails: test_cosine
    """

    warmup_cosine = """
        - return float(floor)
        + return 0.0
    """
