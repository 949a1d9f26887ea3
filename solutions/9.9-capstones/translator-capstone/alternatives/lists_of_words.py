"""Encoder and decoder with heads one after the other, a search that keeps lists, and a loss by hand."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

PAD, BOS, EOS = 0, 1, 2
FULL = 0.01


class Look(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ask, self.answer, self.join = (
            nn.Linear(width, width),
            nn.Linear(width, 2 * width),
            nn.Linear(width, width),
        )

    def forward(self, x, seen, allowed):
        mixed = []
        keys, values = self.answer(seen).chunk(2, -1)
        for q, k, v in zip(
            *(part.chunk(self.heads, -1) for part in (self.ask(x), keys, values)), strict=True
        ):
            scores = torch.einsum("btd,bsd->bts", q, k) * q.shape[-1] ** -0.5
            scores = scores.masked_fill(~allowed, float("-inf"))
            mixed.append((scores - scores.logsumexp(-1, keepdim=True)).exp() @ v)
        return self.join(torch.cat(mixed, -1))


class Block(nn.Module):
    def __init__(self, width, heads, inner, first, crosses):
        super().__init__()
        self.first = first
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(3 if crosses else 2)])
        self.own = Look(width, heads)
        self.cross = Look(width, heads) if crosses else None
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def step(self, norm, x, f):
        return x + f(norm(x)) if self.first else norm(x + f(x))

    def forward(self, x, allowed, memory=None, real=None):
        x = self.step(self.norms[0], x, lambda y: self.own(y, y, allowed))
        if self.cross is not None:
            x = self.step(self.norms[1], x, lambda y: self.cross(y, memory, real))
        return self.step(self.norms[-1], x, lambda y: self.down(self.up(y).relu()))


class TranslationModel(nn.Module):
    def __init__(
        self,
        source_vocab,
        target_vocab,
        d_model=48,
        num_heads=4,
        d_ff=96,
        num_layers=1,
        max_len=16,
        norm="first",
        positions=True,
        pad_id=0,
    ):
        super().__init__()
        first = {"first": True, "last": False}[norm]
        self.pad_id = pad_id
        # Made in the order in which the log's runs have drawn their weights.
        self.words = nn.ModuleList([nn.Embedding(source_vocab, d_model), nn.Embedding(target_vocab, d_model)])
        self.where = nn.ModuleList([nn.Embedding(max_len, d_model) for _ in range(2)]) if positions else None
        self.read = nn.ModuleList([Block(d_model, num_heads, d_ff, first, False) for _ in range(num_layers)])
        self.write = nn.ModuleList([Block(d_model, num_heads, d_ff, first, True) for _ in range(num_layers)])
        self.ends = nn.ModuleList([nn.LayerNorm(d_model) for _ in range(2)]) if first else None
        self.scores = nn.Linear(d_model, target_vocab)
        for table in [*self.words, *(self.where or [])]:
            table.weight.data.normal_(0, 0.3)
        self.scores.weight.data.normal_(0, 0.02)

    def begin(self, side, text):
        x = self.words[side](text)
        return x + self.where[side](torch.arange(text.shape[1], device=text.device)) if self.where else x

    def end(self, side, x):
        return self.ends[side](x) if self.ends else x

    def forward(self, source, target):
        real = (source != self.pad_id).unsqueeze(1)
        memory = self.begin(0, source)
        for block in self.read:
            memory = block(memory, real)
        memory = self.end(0, memory)
        t = torch.arange(target.shape[1], device=target.device)
        x = self.begin(1, target)
        for block in self.write:
            x = block(x, (t[:, None] >= t[None, :]).unsqueeze(0), memory, real)
        return self.scores(self.end(1, x))


def train(
    source,
    target,
    source_vocab,
    target_vocab,
    steps,
    seed,
    *,
    norm="first",
    positions=True,
    num_layers=1,
    warmup=20,
):
    before = torch.get_rng_state()
    torch.manual_seed(seed)
    model = TranslationModel(
        source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
    ).to(source.device)
    torch.set_rng_state(before)
    draws = torch.Generator().manual_seed(seed)
    adam = torch.optim.AdamW(model.parameters(), lr=FULL, betas=(0.9, 0.98), weight_decay=0)
    history = []
    for now in range(1, steps + 1):
        fall = 1 - 0.9 * (now - max(warmup, 1)) / max(steps - max(warmup, 1), 1)
        adam.param_groups[0]["lr"] = FULL * (now / warmup if now <= warmup else fall)
        rows = torch.randint(len(source), (48,), generator=draws).to(source.device)
        wanted = target[rows]
        logs = F.log_softmax(model(source[rows], F.pad(wanted[:, :-1], (1, 0), value=BOS)), -1)
        counts = (wanted != PAD).to(logs.dtype)
        loss = -(logs.gather(-1, wanted[..., None])[..., 0] * counts).sum() / counts.sum()
        model.zero_grad()
        loss.backward()
        adam.step()
        history.append((now, loss.item(), adam.param_groups[0]["lr"]))
    return model, history


def translate(model, source, *, max_len):
    mode = model.training
    model.eval()
    texts = [[] for _ in source]
    with torch.no_grad():
        for _ in range(max_len):
            longest = max(map(len, texts))
            rows = [[BOS, *text, *[PAD] * (longest - len(text))] for text in texts]
            best = model(source, torch.tensor(rows, device=source.device))[:, longest].argmax(-1).tolist()
            for text, word in zip(texts, best, strict=True):
                if EOS not in text:
                    text.append(word)
            if all(EOS in text for text in texts):
                break
    model.train(mode)
    longest = max(map(len, texts))
    padded = [text + [model.pad_id] * (longest - len(text)) for text in texts]
    return torch.tensor(padded, device=source.device)


def training_log():
    return LOG


LOG = """\
run,seed,step,loss,rate
base,1,1,3.7178,0.0005
base,1,2,3.6893,0.001
base,1,3,3.6584,0.0015
base,1,4,3.6017,0.002
base,1,5,3.5545,0.0025
base,1,6,3.4857,0.003
base,1,7,3.4235,0.0035
base,1,8,3.3524,0.004
base,1,10,3.1701,0.005
base,1,15,2.4608,0.0075
base,1,20,1.8095,0.01
base,1,25,1.3887,0.009679
base,1,30,1.1398,0.009357
base,1,35,0.9430,0.009036
base,1,40,0.8178,0.008714
base,1,45,0.5729,0.008393
base,1,50,0.4208,0.008071
base,1,55,0.3124,0.00775
base,1,60,0.2806,0.007429
base,1,65,0.1361,0.007107
base,1,70,0.1266,0.006786
base,1,75,0.0938,0.006464
base,1,80,0.0684,0.006143
base,1,85,0.0333,0.005821
base,1,90,0.0332,0.0055
base,1,95,0.0187,0.005179
base,1,100,0.0643,0.004857
base,1,105,0.0103,0.004536
base,1,110,0.0186,0.004214
base,1,115,0.0108,0.003893
base,1,120,0.0093,0.003571
base,1,125,0.0085,0.00325
base,1,130,0.0070,0.002929
base,1,135,0.0063,0.002607
base,1,140,0.0060,0.002286
base,1,145,0.0049,0.001964
base,1,150,0.0051,0.001643
base,1,155,0.0051,0.001321
base,1,160,0.0043,0.001
base-2,2,1,3.7951,0.0005
base-2,2,2,3.7831,0.001
base-2,2,3,3.7315,0.0015
base-2,2,4,3.6781,0.002
base-2,2,5,3.6118,0.0025
base-2,2,6,3.5735,0.003
base-2,2,7,3.5018,0.0035
base-2,2,8,3.4235,0.004
base-2,2,10,3.2209,0.005
base-2,2,15,2.6425,0.0075
base-2,2,20,1.9033,0.01
base-2,2,25,1.5168,0.009679
base-2,2,30,1.1734,0.009357
base-2,2,35,1.0507,0.009036
base-2,2,40,0.7845,0.008714
base-2,2,45,0.6032,0.008393
base-2,2,50,0.4888,0.008071
base-2,2,55,0.3814,0.00775
base-2,2,60,0.2639,0.007429
base-2,2,65,0.1600,0.007107
base-2,2,70,0.0833,0.006786
base-2,2,75,0.0651,0.006464
base-2,2,80,0.0888,0.006143
base-2,2,85,0.0373,0.005821
base-2,2,90,0.0239,0.0055
base-2,2,95,0.0260,0.005179
base-2,2,100,0.0159,0.004857
base-2,2,105,0.0316,0.004536
base-2,2,110,0.0208,0.004214
base-2,2,115,0.0111,0.003893
base-2,2,120,0.0283,0.003571
base-2,2,125,0.0067,0.00325
base-2,2,130,0.0229,0.002929
base-2,2,135,0.0053,0.002607
base-2,2,140,0.0214,0.002286
base-2,2,145,0.0258,0.001964
base-2,2,150,0.0055,0.001643
base-2,2,155,0.0061,0.001321
base-2,2,160,0.0052,0.001
base-3,3,1,3.7382,0.0005
base-3,3,2,3.7196,0.001
base-3,3,3,3.6797,0.0015
base-3,3,4,3.6288,0.002
base-3,3,5,3.5717,0.0025
base-3,3,6,3.5079,0.003
base-3,3,7,3.4362,0.0035
base-3,3,8,3.3899,0.004
base-3,3,10,3.1684,0.005
base-3,3,15,2.4645,0.0075
base-3,3,20,1.8205,0.01
base-3,3,25,1.5600,0.009679
base-3,3,30,1.3673,0.009357
base-3,3,35,1.0192,0.009036
base-3,3,40,0.7943,0.008714
base-3,3,45,0.5781,0.008393
base-3,3,50,0.3239,0.008071
base-3,3,55,0.2082,0.00775
base-3,3,60,0.1697,0.007429
base-3,3,65,0.0892,0.007107
base-3,3,70,0.0960,0.006786
base-3,3,75,0.0586,0.006464
base-3,3,80,0.0477,0.006143
base-3,3,85,0.0492,0.005821
base-3,3,90,0.0259,0.0055
base-3,3,95,0.0364,0.005179
base-3,3,100,0.0176,0.004857
base-3,3,105,0.0389,0.004536
base-3,3,110,0.0207,0.004214
base-3,3,115,0.0112,0.003893
base-3,3,120,0.0208,0.003571
base-3,3,125,0.0071,0.00325
base-3,3,130,0.0048,0.002929
base-3,3,135,0.0046,0.002607
base-3,3,140,0.0053,0.002286
base-3,3,145,0.0052,0.001964
base-3,3,150,0.0071,0.001643
base-3,3,155,0.0040,0.001321
base-3,3,160,0.0062,0.001
base-4,4,1,3.7625,0.0005
base-4,4,2,3.7257,0.001
base-4,4,3,3.6846,0.0015
base-4,4,4,3.6316,0.002
base-4,4,5,3.5635,0.0025
base-4,4,6,3.5211,0.003
base-4,4,7,3.4655,0.0035
base-4,4,8,3.3895,0.004
base-4,4,10,3.2010,0.005
base-4,4,15,2.5190,0.0075
base-4,4,20,1.9211,0.01
base-4,4,25,1.5949,0.009679
base-4,4,30,1.2731,0.009357
base-4,4,35,1.1303,0.009036
base-4,4,40,0.9402,0.008714
base-4,4,45,0.7719,0.008393
base-4,4,50,0.6266,0.008071
base-4,4,55,0.4958,0.00775
base-4,4,60,0.3924,0.007429
base-4,4,65,0.2862,0.007107
base-4,4,70,0.1607,0.006786
base-4,4,75,0.1164,0.006464
base-4,4,80,0.0835,0.006143
base-4,4,85,0.0660,0.005821
base-4,4,90,0.0356,0.0055
base-4,4,95,0.0163,0.005179
base-4,4,100,0.0338,0.004857
base-4,4,105,0.0398,0.004536
base-4,4,110,0.0199,0.004214
base-4,4,115,0.0680,0.003893
base-4,4,120,0.0127,0.003571
base-4,4,125,0.0149,0.00325
base-4,4,130,0.0311,0.002929
base-4,4,135,0.0167,0.002607
base-4,4,140,0.0153,0.002286
base-4,4,145,0.0092,0.001964
base-4,4,150,0.0083,0.001643
base-4,4,155,0.0052,0.001321
base-4,4,160,0.0048,0.001
no-warmup,1,1,3.7178,0.01
no-warmup,1,2,3.4875,0.009943
no-warmup,1,3,3.3144,0.009887
no-warmup,1,4,3.0540,0.00983
no-warmup,1,5,2.9027,0.009774
no-warmup,1,6,2.7057,0.009717
no-warmup,1,7,2.4514,0.00966
no-warmup,1,8,2.2430,0.009604
no-warmup,1,10,1.9859,0.009491
no-warmup,1,15,1.6454,0.009208
no-warmup,1,20,1.4299,0.008925
no-warmup,1,25,1.1542,0.008642
no-warmup,1,30,1.0047,0.008358
no-warmup,1,35,0.8922,0.008075
no-warmup,1,40,0.7319,0.007792
no-warmup,1,45,0.5109,0.007509
no-warmup,1,50,0.3476,0.007226
no-warmup,1,55,0.3303,0.006943
no-warmup,1,60,0.2160,0.00666
no-warmup,1,65,0.1913,0.006377
no-warmup,1,70,0.1267,0.006094
no-warmup,1,75,0.1118,0.005811
no-warmup,1,80,0.0888,0.005528
no-warmup,1,85,0.0482,0.005245
no-warmup,1,90,0.0615,0.004962
no-warmup,1,95,0.0446,0.004679
no-warmup,1,100,0.0707,0.004396
no-warmup,1,105,0.0195,0.004113
no-warmup,1,110,0.0208,0.00383
no-warmup,1,115,0.0121,0.003547
no-warmup,1,120,0.0085,0.003264
no-warmup,1,125,0.0071,0.002981
no-warmup,1,130,0.0085,0.002698
no-warmup,1,135,0.0064,0.002415
no-warmup,1,140,0.0090,0.002132
no-warmup,1,145,0.0065,0.001849
no-warmup,1,150,0.0180,0.001566
no-warmup,1,155,0.0070,0.001283
no-warmup,1,160,0.0055,0.001
norm-last,1,1,3.7189,0.0005
norm-last,1,2,3.6968,0.001
norm-last,1,3,3.6811,0.0015
norm-last,1,4,3.6301,0.002
norm-last,1,5,3.5809,0.0025
norm-last,1,6,3.5123,0.003
norm-last,1,7,3.4460,0.0035
norm-last,1,8,3.3791,0.004
norm-last,1,10,3.2241,0.005
norm-last,1,15,2.5427,0.0075
norm-last,1,20,1.8773,0.01
norm-last,1,25,1.4813,0.009679
norm-last,1,30,1.2018,0.009357
norm-last,1,35,1.0679,0.009036
norm-last,1,40,0.8933,0.008714
norm-last,1,45,0.6641,0.008393
norm-last,1,50,0.4927,0.008071
norm-last,1,55,0.3883,0.00775
norm-last,1,60,0.2544,0.007429
norm-last,1,65,0.1537,0.007107
norm-last,1,70,0.0899,0.006786
norm-last,1,75,0.0600,0.006464
norm-last,1,80,0.0610,0.006143
norm-last,1,85,0.0242,0.005821
norm-last,1,90,0.0256,0.0055
norm-last,1,95,0.0304,0.005179
norm-last,1,100,0.0302,0.004857
norm-last,1,105,0.0144,0.004536
norm-last,1,110,0.0127,0.004214
norm-last,1,115,0.0083,0.003893
norm-last,1,120,0.0089,0.003571
norm-last,1,125,0.0129,0.00325
norm-last,1,130,0.0077,0.002929
norm-last,1,135,0.0063,0.002607
norm-last,1,140,0.0075,0.002286
norm-last,1,145,0.0048,0.001964
norm-last,1,150,0.0063,0.001643
norm-last,1,155,0.0043,0.001321
norm-last,1,160,0.0045,0.001
norm-last-no-warmup,1,1,3.7189,0.01
norm-last-no-warmup,1,2,3.4665,0.009943
norm-last-no-warmup,1,3,3.2947,0.009887
norm-last-no-warmup,1,4,3.0454,0.00983
norm-last-no-warmup,1,5,2.8909,0.009774
norm-last-no-warmup,1,6,2.6818,0.009717
norm-last-no-warmup,1,7,2.4210,0.00966
norm-last-no-warmup,1,8,2.2332,0.009604
norm-last-no-warmup,1,10,1.9861,0.009491
norm-last-no-warmup,1,15,1.5892,0.009208
norm-last-no-warmup,1,20,1.3166,0.008925
norm-last-no-warmup,1,25,1.0558,0.008642
norm-last-no-warmup,1,30,0.8989,0.008358
norm-last-no-warmup,1,35,0.7454,0.008075
norm-last-no-warmup,1,40,0.5855,0.007792
norm-last-no-warmup,1,45,0.3940,0.007509
norm-last-no-warmup,1,50,0.2482,0.007226
norm-last-no-warmup,1,55,0.1791,0.006943
norm-last-no-warmup,1,60,0.1387,0.00666
norm-last-no-warmup,1,65,0.0828,0.006377
norm-last-no-warmup,1,70,0.0774,0.006094
norm-last-no-warmup,1,75,0.0551,0.005811
norm-last-no-warmup,1,80,0.0393,0.005528
norm-last-no-warmup,1,85,0.0237,0.005245
norm-last-no-warmup,1,90,0.0223,0.004962
norm-last-no-warmup,1,95,0.0118,0.004679
norm-last-no-warmup,1,100,0.0329,0.004396
norm-last-no-warmup,1,105,0.0072,0.004113
norm-last-no-warmup,1,110,0.0081,0.00383
norm-last-no-warmup,1,115,0.0168,0.003547
norm-last-no-warmup,1,120,0.0074,0.003264
norm-last-no-warmup,1,125,0.0099,0.002981
norm-last-no-warmup,1,130,0.0046,0.002698
norm-last-no-warmup,1,135,0.0073,0.002415
norm-last-no-warmup,1,140,0.0071,0.002132
norm-last-no-warmup,1,145,0.0036,0.001849
norm-last-no-warmup,1,150,0.0037,0.001566
norm-last-no-warmup,1,155,0.0037,0.001283
norm-last-no-warmup,1,160,0.0035,0.001
no-positions,1,1,3.7437,0.0005
no-positions,1,2,3.7172,0.001
no-positions,1,3,3.6677,0.0015
no-positions,1,4,3.6196,0.002
no-positions,1,5,3.5339,0.0025
no-positions,1,6,3.5019,0.003
no-positions,1,7,3.4329,0.0035
no-positions,1,8,3.3642,0.004
no-positions,1,10,3.1335,0.005
no-positions,1,15,2.4541,0.0075
no-positions,1,20,1.8311,0.01
no-positions,1,25,1.5014,0.009679
no-positions,1,30,1.3009,0.009357
no-positions,1,35,1.1368,0.009036
no-positions,1,40,0.9545,0.008714
no-positions,1,45,0.8140,0.008393
no-positions,1,50,0.7800,0.008071
no-positions,1,55,0.6948,0.00775
no-positions,1,60,0.6140,0.007429
no-positions,1,65,0.5534,0.007107
no-positions,1,70,0.5037,0.006786
no-positions,1,75,0.4686,0.006464
no-positions,1,80,0.4598,0.006143
no-positions,1,85,0.3700,0.005821
no-positions,1,90,0.4207,0.0055
no-positions,1,95,0.3363,0.005179
no-positions,1,100,0.3531,0.004857
no-positions,1,105,0.3016,0.004536
no-positions,1,110,0.3599,0.004214
no-positions,1,115,0.2482,0.003893
no-positions,1,120,0.3126,0.003571
no-positions,1,125,0.2963,0.00325
no-positions,1,130,0.2786,0.002929
no-positions,1,135,0.3021,0.002607
no-positions,1,140,0.3006,0.002286
no-positions,1,145,0.1988,0.001964
no-positions,1,150,0.2755,0.001643
no-positions,1,155,0.2324,0.001321
no-positions,1,160,0.2207,0.001
two-layers,1,1,3.7515,0.0005
two-layers,1,2,3.7231,0.001
two-layers,1,3,3.6892,0.0015
two-layers,1,4,3.6329,0.002
two-layers,1,5,3.5789,0.0025
two-layers,1,6,3.5341,0.003
two-layers,1,7,3.4772,0.0035
two-layers,1,8,3.4354,0.004
two-layers,1,10,3.2590,0.005
two-layers,1,15,2.6697,0.0075
two-layers,1,20,1.9922,0.01
two-layers,1,25,1.6414,0.009679
two-layers,1,30,1.4749,0.009357
two-layers,1,35,1.3865,0.009036
two-layers,1,40,1.2100,0.008714
two-layers,1,45,1.0898,0.008393
two-layers,1,50,0.9411,0.008071
two-layers,1,55,0.8262,0.00775
two-layers,1,60,0.6791,0.007429
two-layers,1,65,0.5769,0.007107
two-layers,1,70,0.4895,0.006786
two-layers,1,75,0.3704,0.006464
two-layers,1,80,0.2886,0.006143
two-layers,1,85,0.2536,0.005821
two-layers,1,90,0.1627,0.0055
two-layers,1,95,0.1109,0.005179
two-layers,1,100,0.0954,0.004857
two-layers,1,105,0.0387,0.004536
two-layers,1,110,0.0945,0.004214
two-layers,1,115,0.0296,0.003893
two-layers,1,120,0.0362,0.003571
two-layers,1,125,0.0351,0.00325
two-layers,1,130,0.0200,0.002929
two-layers,1,135,0.0246,0.002607
two-layers,1,140,0.0279,0.002286
two-layers,1,145,0.0143,0.001964
two-layers,1,150,0.0157,0.001643
two-layers,1,155,0.0113,0.001321
two-layers,1,160,0.0156,0.001
four-layers,1,1,3.7235,0.0005
four-layers,1,2,3.6751,0.001
four-layers,1,3,3.6294,0.0015
four-layers,1,4,3.5866,0.002
four-layers,1,5,3.5570,0.0025
four-layers,1,6,3.5176,0.003
four-layers,1,7,3.4837,0.0035
four-layers,1,8,3.4357,0.004
four-layers,1,10,3.2833,0.005
four-layers,1,15,2.7781,0.0075
four-layers,1,20,2.0586,0.01
four-layers,1,25,1.6860,0.009679
four-layers,1,30,1.5664,0.009357
four-layers,1,35,1.4679,0.009036
four-layers,1,40,1.4100,0.008714
four-layers,1,45,1.2062,0.008393
four-layers,1,50,1.1401,0.008071
four-layers,1,55,1.0998,0.00775
four-layers,1,60,0.9651,0.007429
four-layers,1,65,0.8703,0.007107
four-layers,1,70,0.7831,0.006786
four-layers,1,75,0.7016,0.006464
four-layers,1,80,0.6307,0.006143
four-layers,1,85,0.5393,0.005821
four-layers,1,90,0.4916,0.0055
four-layers,1,95,0.3786,0.005179
four-layers,1,100,0.3657,0.004857
four-layers,1,105,0.2884,0.004536
four-layers,1,110,0.3277,0.004214
four-layers,1,115,0.1871,0.003893
four-layers,1,120,0.2164,0.003571
four-layers,1,125,0.1750,0.00325
four-layers,1,130,0.1516,0.002929
four-layers,1,135,0.1230,0.002607
four-layers,1,140,0.1504,0.002286
four-layers,1,145,0.0868,0.001964
four-layers,1,150,0.1006,0.001643
four-layers,1,155,0.0850,0.001321
four-layers,1,160,0.0684,0.001
"""
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
