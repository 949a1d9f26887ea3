"""How the induction score goes wrong: the mean weight from t to t - period + 1, over all t >= period."""


class looks_at_the_copy:
    """your score is about the previous copy itself, at t - period: what followed it is one further on

    Fails: test_induction_values
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(-period, dim1=-2, dim2=-1)
    """


class one_too_far:
    """your score is about t - period + 2: what followed the copy is at t - period + 1

    Fails: test_induction_values
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(2 - period, dim1=-2, dim2=-1)[..., 2:]
    """


class token_before:
    """your score is about the token before, at t - 1: period says how far back the follower is

    Fails: test_induction_values
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(-1, dim1=-2, dim2=-1)[..., period - 1 :]
    """


class looks_ahead:
    """your score is about keys after the query, at t + period - 1: rows and columns are exchanged

    Fails: test_induction_values
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(period - 1, dim1=-2, dim2=-1)[..., 1:]
    """


class whole_diagonal:
    """your score counts the whole diagonal: its first query, period - 1, has no previous copy

    Fails: test_induction_first_copy
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)
    """


class second_copy_alone:
    """your score counts the second copy alone: all positions from period on have a previous copy

    Fails: test_induction_values
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1 : period + 1]
    """


class whole_copies_alone:
    """your score leaves out the last copy when it is not complete: T need not be a multiple of period

    Fails: test_induction_values
    """

    induction_score = """
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + length = max(period + 1, weights.size(-1) // period * period)
        + followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1 : length - period + 1]
    """


class summed_up:
    """your score is the sum over the positions, not their mean

    Fails: test_induction_values
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return followers.sum(dim=-1)
    """


class divided_by_all:
    """your score is divided by T: only T - period positions have a previous copy

    Fails: test_induction_values
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return followers.sum(dim=-1) / weights.size(-1)
    """


class largest_taken:
    """your score is the largest of the weights, not their mean

    Fails: test_induction_values
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return followers.amax(dim=-1)
    """


class how_often_the_largest:
    """your score counts how often the follower is what is looked at most: its mean weight is asked for

    Fails: test_induction_values
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return (followers >= weights[..., period:, :].amax(dim=-1)).to(weights.dtype).mean(dim=-1)
    """


class every_position_alone:
    """your score is a number for every position: their mean is asked for, one number a head

    Fails: test_induction_shape
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return followers
    """


class one_for_all_heads:
    """your score is one number for everything: every head of every text has its own

    Fails: test_induction_shape
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return followers.mean()
    """


class score_in_float32:
    """your score is float32 whatever the dtype of the weights

    Fails: test_measure_promises
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + return followers.float().mean(dim=-1)
    """


class periods_not_refused:
    """your score does not refuse a period that leaves no previous copy

    Fails: test_induction_errors
    """

    induction_score = """
        - if not 1 <= period < weights.size(-1):
        -     raise ValueError(f"{weights.size(-1)} positions hold no second copy of {period} tokens")
    """


class no_copy_scores_zero:
    """your score is 0 where no position has a previous copy: ValueError is asked for

    Fails: test_induction_errors
    """

    induction_score = """
        - if not 1 <= period < weights.size(-1):
        -     raise ValueError(f"{weights.size(-1)} positions hold no second copy of {period} tokens")
        + if not 1 <= period < weights.size(-1):
        +     return weights[..., 0, 0] * 0
    """


class two_copies_demanded:
    """your score refuses a last copy that is not complete: it begins to repeat, and that is enough

    Fails: test_induction_first_copy
    """

    induction_score = """
        - if not 1 <= period < weights.size(-1):
        + if not 1 <= period <= weights.size(-1) // 2:
    """


class two_axes_left:
    """your score is averaged over the axes in front until two are left: all of them stay

    Fails: test_story_weights
    """

    induction_score = """
        - return followers.mean(dim=-1)
        + score = followers.mean(dim=-1)
        + while score.ndim > 2:
        +     score = score.mean(dim=0)
        + return score
    """
