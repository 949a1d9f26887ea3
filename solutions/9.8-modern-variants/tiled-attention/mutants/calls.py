"""What goes wrong with calls: what is refused, dtypes, arguments."""

mistake(
    "block-not-refused",
    "you refuse a block of 0 only; a negative one should be a ValueError, too",
    _refuse="block < 1 -> block == 0",
)

mistake(
    "key-not-refused",
    "your key may have another D or other axes in front than the query; it should be refused",
    _refuse="if key.shape[:-2] != query.shape[:-2] or key.shape[-1] != query.shape[-1]: -> if False:",
)

mistake(
    "value-not-refused",
    "your value may have another Tk or other axes in front than the key; it should be refused",
    _refuse="if value.shape[:-1] != key.shape[:-1]: -> if False:",
)

mistake(
    "front-not-refused",
    "your axes in front broadcast; a key whose axes in front are not those of the query should be refused",
    _refuse="key.shape[:-2] != query.shape[:-2] or key -> key",
)

mistake(
    "another-error",
    "you raise RuntimeError for a block below 1; it should be ValueError",
    _refuse='ValueError(f"block -> RuntimeError(f"block',
)

mistake(
    "backward-not-refused",
    "your backward refuses nothing; it should refuse what tiled_attention refuses",
    tiled_backward="_refuse(query, key, value, block) -> pass",
)

mistake(
    "sums-in-half-precision",
    "your sums are in half precision, where 256 + 1 is 256; compute them in float32",
    tiled_attention="torch.promote_types(x.dtype, torch.float32) -> x.dtype",
)

mistake(
    "output-in-float32",
    "your output of half precision is float32; return it in the dtype of the query",
    tiled_attention="return output, logsumexp -> return output.to(logsumexp.dtype), logsumexp",
)

mistake(
    "logsumexp-in-half-precision",
    "your logsumexp has the dtype of the query; in half precision it should be float32",
    tiled_attention="return output, logsumexp -> return output, logsumexp.to(query.dtype)",
)

mistake(
    "gradients-in-float32",
    "your gradients in half precision are float32; return them in the dtypes of query, key and value",
    tiled_backward="return dq.to(query.dtype), dk.to(key.dtype), dv.to(value.dtype) -> return dq, dk, dv",
)

mistake(
    "query-written-to",
    "you scale the query in place, so the caller's tensor changes; scale a copy",
    tiled_attention="""
          _refuse(query, key, value, block)
        + query.mul_(1.5)
    """,
)

mistake(
    "axes-from-the-front",
    "you count axes from the front, so fewer or more of them in front fail; use .mT or count from the end",
    _scores="@ k[..., keys, :].mT -> @ k[..., keys, :].transpose(1, 2)",
)

mistake(
    "front-of-the-value-not-refused",
    "you let the value's axes in front broadcast; they should be those of the key",
    _refuse="value.shape[:-1] != key.shape[:-1] -> value.shape[-2] != key.shape[-2]",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
