"""Answers to mixture-of-experts."""

# ==== right ====
"""Layers of experts as other people write them, from the lesson and the stub alone."""

answer("masks-of-choices", "One-hot choices are turned round, as in published code; rows are sorted again.")


def route(logits, k):
    E = logits.shape[-1]
    if k > E or k < 1:
        raise ValueError(f"k should be between 1 and the {E} experts, but is {k}")
    chosen = torch.argsort(-logits, dim=-1, stable=True)[..., :k]
    powers = (logits - logits.max(-1, keepdim=True).values).exp().gather(-1, chosen)
    return powers / powers.sum(-1, keepdim=True), chosen


class MoE(nn.Module):
    def forward(self, x, keep=None):
        B, T, D = x.shape
        flat = x.reshape(B * T, D)
        w, chosen = route(self.router(flat), self.k)
        mask = nn.functional.one_hot(chosen, len(self.experts)).bool()  # [N, k, E]
        if keep is not None:
            mask &= keep.reshape(-1, 1, 1)
        mask = mask.permute(2, 1, 0)
        out = torch.zeros(B * T, D, dtype=x.dtype, device=x.device)
        for e in range(len(self.experts)):
            rank, token = torch.where(mask[e])
            token, order = token.sort()
            rank = rank[order]
            if self.capacity is not None:
                token, rank = token[: self.capacity], rank[: self.capacity]
            if token.numel() == 0:
                continue
            out.index_add_(0, token, self.experts[e](flat[token]) * w[token, rank].unsqueeze(-1))
        for e in self.shared:
            y = e(flat)
            out = out + (y if keep is None else y.masked_fill(~keep.reshape(-1, 1), 0.0))
        return out.reshape(B, T, D)


answer("lists-of-tokens", "Each expert has a list, which is filled token by token until it is full.")


class MoE(nn.Module):
    def forward(self, x, keep=None):
        B, T, D = x.shape
        flat = x.reshape(-1, D)
        weights, chosen = route(self.router(flat), self.k)
        room = self.capacity or B * T
        queues = [[] for _ in self.experts]
        for token, (mine, real) in enumerate(
            zip(chosen.tolist(), [True] * (B * T) if keep is None else keep.flatten().tolist())
        ):
            for rank, e in enumerate(mine):
                if real and len(queues[e]) < room:
                    queues[e].append((token, rank))
        result = flat * 0
        for e, queue in enumerate(queues):
            if queue:
                tokens, ranks = torch.tensor(queue, device=x.device).T
                y = self.experts[e](flat[tokens]) * weights[tokens, ranks][:, None]
                result = result.index_put((tokens,), y, accumulate=True)
        for e in self.shared:
            result = result + e(flat)
        if keep is not None:
            result = result * keep.reshape(-1, 1)
        return result.reshape(B, T, D)


answer(
    "table-of-weights", "Weights are scattered into a table of all experts, whose columns say who goes where."
)


def route(logits, k):
    if k not in range(1, logits.shape[-1] + 1):
        raise ValueError(f"k = {k} is not in 1..{logits.shape[-1]}")
    values, chosen = torch.sort(logits, dim=-1, descending=True, stable=True)
    return torch.softmax(values.narrow(-1, 0, k), -1), chosen.narrow(-1, 0, k)


class MoE(nn.Module):
    def forward(self, x, keep=None):
        real = None if keep is None else keep.reshape(-1).nonzero()[:, 0]
        flat = x.reshape(-1, x.shape[-1]) if real is None else x.reshape(-1, x.shape[-1])[real]
        weights, chosen = route(self.router(flat), self.k)
        shape = len(flat), len(self.experts)
        table = torch.zeros(shape, dtype=x.dtype, device=x.device).scatter(1, chosen, weights)
        goes = torch.zeros(shape, dtype=torch.bool, device=x.device).scatter(1, chosen, True)
        total = torch.stack([e(flat) for e in self.shared]).sum(0) if len(self.shared) else 0 * flat
        for i, expert in enumerate(self.experts):
            rows = goes[:, i].nonzero()[:, 0]
            if self.capacity is not None and len(rows) > self.capacity:
                rows = rows[: self.capacity]
            total = total.index_add(0, rows, table[rows, i : i + 1] * expert(flat[rows]))
        if real is None:
            return total.reshape(x.shape)
        return torch.zeros_like(x).reshape(-1, x.shape[-1]).index_copy(0, real, total).reshape(x.shape)


def balance_loss(logits, experts):
    E = logits.size(-1)
    p = logits.softmax(-1).reshape(-1, E).mean(0)
    return E * torch.stack([(experts == i).to(p.dtype).mean() * p[i] for i in range(E)]).sum()


answer("places-counted", "No sort: an expert's place is how many come before it; rows are sorted by expert.")


def route(logits, k):
    n_experts = logits.shape[-1]
    if k < 1 or k > n_experts:
        raise ValueError(f"k must be between 1 and {n_experts}, got {k}")
    with torch.no_grad():
        mine, other = (logits.unsqueeze(-1), logits.unsqueeze(-2))
        number = torch.arange(n_experts, device=logits.device)
        before = (other > mine) | (other == mine) & (number < number.unsqueeze(-1))
        place = before.sum(dim=-1)
        experts = torch.empty_like(place).scatter_(-1, place, number.expand_as(place).contiguous())[..., :k]
    everything = logits.masked_fill(place >= k, float("-inf")).softmax(dim=-1)
    return (everything.gather(-1, experts), experts)


class MoE(nn.Module):
    def forward(self, x, keep=None):
        b, t, d = x.shape
        rows = x.reshape(b * t, d)
        real = torch.ones(b * t, dtype=torch.bool, device=x.device) if keep is None else keep.reshape(b * t)
        rows = rows.masked_fill(~real[:, None], 0.0)
        weights, chosen = route(self.router(rows), self.k)
        row = torch.arange(b * t, device=x.device).repeat_interleave(self.k)
        valid = real[row]
        row, expert_of, weight = (row[valid], chosen.reshape(-1)[valid], weights.reshape(-1)[valid])
        expert_of, order = expert_of.sort(stable=True)
        row, weight = (row[order], weight[order])
        loads = torch.bincount(expert_of, minlength=len(self.experts)).tolist()
        out = torch.zeros_like(rows)
        for expert, r, w in zip(self.experts, row.split(loads), weight.split(loads)):
            r, w = (r[: self.capacity], w[: self.capacity])
            out = out.index_add(0, r, expert(rows[r]) * w[:, None])
        index = real.nonzero()[:, 0]
        for expert in self.shared:
            out = out.index_add(0, index, expert(rows[index]))
        return out.view(b, t, d)


def balance_loss(logits, experts):
    n = logits.size(-1)
    front = tuple(range(logits.dim() - 1))
    prob = logits.softmax(-1)
    p = prob.mean(front) if front else prob
    counts = F.one_hot(experts, n).reshape(-1, n).sum(0)
    f = counts.to(torch.float64) / counts.sum()
    return n * torch.dot(f.to(p.dtype), p)


# ==== wrong ====
"""Layers with a slip each, by somebody who knew the lesson and the stub alone."""


@answer("probabilities", "The weights are probabilities among all experts.", named=["softmax-over-all"])
def route(logits, k):
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k is {k}, expected 1 to {logits.shape[-1]}")
    p, order = logits.softmax(-1), logits.argsort(dim=-1, descending=True, stable=True)[..., :k]
    return p.gather(-1, order), order


@answer("top", "Equal logits come in whatever order topk has them.", named=["topk"])
def route(logits, k):
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k is {k}, expected 1 to {logits.shape[-1]}")
    top = torch.topk(logits, k, dim=-1)
    return torch.softmax(top.values, dim=-1), top.indices


@answer(
    "backwards",
    "Sorted upwards and turned round, so the higher number is first.",
    named=["higher-number-first"],
)
def route(logits, k):
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k is {k}, expected 1 to {logits.shape[-1]}")
    order = logits.argsort(dim=-1, stable=True).flip(-1)[..., :k]
    return logits.gather(-1, order).softmax(-1), order


@answer(
    "everything", "All experts compute all tokens under a table of weights.", named=["all-experts-compute"]
)
class MoE(nn.Module):
    def forward(self, x, keep=None):
        weights, chosen = route(self.router(x), self.k)
        goes = nn.functional.one_hot(chosen, len(self.experts))
        if keep is not None:
            goes = goes * keep[..., None, None]
        if self.capacity is not None:
            taken = goes.sum(2).flatten(0, 1).cumsum(0).view(*x.shape[:2], 1, -1)
            goes = goes * (taken <= self.capacity)
        table = (weights[..., None] * goes).sum(2)
        y = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            y = y + table[..., i, None] * expert(x)
        for expert in self.shared:
            y = y + expert(x)
        return y if keep is None else y * keep[..., None]


@answer(
    "by-rank",
    "Rows come in the order of ranks, so first choices fill the experts.",
    named=["first-choices-first"],
)
class MoE(nn.Module):
    def forward(self, x, keep=None):
        flat = x.flatten(0, 1)
        w, chosen = route(self.router(flat), self.k)
        mask = nn.functional.one_hot(chosen, len(self.experts)).bool()
        if keep is not None:
            mask &= keep.reshape(-1, 1, 1)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            rank, token = torch.where(mask[..., e].T)
            rank, token = rank[: self.capacity], token[: self.capacity]
            if len(token):
                out = out.index_add(0, token, expert(flat[token]) * w[token, rank, None])
        for expert in self.shared:
            out = out + expert(flat)
        if keep is not None:
            out = out.masked_fill(~keep.reshape(-1, 1), 0.0)
        return out.view(x.shape)


@answer("masked-last", "Padding is routed like all else and masked at the end.", named=["padding-takes-room"])
class MoE(nn.Module):
    def forward(self, x, keep=None):
        flat = x.flatten(0, 1)
        w, chosen = route(self.router(flat), self.k)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            token, rank = torch.where(chosen == e)
            token, rank = token[: self.capacity], rank[: self.capacity]
            if len(token):
                out = out.index_add(0, token, expert(flat[token]) * w[token, rank, None])
        for expert in self.shared:
            out = out + expert(flat)
        if keep is not None:
            out = out.masked_fill(~keep.reshape(-1, 1), 0.0)
        return out.view(x.shape)


@answer("shares-of-tokens", "Shares are means of k-hot rows, which add up to k.", named=["share-of-tokens"])
def balance_loss(logits, experts):
    E = logits.shape[-1]
    f = nn.functional.one_hot(experts, E).sum(-2).to(logits.dtype).reshape(-1, E).mean(0)
    return E * (f * logits.softmax(-1).reshape(-1, E).mean(0)).sum()


answer("truth-of-zero", "A capacity of 0 is taken for none.", named=["capacity-not-refused"])


class MoE(nn.Module):
    def __init__(self, d_model, d_ff, experts, k, capacity=None, shared=0):
        super().__init__()
        if not 1 <= k <= experts:
            raise ValueError(f"k is {k}, expected 1 to {experts}")
        if capacity and capacity < 1 or shared < 0:
            raise ValueError(f"capacity is {capacity}, shared is {shared}; expected at least 1 and 0")
        self.k, self.capacity = k, capacity or None
        self.router = nn.Linear(d_model, experts, bias=False)
        self.experts = nn.ModuleList([Expert(d_model, d_ff) for _ in range(experts)])
        self.shared = nn.ModuleList([Expert(d_model, d_ff) for _ in range(shared)])


@answer("second-axis", "Axis 1 is the last one only inside the layer.", named=["softmax-over-axis-1"])
def route(logits, k):
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"k is {k}, expected 1 to {logits.shape[-1]}")
    ordered, order = torch.sort(logits, dim=-1, descending=True, stable=True)
    return torch.softmax(ordered[..., :k], dim=1), order[..., :k]


@answer("counts-of-ones", "Ones of the logits' dtype are added up.", named=["counted-in-the-dtype"])
def balance_loss(logits, experts):
    E = logits.size(-1)
    ones = torch.ones(experts.numel(), dtype=logits.dtype, device=logits.device)
    f = torch.zeros(E, dtype=logits.dtype, device=logits.device).index_add_(0, experts.reshape(-1), ones)
    return E * (f / experts.numel() * logits.softmax(-1).reshape(-1, E).mean(0)).sum()
