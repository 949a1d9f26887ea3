"""What goes wrong with the running maximum, sum and values: all that was summed is as large as the newest maximum."""

mistake(
    "sum-not-rescaled",
    "your sum is not rescaled when the maximum rises; multiply it by exp(old - new) like the values",
    tiled_attention="total = total * fade + -> total = total +",
)

mistake(
    "values-not-rescaled",
    "your weighted values are not rescaled when the maximum rises; multiply them by exp(old - new) like the sum",
    tiled_attention="mixed = mixed * fade + -> mixed = mixed +",
)

mistake(
    "nothing-rescaled",
    "you rescale nothing when the maximum rises; multiply sum and values by exp(old - new)",
    tiled_attention=["total = total * fade + -> total = total +", "mixed = mixed * fade + -> mixed = mixed +"],
)

mistake(
    "rescaled-twice",
    "your weighted values are rescaled twice in each tile; multiply them by exp(old - new) once",
    tiled_attention="mixed = mixed * fade + -> mixed = mixed * fade * fade +",
)

mistake(
    "rescaled-upside-down",
    "you rescale by exp(new - old), which grows; it should be exp(old - new)",
    tiled_attention="(largest - finite).exp() -> (finite - largest.where(largest.isfinite(), finite)).exp()",
)

mistake(
    "divided-in-the-loop",
    "you divide the values by the sum in every tile, so earlier tiles are divided again; divide once, at the end",
    tiled_attention=[
        "mixed * fade + weights @ v[..., keys, :] -> (mixed * fade + weights @ v[..., keys, :]) / total.clamp(1e-9)",
        "mixed / total.masked_fill(total == 0, 1.0) -> mixed",
    ],
)

mistake(
    "not-divided",
    "your output is not divided by the sum of the weights; divide once, after the last tile",
    tiled_attention="mixed / total.masked_fill(total == 0, 1.0) -> mixed",
)

mistake(
    "tiles-averaged",
    "your output is the mean of each tile's own attention; tiles should count as the sums of their exponentials",
    tiled_attention=[
        "mixed * fade + weights -> mixed + scores.softmax(-1).nan_to_num()",
        "mixed / total.masked_fill(total == 0, 1.0) -> mixed / max(len(tiles), 1)",
    ],
)

mistake(
    "weights-under-the-tiles-maximum",
    "your weights are taken under the tile's own maximum; subtract the running maximum",
    tiled_attention="(scores - finite).exp(), -> "
    "(scores - scores.amax(dim=-1, keepdim=True).clamp(min=-1e30)).exp(),",
)

mistake(
    "maximum-of-the-tile",
    "your maximum is that of the newest tile, so it may fall, and exp(old - new) overflow; it should only rise",
    tiled_attention="torch.maximum(largest, scores.amax(dim=-1, keepdim=True)) -> scores.amax(dim=-1, keepdim=True)",
)

mistake(
    "maximum-not-updated",
    "your running maximum stays what it was before the first tile; set it to the new one after each tile",
    tiled_attention="largest = new -> pass",
)

mistake(
    "no-maximum",
    "your exponentials are taken without a maximum, so scores in the hundreds overflow; subtract it first",
    tiled_attention="torch.maximum(largest, scores.amax(dim=-1, keepdim=True)) -> torch.zeros_like(largest)",
)

mistake(
    "maximum-from-zero",
    "your maximum begins at 0, so scores that are all far below underflow; begin at -inf",
    tiled_attention="rows.start, 1), -torch.inf) -> rows.start, 1), 0.0)",
)

mistake(
    "infinity-minus-infinity",
    "you subtract a maximum of -inf from -inf, which is NaN; it should be 0 where no key was seen yet",
    tiled_attention="new.masked_fill(new == -torch.inf, 0.0)  # -inf - (-inf) would be NaN -> new",
)

mistake(
    "divided-by-zero",
    "you divide by a sum of 0 where a query sees no key, which is NaN; its output should be 0",
    tiled_attention="total.masked_fill(total == 0, 1.0) -> total",
)

mistake(
    "something-added-to-the-sum",
    "you add a small number to the sum before you divide, so weights do not add up to 1; only a sum of 0 should change",
    tiled_attention="total.masked_fill(total == 0, 1.0) -> (total + 1e-3)",
)

mistake(
    "logsumexp-without-the-maximum",
    "your logsumexp is only the logarithm of the sum; it should be that plus the maximum",
    tiled_attention="(largest + total.log()) -> total.log()",
)

mistake(
    "logsumexp-in-base-two",
    "your logsumexp is to base 2; it should be natural",
    tiled_attention="total.log()).squeeze(-1) -> total.log()).squeeze(-1) / torch.tensor(2.0).log()",
    convention="kernels compute in base 2, as exp2 is cheaper",
)

mistake(
    "sum-not-logged",
    "your logsumexp is the maximum plus the sum; take the logarithm of the sum first",
    tiled_attention="largest + total.log() -> largest + total",
)

mistake(
    "logsumexp-has-an-axis-more",
    "your logsumexp has an axis of length 1 at its end; its shape should be [.., Tq]",
    tiled_attention="return output, logsumexp -> return output, logsumexp.unsqueeze(-1)",
)

mistake(
    "base-two",
    "your weights are powers of 2; they should be powers of e",
    tiled_attention="(scores - finite).exp(), (largest - finite).exp() -> "
    "(scores - finite).exp2(), (largest - finite).exp2()",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
