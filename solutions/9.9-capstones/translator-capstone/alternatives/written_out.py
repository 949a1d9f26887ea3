"""Scores written out, sinusoidal positions, RMSNorm, targets gathered word by word, AdamW with a cosine."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

PAD, BOS, EOS = 0, 1, 2


def attend(q, k, v, heads, mask):
    q, k, v = (part.view(part.shape[0], part.shape[1], heads, -1).transpose(1, 2) for part in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~mask, -1e9 if scores.dtype != torch.bfloat16 else -1e30).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).flatten(2)


class Sublayer(nn.Module):
    def __init__(self, d_model, norm):
        super().__init__()
        self.normed, self.order = nn.RMSNorm(d_model), norm

    def add(self, x, f):
        return x + f(self.normed(x)) if self.order == "first" else self.normed(x + f(x))


class Attend(Sublayer):
    def __init__(self, d_model, heads, norm):
        super().__init__(d_model, norm)
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, mask, memory=None):
        def f(y):
            seen = y if memory is None else memory
            return self.o(attend(self.q(y), self.k(seen), self.v(seen), self.heads, mask))

        return self.add(x, f)


class Feed(Sublayer):
    def __init__(self, d_model, d_ff, norm):
        super().__init__(d_model, norm)
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.add(x, self.net)


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
        self.pad_id, self.positions = pad_id, positions
        self.words = nn.ModuleList([nn.Embedding(source_vocab, d_model), nn.Embedding(target_vocab, d_model)])
        self.reading = nn.ModuleList(
            nn.ModuleList([Attend(d_model, num_heads, norm), Feed(d_model, d_ff, norm)])
            for _ in range(num_layers)
        )
        self.writing = nn.ModuleList(
            nn.ModuleList(
                [
                    Attend(d_model, num_heads, norm),
                    Attend(d_model, num_heads, norm),
                    Feed(d_model, d_ff, norm),
                ]
            )
            for _ in range(num_layers)
        )
        self.ends = nn.ModuleList(nn.RMSNorm(d_model) if norm == "first" else nn.Identity() for _ in range(2))
        self.head = nn.Linear(d_model, target_vocab, bias=False)

    def embed(self, table, text):
        x = table(text)
        if self.positions:
            columns = torch.arange(0, x.shape[-1], 2, device=x.device)
            angle = torch.arange(x.shape[1], device=x.device)[:, None] * 10000.0 ** (-columns / x.shape[-1])
            x = x + 0.3 * torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).to(x.dtype)
        return x

    def forward(self, source, target):
        real = source.ne(self.pad_id).view(source.shape[0], 1, 1, -1)
        memory = self.embed(self.words[0], source)
        for attention, feed in self.reading:
            memory = feed(attention(memory, real))
        memory, x = self.ends[0](memory), self.embed(self.words[1], target)
        T = target.shape[1]
        past = ~torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        for attention, crossing, feed in self.writing:
            x = feed(crossing(attention(x, past), real, memory))
        return self.head(self.ends[1](x))


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
    model = TranslationModel(
        source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
    )
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 2:
                std = 0.3 if "words" in name else 0.03 if "head" in name else 0.7 * parameter.shape[1] ** -0.5
                parameter.copy_(torch.randn(parameter.shape, generator=chance) * std)
            elif name.endswith("bias"):
                parameter.zero_()
    model.to(source.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, weight_decay=0.01)

    def share(done):
        step = done + 1
        if step < warmup:
            return step / warmup
        return 0.55 + 0.45 * math.cos(math.pi * (step - max(warmup, 1)) / max(steps, 1))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    rows = []
    for step in range(1, steps + 1):
        chosen = torch.randint(0, len(source), (40,), generator=chance).tolist()
        read, wanted = source[chosen], target[chosen]
        begun = F.pad(wanted, (1, 0), value=BOS)[:, :-1]
        logs = model(read, begun).log_softmax(dim=-1)
        kept = wanted != PAD
        loss = -logs[kept].gather(-1, wanted[kept][:, None]).mean()
        rows.append((step, float(loss.detach()), schedule.get_last_lr()[0]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model, rows


def translate(model, source, *, max_len):
    was = model.training
    model.eval()
    text = source.new_full((source.shape[0], max_len + 1), BOS)
    alive = torch.ones(source.shape[0], dtype=torch.bool, device=source.device)
    with torch.inference_mode():
        for t in range(max_len):
            best = model(source, text[:, : t + 1])[:, t].argmax(dim=-1)
            text[:, t + 1] = torch.where(alive, best, torch.full_like(best, model.pad_id))
            alive = alive & (best != EOS)
    model.train(was)
    return text[:, 1:].clone()


def training_log():
    return LOG


LOG = """\
run,seed,step,loss,rate
base,1,1,3.7925,0.0004
base,1,2,3.7469,0.0008
base,1,3,3.6755,0.0012
base,1,4,3.6011,0.0016
base,1,5,3.5973,0.002
base,1,6,3.5330,0.0024
base,1,7,3.4568,0.0028
base,1,8,3.3962,0.0032
base,1,10,3.2943,0.004
base,1,15,2.7191,0.006
base,1,20,2.0912,0.008
base,1,25,1.6260,0.007983
base,1,30,1.3596,0.007931
base,1,35,1.1835,0.007845
base,1,40,1.0529,0.007726
base,1,45,0.7716,0.007575
base,1,50,0.6543,0.007393
base,1,55,0.6133,0.007183
base,1,60,0.4811,0.006946
base,1,65,0.4395,0.006684
base,1,70,0.3227,0.0064
base,1,75,0.2286,0.006097
base,1,80,0.2413,0.005778
base,1,85,0.1704,0.005445
base,1,90,0.1641,0.005102
base,1,95,0.1500,0.004753
base,1,100,0.1087,0.0044
base,1,105,0.1280,0.004047
base,1,110,0.1297,0.003698
base,1,115,0.0674,0.003355
base,1,120,0.0720,0.003022
base,1,125,0.0702,0.002703
base,1,130,0.0547,0.0024
base,1,135,0.0607,0.002116
base,1,140,0.0756,0.001854
base,1,145,0.0402,0.001617
base,1,150,0.0582,0.001407
base,1,155,0.0327,0.001225
base,1,160,0.0256,0.001074
base-2,2,1,3.7791,0.0004
base-2,2,2,3.7564,0.0008
base-2,2,3,3.6889,0.0012
base-2,2,4,3.6442,0.0016
base-2,2,5,3.5918,0.002
base-2,2,6,3.5354,0.0024
base-2,2,7,3.4568,0.0028
base-2,2,8,3.4080,0.0032
base-2,2,10,3.2819,0.004
base-2,2,15,2.7178,0.006
base-2,2,20,2.0391,0.008
base-2,2,25,1.7015,0.007983
base-2,2,30,1.3192,0.007931
base-2,2,35,1.1147,0.007845
base-2,2,40,0.9215,0.007726
base-2,2,45,0.7624,0.007575
base-2,2,50,0.6157,0.007393
base-2,2,55,0.4491,0.007183
base-2,2,60,0.3584,0.006946
base-2,2,65,0.2558,0.006684
base-2,2,70,0.1593,0.0064
base-2,2,75,0.2480,0.006097
base-2,2,80,0.2641,0.005778
base-2,2,85,0.0908,0.005445
base-2,2,90,0.0820,0.005102
base-2,2,95,0.1307,0.004753
base-2,2,100,0.1093,0.0044
base-2,2,105,0.0891,0.004047
base-2,2,110,0.0718,0.003698
base-2,2,115,0.0615,0.003355
base-2,2,120,0.0714,0.003022
base-2,2,125,0.0402,0.002703
base-2,2,130,0.0245,0.0024
base-2,2,135,0.0567,0.002116
base-2,2,140,0.0203,0.001854
base-2,2,145,0.0494,0.001617
base-2,2,150,0.0230,0.001407
base-2,2,155,0.0318,0.001225
base-2,2,160,0.0157,0.001074
base-3,3,1,3.7803,0.0004
base-3,3,2,3.7641,0.0008
base-3,3,3,3.6902,0.0012
base-3,3,4,3.6033,0.0016
base-3,3,5,3.5615,0.002
base-3,3,6,3.5108,0.0024
base-3,3,7,3.4671,0.0028
base-3,3,8,3.4428,0.0032
base-3,3,10,3.2834,0.004
base-3,3,15,2.8057,0.006
base-3,3,20,2.2211,0.008
base-3,3,25,1.7694,0.007983
base-3,3,30,1.4307,0.007931
base-3,3,35,1.2427,0.007845
base-3,3,40,1.0325,0.007726
base-3,3,45,0.8745,0.007575
base-3,3,50,0.5588,0.007393
base-3,3,55,0.4427,0.007183
base-3,3,60,0.3487,0.006946
base-3,3,65,0.3350,0.006684
base-3,3,70,0.2627,0.0064
base-3,3,75,0.2100,0.006097
base-3,3,80,0.2149,0.005778
base-3,3,85,0.2452,0.005445
base-3,3,90,0.1084,0.005102
base-3,3,95,0.1567,0.004753
base-3,3,100,0.0932,0.0044
base-3,3,105,0.0823,0.004047
base-3,3,110,0.0589,0.003698
base-3,3,115,0.0719,0.003355
base-3,3,120,0.0952,0.003022
base-3,3,125,0.0510,0.002703
base-3,3,130,0.0386,0.0024
base-3,3,135,0.0290,0.002116
base-3,3,140,0.0657,0.001854
base-3,3,145,0.0676,0.001617
base-3,3,150,0.0426,0.001407
base-3,3,155,0.0402,0.001225
base-3,3,160,0.0383,0.001074
base-4,4,1,3.7411,0.0004
base-4,4,2,3.7080,0.0008
base-4,4,3,3.6482,0.0012
base-4,4,4,3.5945,0.0016
base-4,4,5,3.5445,0.002
base-4,4,6,3.4889,0.0024
base-4,4,7,3.4425,0.0028
base-4,4,8,3.3956,0.0032
base-4,4,10,3.2974,0.004
base-4,4,15,2.7631,0.006
base-4,4,20,2.0440,0.008
base-4,4,25,1.6121,0.007983
base-4,4,30,1.3584,0.007931
base-4,4,35,1.0690,0.007845
base-4,4,40,0.8396,0.007726
base-4,4,45,0.5520,0.007575
base-4,4,50,0.4576,0.007393
base-4,4,55,0.3374,0.007183
base-4,4,60,0.2896,0.006946
base-4,4,65,0.1774,0.006684
base-4,4,70,0.2062,0.0064
base-4,4,75,0.1399,0.006097
base-4,4,80,0.1538,0.005778
base-4,4,85,0.1182,0.005445
base-4,4,90,0.0949,0.005102
base-4,4,95,0.1499,0.004753
base-4,4,100,0.1221,0.0044
base-4,4,105,0.0837,0.004047
base-4,4,110,0.1004,0.003698
base-4,4,115,0.0486,0.003355
base-4,4,120,0.0708,0.003022
base-4,4,125,0.0313,0.002703
base-4,4,130,0.0753,0.0024
base-4,4,135,0.0347,0.002116
base-4,4,140,0.0247,0.001854
base-4,4,145,0.0322,0.001617
base-4,4,150,0.0267,0.001407
base-4,4,155,0.0359,0.001225
base-4,4,160,0.0255,0.001074
no-warmup,1,1,3.7925,0.008
no-warmup,1,2,3.5150,0.007999
no-warmup,1,3,3.4100,0.007997
no-warmup,1,4,3.2649,0.007994
no-warmup,1,5,3.1184,0.007989
no-warmup,1,6,2.9520,0.007983
no-warmup,1,7,2.9625,0.007975
no-warmup,1,8,2.6270,0.007966
no-warmup,1,10,2.4312,0.007944
no-warmup,1,15,1.9148,0.007865
no-warmup,1,20,1.6065,0.007752
no-warmup,1,25,1.3315,0.007608
no-warmup,1,30,1.1781,0.007432
no-warmup,1,35,1.0223,0.007227
no-warmup,1,40,0.9336,0.006995
no-warmup,1,45,0.7066,0.006738
no-warmup,1,50,0.6547,0.006458
no-warmup,1,55,0.6513,0.006159
no-warmup,1,60,0.5460,0.005843
no-warmup,1,65,0.4303,0.005512
no-warmup,1,70,0.3534,0.005172
no-warmup,1,75,0.2323,0.004823
no-warmup,1,80,0.1870,0.004471
no-warmup,1,85,0.2069,0.004118
no-warmup,1,90,0.1509,0.003767
no-warmup,1,95,0.1726,0.003423
no-warmup,1,100,0.1055,0.003088
no-warmup,1,105,0.1306,0.002766
no-warmup,1,110,0.1277,0.002459
no-warmup,1,115,0.0980,0.002171
no-warmup,1,120,0.0836,0.001905
no-warmup,1,125,0.0793,0.001663
no-warmup,1,130,0.0610,0.001447
no-warmup,1,135,0.0629,0.001259
no-warmup,1,140,0.0731,0.001102
no-warmup,1,145,0.0520,0.0009762
no-warmup,1,150,0.0627,0.0008836
no-warmup,1,155,0.0472,0.000825
no-warmup,1,160,0.0429,0.0008007
norm-last,1,1,3.7624,0.0004
norm-last,1,2,3.7381,0.0008
norm-last,1,3,3.6799,0.0012
norm-last,1,4,3.6143,0.0016
norm-last,1,5,3.6091,0.002
norm-last,1,6,3.5313,0.0024
norm-last,1,7,3.4524,0.0028
norm-last,1,8,3.3663,0.0032
norm-last,1,10,3.2604,0.004
norm-last,1,15,2.7018,0.006
norm-last,1,20,2.0609,0.008
norm-last,1,25,1.5707,0.007983
norm-last,1,30,1.2652,0.007931
norm-last,1,35,1.0532,0.007845
norm-last,1,40,0.8982,0.007726
norm-last,1,45,0.5776,0.007575
norm-last,1,50,0.4659,0.007393
norm-last,1,55,0.3008,0.007183
norm-last,1,60,0.2370,0.006946
norm-last,1,65,0.1851,0.006684
norm-last,1,70,0.1428,0.0064
norm-last,1,75,0.1431,0.006097
norm-last,1,80,0.1510,0.005778
norm-last,1,85,0.0623,0.005445
norm-last,1,90,0.0914,0.005102
norm-last,1,95,0.0698,0.004753
norm-last,1,100,0.0620,0.0044
norm-last,1,105,0.0949,0.004047
norm-last,1,110,0.0622,0.003698
norm-last,1,115,0.0750,0.003355
norm-last,1,120,0.0322,0.003022
norm-last,1,125,0.0284,0.002703
norm-last,1,130,0.0341,0.0024
norm-last,1,135,0.0266,0.002116
norm-last,1,140,0.0224,0.001854
norm-last,1,145,0.0158,0.001617
norm-last,1,150,0.0233,0.001407
norm-last,1,155,0.0122,0.001225
norm-last,1,160,0.0099,0.001074
norm-last-no-warmup,1,1,3.7624,0.008
norm-last-no-warmup,1,2,3.4835,0.007999
norm-last-no-warmup,1,3,3.3416,0.007997
norm-last-no-warmup,1,4,3.1100,0.007994
norm-last-no-warmup,1,5,2.9990,0.007989
norm-last-no-warmup,1,6,2.8261,0.007983
norm-last-no-warmup,1,7,2.5986,0.007975
norm-last-no-warmup,1,8,2.3854,0.007966
norm-last-no-warmup,1,10,2.1852,0.007944
norm-last-no-warmup,1,15,1.6826,0.007865
norm-last-no-warmup,1,20,1.3879,0.007752
norm-last-no-warmup,1,25,1.1190,0.007608
norm-last-no-warmup,1,30,0.8511,0.007432
norm-last-no-warmup,1,35,0.6671,0.007227
norm-last-no-warmup,1,40,0.5500,0.006995
norm-last-no-warmup,1,45,0.3488,0.006738
norm-last-no-warmup,1,50,0.3026,0.006458
norm-last-no-warmup,1,55,0.2093,0.006159
norm-last-no-warmup,1,60,0.1781,0.005843
norm-last-no-warmup,1,65,0.1403,0.005512
norm-last-no-warmup,1,70,0.1387,0.005172
norm-last-no-warmup,1,75,0.1098,0.004823
norm-last-no-warmup,1,80,0.1282,0.004471
norm-last-no-warmup,1,85,0.1394,0.004118
norm-last-no-warmup,1,90,0.1416,0.003767
norm-last-no-warmup,1,95,0.0824,0.003423
norm-last-no-warmup,1,100,0.0771,0.003088
norm-last-no-warmup,1,105,0.0903,0.002766
norm-last-no-warmup,1,110,0.1185,0.002459
norm-last-no-warmup,1,115,0.0660,0.002171
norm-last-no-warmup,1,120,0.0358,0.001905
norm-last-no-warmup,1,125,0.0267,0.001663
norm-last-no-warmup,1,130,0.0183,0.001447
norm-last-no-warmup,1,135,0.0321,0.001259
norm-last-no-warmup,1,140,0.0289,0.001102
norm-last-no-warmup,1,145,0.0195,0.0009762
norm-last-no-warmup,1,150,0.0240,0.0008836
norm-last-no-warmup,1,155,0.0147,0.000825
norm-last-no-warmup,1,160,0.0183,0.0008007
no-positions,1,1,3.8108,0.0004
no-positions,1,2,3.7570,0.0008
no-positions,1,3,3.6879,0.0012
no-positions,1,4,3.6082,0.0016
no-positions,1,5,3.5955,0.002
no-positions,1,6,3.5123,0.0024
no-positions,1,7,3.4380,0.0028
no-positions,1,8,3.3463,0.0032
no-positions,1,10,3.1836,0.004
no-positions,1,15,2.6451,0.006
no-positions,1,20,2.0349,0.008
no-positions,1,25,1.5619,0.007983
no-positions,1,30,1.2815,0.007931
no-positions,1,35,1.1611,0.007845
no-positions,1,40,1.0738,0.007726
no-positions,1,45,0.7697,0.007575
no-positions,1,50,0.7168,0.007393
no-positions,1,55,0.6518,0.007183
no-positions,1,60,0.7210,0.006946
no-positions,1,65,0.6298,0.006684
no-positions,1,70,0.5613,0.0064
no-positions,1,75,0.5472,0.006097
no-positions,1,80,0.4733,0.005778
no-positions,1,85,0.4872,0.005445
no-positions,1,90,0.4102,0.005102
no-positions,1,95,0.4354,0.004753
no-positions,1,100,0.4205,0.0044
no-positions,1,105,0.5136,0.004047
no-positions,1,110,0.4208,0.003698
no-positions,1,115,0.3854,0.003355
no-positions,1,120,0.3263,0.003022
no-positions,1,125,0.2755,0.002703
no-positions,1,130,0.3204,0.0024
no-positions,1,135,0.2984,0.002116
no-positions,1,140,0.2960,0.001854
no-positions,1,145,0.2758,0.001617
no-positions,1,150,0.2887,0.001407
no-positions,1,155,0.2315,0.001225
no-positions,1,160,0.2324,0.001074
two-layers,1,1,3.7356,0.0004
two-layers,1,2,3.6934,0.0008
two-layers,1,3,3.6403,0.0012
two-layers,1,4,3.5841,0.0016
two-layers,1,5,3.5452,0.002
two-layers,1,6,3.5087,0.0024
two-layers,1,7,3.4565,0.0028
two-layers,1,8,3.4184,0.0032
two-layers,1,10,3.2991,0.004
two-layers,1,15,2.8741,0.006
two-layers,1,20,2.2830,0.008
two-layers,1,25,1.8846,0.007983
two-layers,1,30,1.5434,0.007931
two-layers,1,35,1.4385,0.007845
two-layers,1,40,1.3049,0.007726
two-layers,1,45,1.1473,0.007575
two-layers,1,50,0.9985,0.007393
two-layers,1,55,0.9714,0.007183
two-layers,1,60,0.7941,0.006946
two-layers,1,65,0.6326,0.006684
two-layers,1,70,0.5289,0.0064
two-layers,1,75,0.4159,0.006097
two-layers,1,80,0.2524,0.005778
two-layers,1,85,0.3210,0.005445
two-layers,1,90,0.1827,0.005102
two-layers,1,95,0.3090,0.004753
two-layers,1,100,0.2198,0.0044
two-layers,1,105,0.1291,0.004047
two-layers,1,110,0.1839,0.003698
two-layers,1,115,0.1715,0.003355
two-layers,1,120,0.1069,0.003022
two-layers,1,125,0.1061,0.002703
two-layers,1,130,0.1396,0.0024
two-layers,1,135,0.0644,0.002116
two-layers,1,140,0.0597,0.001854
two-layers,1,145,0.0740,0.001617
two-layers,1,150,0.0481,0.001407
two-layers,1,155,0.0713,0.001225
two-layers,1,160,0.0491,0.001074
four-layers,1,1,3.7426,0.0004
four-layers,1,2,3.6771,0.0008
four-layers,1,3,3.6092,0.0012
four-layers,1,4,3.5712,0.0016
four-layers,1,5,3.5200,0.002
four-layers,1,6,3.5241,0.0024
four-layers,1,7,3.4780,0.0028
four-layers,1,8,3.4372,0.0032
four-layers,1,10,3.2787,0.004
four-layers,1,15,3.0344,0.006
four-layers,1,20,2.3072,0.008
four-layers,1,25,1.8132,0.007983
four-layers,1,30,1.6330,0.007931
four-layers,1,35,1.3606,0.007845
four-layers,1,40,1.2500,0.007726
four-layers,1,45,1.1963,0.007575
four-layers,1,50,1.0664,0.007393
four-layers,1,55,0.9654,0.007183
four-layers,1,60,0.8798,0.006946
four-layers,1,65,0.8058,0.006684
four-layers,1,70,0.7552,0.0064
four-layers,1,75,0.6118,0.006097
four-layers,1,80,0.5411,0.005778
four-layers,1,85,0.5324,0.005445
four-layers,1,90,0.4943,0.005102
four-layers,1,95,0.5520,0.004753
four-layers,1,100,0.4171,0.0044
four-layers,1,105,0.3920,0.004047
four-layers,1,110,0.3190,0.003698
four-layers,1,115,0.3560,0.003355
four-layers,1,120,0.2809,0.003022
four-layers,1,125,0.2545,0.002703
four-layers,1,130,0.1894,0.0024
four-layers,1,135,0.1729,0.002116
four-layers,1,140,0.1337,0.001854
four-layers,1,145,0.1512,0.001617
four-layers,1,150,0.1297,0.001407
four-layers,1,155,0.1109,0.001225
four-layers,1,160,0.0860,0.001074
"""
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
