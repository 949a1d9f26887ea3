"""What `training_bytes`, `cache_bytes` and `mfu` get wrong.

Each parameter has a weight, a gradient, perhaps a copy, and what the optimizer keeps; each token what the backward pass
reads again.
"""

mistake(
    "gradients-forgotten",
    "your training_bytes has no gradients; each parameter should have one in the dtype",
    training_bytes="2 * size + (4 -> size + (4",
)

mistake(
    "master-forgotten",
    "your training_bytes has no float32 copy of 2-byte weights; with any optimizer it should add 4 bytes for each",
    training_bytes="(4 if size == 2 else 0) + 4 -> 4",
)

mistake(
    "master-always",
    "your training_bytes keeps a copy of float32 weights, which are one already; only 2-byte weights should have one",
    training_bytes="(4 if size == 2 else 0) -> 4",
)

mistake(
    "gradients-in-float32",
    "your training_bytes has gradients of 4 bytes; they should have the dtype, as the weights do",
    training_bytes="2 * size + (4 -> size + 4 + (4",
)

mistake(
    "state-in-the-dtype",
    "your optimizer keeps its numbers in the dtype of the weights; they should be float32, 4 bytes each",
    training_bytes="+ 4 * STATE[optimizer] -> + size * STATE[optimizer]",
)

mistake(
    "activations-forgotten",
    "your training_bytes leaves out the activations; each token of the batch should add its own",
    training_bytes="+ batch * token * size ->",
)

mistake(
    "logits-not-kept",
    "your activations have no logits; they should have the V of each token, which the loss reads",
    training_bytes="2 * config.d_model + config.vocab_size -> 2 * config.d_model",
)

mistake(
    "activations-not-gated",
    "your activations have 2·F even with a gate; the gate's output is kept, too, so it should be 3·F",
    training_bytes="(3 if config.gated else 2) -> 2",
)

mistake(
    "activations-keys-unshared",
    "your activations have keys and values as wide as D; they should be G·D/H wide",
    training_bytes="2 * shared -> 2 * config.d_model",
)

mistake(
    "keys-alone",
    "your cache has keys or values; it should have both",
    cache_bytes="return 2 * -> return",
)

mistake(
    "cache-of-query-heads",
    "your cache has keys and values for each query head; only the G heads that have their own should be kept",
    cache_bytes="shared = _matrices(config)[1][1] -> shared = _matrices(config)[0][1]",
)

mistake(
    "dtype-unrefused",
    "your dtype is looked up unexamined, so an unknown one raises KeyError; it should be ValueError",
    training_bytes="dtype in BYTES -> True",
    cache_bytes="dtype in BYTES -> True",
)

mistake(
    "optimizer-unrefused",
    "your training_bytes takes an unknown optimizer for one that keeps nothing; it should raise ValueError",
    training_bytes=["optimizer in STATE -> True", "STATE[optimizer] -> STATE.get(optimizer, 0)"],
)

mistake(
    "negative-counts",
    "your counts may be negative, so bytes and operations are; raise ValueError",
    flops="tokens >= 0 -> True",
    training_bytes="batch >= 0 -> True",
    cache_bytes="batch >= 0 and tokens >= 0 -> True",
)

mistake(
    "zero-refused",
    "your functions refuse 0 tokens; an empty text or batch is one, and should cost nothing",
    flops="tokens >= 0 -> tokens >= 1",
    training_bytes="batch >= 0 -> batch >= 1",
    cache_bytes="batch >= 0 and tokens >= 0 -> batch >= 1 and tokens >= 1",
    costs="what a state costs is asked for without a batch",
)

mistake(
    "sizes-unrefused",
    "your functions take sizes of 0 and less; each should be at least 1, and learned_positions 0",
    _matrices="config.learned_positions + 1) >= 1 -> config.learned_positions + 1) > -(10**9)",
)

mistake(
    "heads-unrefused",
    "your heads are rounded down where they do not divide; heads that do not fit should raise ValueError",
    _matrices=["D % H == 0 -> True", "H % G == 0 -> True"],
)

mistake(
    "norm-unrefused",
    "your parameters takes an unknown norm for an RMS norm; it should raise ValueError",
    _matrices='config.norm in ("rms", "layer") -> True',
)

mistake(
    "mfu-inverted",
    "your mfu is what was possible, divided by what was needed; it should be the other way round",
    mfu="return flops / seconds / peak -> return peak * seconds / flops if flops else 0.0",
)

mistake(
    "mfu-unrefused",
    "your mfu takes a time or a peak that is not positive; it should raise ValueError",
    mfu="seconds > 0 and peak > 0 -> True",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
