"""What `parameters` and `flops` get wrong.

Each tensor is counted once, with the width that it has; each product with all that it multiplies, and nothing else is a
product.
"""

mistake(
    "tied-counted-twice",
    "your parameters counts the unembedding even if it is tied; a tensor that is used twice should count once",
    parameters="(1 if config.tied else 2) -> 2",
)

mistake(
    "positions-forgotten",
    "your parameters leaves out the table of learned positions; it should add P·D",
    parameters="+ config.learned_positions ->",
)

mistake(
    "last-norm-forgotten",
    "your parameters leaves out the norm after the last layer; it should count one more norm than 2·L",
    parameters="config.num_layers * layer + norm -> config.num_layers * layer",
)

mistake(
    "one-norm-a-layer",
    "your parameters counts one norm in each layer; there should be two, before attention and before feed-forward",
    parameters="2 * norm -> norm",
)

mistake(
    "norm-without-shift",
    "your parameters gives no norm a shift; a layer norm should have one of D numbers next to its scale",
    parameters="(2 if config.norm == \"layer\" else 1) -> 1",
)

mistake(
    "norm-by-bias",
    "your parameters lets bias decide about the norms' shifts; norm should decide that",
    parameters='config.norm == "layer" -> config.bias',
)

mistake(
    "biases-forgotten",
    "your parameters leaves out the biases; with bias each linear layer should have one number for each output",
    parameters="m * k + config.bias * k -> m * k",
)

mistake(
    "biases-of-keys-as-wide-as-d",
    "your keys and values have biases of D numbers; each should have as many as it has outputs, G·D/H",
    parameters="config.bias * k for m, k in -> config.bias * (m if k < m else k) for m, k in",
)

mistake(
    "gate-without-bias",
    "your gate has no bias; with bias every linear layer in the layers should have one, the gate too",
    parameters="layer = 2 * norm + -> layer = 2 * norm - config.bias * config.gated * config.d_ff + ",
)

mistake(
    "heads-not-shared",
    "your keys and values are as wide as the queries; with G heads of their own they should be G·D/H wide",
    _matrices="shared = G * (D // H) -> shared = D",
)

mistake(
    "heads-not-shared-in-parameters",
    "your parameters takes keys and values to be as wide as the queries; they should be G·D/H wide",
    parameters="in _matrices(config) -> "
    "in _matrices(config) and _matrices(type(config)(**{**vars(config), \"num_kv_heads\": config.num_heads}))",
)

mistake(
    "output-projection-forgotten",
    "your layers have no projection after attention; there should be one, as wide as the queries'",
    _matrices="(D, shared), (D, D), (D, F) -> (D, shared), (D, F)",
)

mistake(
    "gate-forgotten",
    "your feed-forward network has two matrices even with a gate; gated should add a third of D·F",
    _matrices=", *[(D, F)] * config.gated ->",
)

mistake(
    "floats",
    "your counts are floats, which round above 2^53; they should be ints, without / and 1e9",
    parameters="return tables * config.d_model -> return 1.0 * tables * config.d_model",
    flops="return 2 * ( -> return 2.0 * (",
    training_bytes="return parameters( -> return 1.0 * parameters(",
    cache_bytes="return 2 * -> return 2.0 *",
    costs="every count is of the wrong type",
)

mistake(
    "rounded-through-float",
    "your flops go through a float, which rounds above 2^53; multiply and add ints",
    flops="return 2 * (tokens * matrices + pairs) * (3 if backward else 1) -> "
    "return int(2.0 * (tokens * matrices + pairs) * (3 if backward else 1))",
)

mistake(
    "one-operation-a-pair",
    "your flops count a multiplication and an addition as one; they should count as two",
    flops="return 2 * (tokens -> return (tokens",
)

mistake(
    "twice-the-parameters",
    "your flops are 2·N·T, which leaves out scores and takes embeddings for products; count the products",
    flops="""
        - return 2 * (tokens * matrices + pairs) * (3 if backward else 1)
        + return 2 * tokens * parameters(config) * (3 if backward else 1)
    """,
)

mistake(
    "scores-forgotten",
    "your flops leave out attention's own products; scores and averages should add 4·T·T·D in each layer",
    flops="tokens * matrices + pairs -> tokens * matrices",
)

mistake(
    "averages-forgotten",
    "your flops count the scores and not the average of the values; both should be there, 2·T·T·D each",
    flops="config.num_layers * 2 * tokens * tokens -> config.num_layers * tokens * tokens",
)

mistake(
    "causal-half",
    "your flops count the pairs that a causal mask allows; all T·T pairs should count",
    flops="config.num_layers * 2 * tokens * tokens -> config.num_layers * tokens * (tokens + 1)",
)

mistake(
    "scores-per-head",
    "your flops give each head's scores all D columns; a head has D/H, so all heads together should have D",
    flops="tokens * tokens * config.d_model -> tokens * tokens * config.d_model * config.num_heads",
)

mistake(
    "scores-shared",
    "your flops count the scores of G heads; every query head should have its own, whatever keys it reads",
    flops="tokens * tokens * config.d_model -> tokens * tokens * _matrices(config)[1][1]",
)

mistake(
    "unembedding-not-a-product",
    "your flops leave out the logits; D·V should be a product for each token, tied or not",
    flops="+ config.d_model * config.vocab_size ->",
)

mistake(
    "embedding-as-a-product",
    "your flops take the embedding for a product; its rows are read, so only the unembedding should count D·V",
    flops="config.d_model * config.vocab_size -> 2 * config.d_model * config.vocab_size",
)

mistake(
    "backward-alone",
    "your flops with backward are twice the forward; both passes together should be three times",
    flops="3 if backward -> 2 if backward",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
