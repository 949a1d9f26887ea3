"""How the induction score goes wrong: the mean weight from t to t - period + 1, over all t >= period."""

mistake(
    "looks-at-the-copy",
    "your score is about the previous copy itself, at t - period; it should be about the token after it",
    induction_score="""
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(-period, dim1=-2, dim2=-1)
    """,
)

mistake(
    "one-too-far",
    "your score is about t - period + 2; it should be about t - period + 1, the token after the copy",
    induction_score="""
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(2 - period, dim1=-2, dim2=-1)[..., 2:]
    """,
)

mistake(
    "token-before",
    "your score is about the token before, at t - 1; it should be about t - period + 1",
    induction_score="""
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(-1, dim1=-2, dim2=-1)[..., period - 1 :]
    """,
)

mistake(
    "looks-ahead",
    "your score is about keys after the query, at t + period - 1; exchange rows and columns",
    induction_score="1 - period -> period - 1",
)

mistake(
    "whole-diagonal",
    "your score counts the whole diagonal; leave out its first query, period - 1, which has no previous copy",
    induction_score="""
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)
    """,
)

mistake(
    "second-copy-alone",
    "your score counts only the second copy; it should count all positions from period on",
    induction_score="""
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1 : period + 1]
    """,
)

mistake(
    "whole-copies-alone",
    "your score leaves out the last copy when it is not complete; it should count that one, too",
    induction_score="""
        - followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:]
        + length = max(period + 1, weights.size(-1) // period * period)
        + followers = weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1 : length - period + 1]
    """,
)

mistake(
    "summed-up",
    "your score is the sum over the positions; it should be their mean",
    induction_score="followers.mean(dim=-1) -> followers.sum(dim=-1)",
)

mistake(
    "divided-by-all",
    "your score is divided by T; divide by T - period, as only so many positions have a previous copy",
    induction_score="followers.mean(dim=-1) -> followers.sum(dim=-1) / weights.size(-1)",
)

mistake(
    "largest-taken",
    "your score is the largest of the weights; it should be their mean",
    induction_score="followers.mean(dim=-1) -> followers.amax(dim=-1)",
)

mistake(
    "how-often-the-largest",
    "your score counts how often the follower gets the largest weight; it should be its mean weight",
    induction_score="""
        - return followers.mean(dim=-1)
        + return (followers >= weights[..., period:, :].amax(dim=-1)).to(weights.dtype).mean(dim=-1)
    """,
)

mistake(
    "every-position-alone",
    "your score is a number for every position; it should be their mean, one number for each head",
    induction_score="followers.mean(dim=-1) -> followers",
)

mistake(
    "one-for-all-heads",
    "your score is one number for everything; every head of every text should have its own",
    induction_score="followers.mean(dim=-1) -> followers.mean()",
)

mistake(
    "score-in-float32",
    "your score is always float32; it should have the dtype of the weights",
    induction_score="followers.mean(dim=-1) -> followers.float().mean(dim=-1)",
)

mistake(
    "periods-not-refused",
    "your score accepts periods below 1, or as long as the text or longer; it should raise ValueError for them",
    induction_score="""
        - if not 1 <= period < weights.size(-1):
        -     raise ValueError(f"{weights.size(-1)} positions hold no second copy of {period} tokens")
    """,
)

mistake(
    "no-copy-scores-zero",
    "your score is 0 where no position has a previous copy; raise ValueError",
    induction_score="""
        - if not 1 <= period < weights.size(-1):
        -     raise ValueError(f"{weights.size(-1)} positions hold no second copy of {period} tokens")
        + if not 1 <= period < weights.size(-1):
        +     return weights[..., 0, 0] * 0
    """,
)

mistake(
    "two-copies-demanded",
    "your score refuses a last copy that is not complete; it should accept one that only begins",
    induction_score="1 <= period < weights.size(-1) -> 1 <= period <= weights.size(-1) // 2",
)

mistake(
    "two-axes-left",
    "your score is averaged over the axes in front until two are left; it should keep all of them",
    induction_score="""
        - return followers.mean(dim=-1)
        + score = followers.mean(dim=-1)
        + while score.ndim > 2:
        +     score = score.mean(dim=0)
        + return score
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
