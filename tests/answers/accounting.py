"""Answers to accounting."""

# ==== right ====
"""Accounting as other people write it, from the lesson and the stub alone."""


@answer("one-row-at-a-time", "The lesson's table, row by row, in a list that is summed.")
def parameters(config):
    _matrices(config)
    D, head = config.d_model, config.d_model // config.num_heads
    norm = D if config.norm == "rms" else 2 * D
    rows = [config.vocab_size * D, config.learned_positions * D, norm]
    for _ in range(config.num_layers):
        rows += [norm, norm, 2 * D * D, 2 * D * config.num_kv_heads * head]
        rows.append((3 if config.gated else 2) * D * config.d_ff)
        if config.bias:
            rows.append(2 * D + 2 * config.num_kv_heads * head + config.d_ff + D)
            rows.append(config.d_ff if config.gated else 0)
    if not config.tied:
        rows.append(D * config.vocab_size)
    return sum(rows)


@answer("by-head", "Products are counted for each head, forward and backward apart.")
def flops(config, tokens, backward=False):
    _expect(tokens >= 0, f"tokens must not be negative, got {tokens}")
    T, D, d = tokens, config.d_model, config.d_model // config.num_heads if config.num_heads > 0 else 0
    _matrices(config)

    def mm(m, k, n):
        return 2 * m * k * n

    attention = mm(T, D, D) + 2 * mm(T, D, config.num_kv_heads * d) + mm(T, D, D)
    attention += sum(mm(T, d, T) + mm(T, T, d) for _ in range(config.num_heads))
    inner = mm(T, D, config.d_ff) * (2 if config.gated else 1) + mm(T, config.d_ff, D)
    forward = config.num_layers * (attention + inner) + mm(T, D, config.vocab_size)
    return forward + (2 * forward if backward else 0)


@answer("descent", "The law by halving steps along each exponent in turn, from the best of a grid.")
def fit(n, d, loss):
    _expect(len(n) == len(d) == len(loss), "n, d and loss must have one length")
    _expect(all(0 < v < float("inf") for v in [*n, *d, *loss]), "n, d and loss must be positive and finite")
    _expect(len(set(zip(n, d, strict=True))) >= 5, "five different runs are needed")
    _expect(len(set(n)) >= 3 and len(set(d)) >= 3, "three different n and three different d are needed")
    x, y = (torch.tensor([math.log(v) for v in values], dtype=torch.float64) for values in (n, d))
    line = torch.stack([torch.ones_like(x), x], 1)
    rest = y - line @ torch.linalg.lstsq(line, y[:, None]).solution[:, 0]
    _expect(float(rest.abs().max()) > 1e-6, "the runs must not be on one line")
    target = torch.tensor(loss, dtype=torch.float64)

    def solve(alpha, beta):
        columns = torch.stack(
            [torch.ones_like(x), (-alpha * (x - x[0])).exp(), (-beta * (y - y[0])).exp()], 1
        )
        columns = columns / target[:, None]
        found = torch.linalg.lstsq(columns, torch.ones(len(x), 1, dtype=torch.float64)).solution
        return float((columns @ found - 1).square().sum()), found[:, 0].tolist()

    best = min((solve(a / 10, b / 10)[0], a / 10, b / 10) for a in range(1, 11) for b in range(1, 11))
    step = 0.05
    while step > 1e-9:
        alpha, beta = best[1:]
        near = [(alpha + i * step, beta + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        then = min((solve(a, b)[0], a, b) for a, b in near if min(a, b) > 0.02)
        best, step = (then, step) if then[0] < best[0] else (best, step / 2)
    _, alpha, beta = best
    E, a, b = solve(alpha, beta)[1]
    return E, a * math.exp(alpha * float(x[0])), alpha, b * math.exp(beta * float(y[0])), beta


# ==== wrong ====
"""Accounting as other people get it wrong."""


@answer("twelve-squares", "The rule of thumb: 12·D² a layer, and the embedding.")
def parameters(config):
    _matrices(config)
    return config.vocab_size * config.d_model + 12 * config.num_layers * config.d_model**2


@answer(
    "six-n-d", "The rule of thumb: 6 operations for each parameter and token.", named=["twice-the-parameters"]
)
def flops(config, tokens, backward=False):
    _expect(tokens >= 0, f"tokens must not be negative, got {tokens}")
    return (6 if backward else 2) * parameters(config) * tokens


@answer(
    "cache-of-all-heads", "Grouped heads are repeated before they are kept.", named=["cache-of-query-heads"]
)
def cache_bytes(config, batch, tokens, dtype):
    _expect(min(batch, tokens) >= 0 and dtype in BYTES, f"batch {batch}, tokens {tokens}, dtype {dtype}")
    head = config.d_model // config.num_heads if _matrices(config) else 0
    return 2 * batch * config.num_layers * config.num_heads * head * tokens * BYTES[dtype]


@answer("gigabytes", "Bytes come in gigabytes, rounded.")
def training_bytes(config, batch, dtype, optimizer):
    _expect(batch >= 0 and dtype in BYTES and optimizer in STATE, f"{batch}, {dtype}, {optimizer}")
    return round(16 * parameters(config) / 10**9, 2)


@answer("logarithmic-line", "The logarithm of the loss as a plane: no E, and one power of each.")
def fit(n, d, loss):
    _expect(len(n) == len(d) == len(loss) >= 5, "five runs are needed")
    _expect(all(v > 0 for v in [*n, *d, *loss]), "all must be positive")
    logs = torch.tensor([n, d, loss], dtype=torch.float64).log()
    columns = torch.stack([torch.ones(len(n), dtype=torch.float64), -logs[0], -logs[1]], 1)
    a, alpha, beta = torch.linalg.lstsq(columns, logs[2][:, None]).solution[:, 0].tolist()
    return 0.0, math.exp(a), alpha, math.exp(a), beta
