"""What `fit` gets wrong.

Three numbers of the law are linear and two are exponents; what stays when both grow is one of them; runs that leave the
law open are refused.
"""

mistake(
    "nothing-stays",
    "your law has no E, so it falls to 0 and its exponents are too small; E should be found together with the rest",
    fit="""
        - terms = torch.cat([torch.ones_like(falling[:, :1]), falling], 1) / losses
        + terms = falling / losses

        - E, *scales = solved[place, :, 0].tolist()
        + E, scales = 0.0, solved[place, :, 0].tolist()
    """,
)

mistake(
    "least-loss-stays",
    "your E is the least loss that was seen, where the terms still add to it; E should be found together with the rest",
    fit="""
        - E, *scales = solved[place, :, 0].tolist()
        + E, *scales = solved[place, :, 0].tolist()
        + E = min(loss)
    """,
)

mistake(
    "one-exponent",
    "your law has one exponent for both terms; n and d should each have their own",
    fit="torch.cartesian_prod(side, side) -> side[:, None].expand(-1, 2)",
)

mistake(
    "largest-runs-alone",
    "your errors are multiplied by n·d, so only the largest runs decide; each run should count alike",
    fit="""
        - terms = torch.cat([torch.ones_like(falling[:, :1]), falling], 1) / losses
        - solved = torch.linalg.solve(terms @ terms.mT, terms.sum(-1, keepdim=True))
        - place = (solved.mT @ terms - 1).square().sum((1, 2)).argmin()
        + heavy = (x + y).exp()
        + terms = torch.cat([torch.ones_like(falling[:, :1]), falling], 1) / losses * heavy
        + solved = torch.linalg.solve(terms @ terms.mT, (terms * heavy).sum(-1, keepdim=True))
        + place = (solved.mT @ terms - heavy).square().sum((1, 2)).argmin()
    """,
)

mistake(
    "terms-exchanged",
    "your result has the terms the other way round; it should be E, then A and alpha of n, then B and beta of d",
    fit="return E, A, best[0].item(), B, best[1].item() -> return E, B, best[1].item(), A, best[0].item()",
)

mistake(
    "scales-first",
    "your result has both scales before the exponents; it should be E, then A and alpha of n, then B and beta of d",
    fit="return E, A, best[0].item(), B, best[1].item() -> return E, A, B, best[0].item(), best[1].item()",
)

mistake(
    "exponents-negative",
    "your exponents are negative, those of n^alpha; the law divides by n^alpha, so they should be positive",
    fit="A, best[0].item(), B, best[1].item() -> A, -best[0].item(), B, -best[1].item()",
)

mistake(
    "scales-around-the-middle",
    "your A and B belong to n and d divided by their means; multiply them by the means' powers before returning",
    fit="scale * math.exp(power) for -> scale for",
)

mistake(
    "coarse-grid",
    "your grid over alpha and beta stays coarse; finer ones around the best should follow",
    fit="range(30) -> range(1)",
)

mistake(
    "tensors-returned",
    "your fit returns tensors; it should return Python floats: take them out with .item()",
    fit="return E, A, best[0].item(), B, best[1].item() -> return E, A, best[0], B, best[1]",
)

mistake(
    "lengths-unrefused",
    "your fit cuts lists to the shortest; lists of different lengths should be a ValueError",
    fit="""
        - _expect(len(n) == len(d) == len(loss), f"{len(n)} n, {len(d)} d, {len(loss)} losses: not as many")
        + size = min(len(n), len(d), len(loss))
        + n, d, loss = n[:size], d[:size], loss[:size]
    """,
)

mistake(
    "numbers-unrefused",
    "your fit takes the logarithm of whatever comes, so the law is NaN; raise ValueError instead",
    fit="""
        - for value in (*n, *d, *loss):
        -     _expect(0 < value < math.inf, f"there is {value}: all numbers should be positive and finite")

        - place = (solved.mT @ terms - 1).square().sum((1, 2)).argmin()
        + place = (solved.mT @ terms - 1).square().sum((1, 2)).nan_to_num(9e9).argmin()
    """,
)

mistake(
    "few-runs-unrefused",
    "your fit takes fewer than five runs, which many laws go through; five different ones should be there",
    fit="len({*zip(n, d, strict=True)}) >= 5 -> True",
)

mistake(
    "five-runs-refused",
    "your fit refuses five different runs, which are enough; it should refuse fewer than five",
    fit="len({*zip(n, d, strict=True)}) >= 5 -> len({*zip(n, d, strict=True)}) > 5",
)

mistake(
    "repeated-runs-counted",
    "your fit counts a run that occurs twice as two; five different ones should be there",
    fit="len({*zip(n, d, strict=True)}) >= 5 -> len(n) >= 5",
)

mistake(
    "few-sizes-unrefused",
    "your fit takes two different n or d, which leave the exponent open; there should be three",
    fit="min(len({*n}), len({*d})) >= 3 -> True",
)

mistake(
    "line-unrefused",
    "your fit takes runs whose d is a power of n, so its two terms may be exchanged; raise ValueError",
    fit="(x @ y) ** 2 < (1 - 1e-9) * (x @ x) * (y @ y) -> True",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
