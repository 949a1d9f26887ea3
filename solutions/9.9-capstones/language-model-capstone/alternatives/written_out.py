"""Scores written out, sinusoidal positions, one matrix for embedding and head, RMSNorm, AdamW with a cosine."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads = num_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (
            m(x).view(B, T, self.heads, -1).transpose(1, 2) for m in (self.query, self.key, self.value)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(D / self.heads)
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm):
        super().__init__()
        self.norm = norm
        self.sublayers = nn.ModuleList(
            [
                Attention(d_model, num_heads),
                nn.Sequential(
                    nn.Linear(d_model, d_ff, bias=False), nn.SiLU(), nn.Linear(d_ff, d_model, bias=False)
                ),
            ]
        )
        self.norms = nn.ModuleList([nn.RMSNorm(d_model), nn.RMSNorm(d_model)])

    def forward(self, x):
        for norm, sublayer in zip(self.norms, self.sublayers, strict=True):
            x = x + sublayer(norm(x)) if self.norm == "first" else norm(x + sublayer(x))
        return x


class LanguageModel(nn.Module):
    def __init__(
        self,
        vocab_size,
        d_model=64,
        num_heads=4,
        d_ff=128,
        num_layers=2,
        max_len=64,
        norm="first",
        positions=True,
    ):
        super().__init__()
        self.max_len, self.positions = max_len, positions
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.Sequential(*[Block(d_model, num_heads, d_ff, norm) for _ in range(num_layers)])
        self.last = nn.RMSNorm(d_model) if norm == "first" else None
        nn.init.normal_(self.embedding.weight, std=0.04)

    def forward(self, tokens):
        table = self.embedding.weight
        x = self.embedding(tokens) * 8
        if self.positions:
            columns = torch.arange(0, x.shape[-1], 2, device=x.device)
            angle = torch.arange(x.shape[1], device=x.device)[:, None] * 10000.0 ** (-columns / x.shape[-1])
            x = x + 0.3 * torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).to(x.dtype)
        x = self.blocks(x)
        return (x if self.last is None else self.last(x)) @ table.T


def train(tokens, vocab_size, steps, seed, *, norm="first", positions=True, num_layers=2, warmup=20):
    model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                std = 0.04 if parameter is model.embedding.weight else 0.6 * parameter.shape[1] ** -0.5
                parameter.copy_(torch.randn(parameter.shape, generator=chance) * std)
    model.to(tokens.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3, betas=(0.9, 0.98), weight_decay=0.01)

    def share(done):
        step = done + 1
        if step < warmup:
            return step / warmup
        return 0.55 + 0.45 * math.cos(math.pi * (step - max(warmup, 1)) / max(steps, 1))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    size, rows = 64, []
    for step in range(1, steps + 1):
        begin = torch.randint(0, len(tokens) - size, (16,), generator=chance).tolist()
        batch = torch.stack([tokens[at : at + size + 1] for at in begin])
        loss = F.cross_entropy(model(batch[:, :-1]).transpose(1, 2), batch[:, 1:])
        rows.append((step, float(loss.detach()), schedule.get_last_lr()[0]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model, rows


def generate(model, tokens, count, *, temperature=1.0, generator=None):
    was, text = model.training, tokens.clone()
    model.eval()
    with torch.inference_mode():
        for _ in range(count):
            scores = model(text[:, -model.max_len :])[:, -1].double()
            if temperature > 0:
                noise = torch.rand(
                    scores.shape, generator=generator, device=scores.device, dtype=torch.float64
                )
                scores = scores / temperature - torch.log(-torch.log(noise.clamp(1e-12, 1 - 1e-12)))
            text = torch.cat([text, scores.argmax(dim=-1)[:, None]], dim=1)
    model.train(was)
    return text.clone()


def training_log():
    return LOG


LOG = """\
run,seed,step,loss,rate
base,1,1,4.0957,0.0004
base,1,2,4.0213,0.0008
base,1,3,3.8580,0.0012
base,1,4,3.6946,0.0016
base,1,5,3.5797,0.002
base,1,6,3.4443,0.0024
base,1,7,3.3774,0.0028
base,1,8,3.2740,0.0032
base,1,10,3.1218,0.004
base,1,15,3.0321,0.006
base,1,20,2.6714,0.008
base,1,25,2.4840,0.00798
base,1,30,2.3594,0.007921
base,1,35,2.2467,0.007824
base,1,40,2.1498,0.007689
base,1,45,2.1687,0.007518
base,1,50,2.0808,0.007312
base,1,55,2.0714,0.007075
base,1,60,2.0461,0.006809
base,1,65,2.0439,0.006516
base,1,70,2.0330,0.0062
base,1,75,2.0387,0.005864
base,1,80,2.0060,0.005512
base,1,85,1.9501,0.005148
base,1,90,1.9550,0.004776
base,1,95,1.8743,0.0044
base,1,100,1.8651,0.004024
base,1,105,1.9043,0.003652
base,1,110,1.8210,0.003288
base,1,115,1.8454,0.002936
base,1,120,1.7145,0.0026
base,1,125,1.7673,0.002284
base,1,130,1.7515,0.001991
base,1,135,1.7140,0.001725
base,1,140,1.7406,0.001488
base,1,145,1.7385,0.001282
base,1,150,1.7393,0.001111
base-2,2,1,4.1193,0.0004
base-2,2,2,4.0463,0.0008
base-2,2,3,3.9029,0.0012
base-2,2,4,3.7604,0.0016
base-2,2,5,3.5972,0.002
base-2,2,6,3.5171,0.0024
base-2,2,7,3.3895,0.0028
base-2,2,8,3.3144,0.0032
base-2,2,10,3.1419,0.004
base-2,2,15,2.9552,0.006
base-2,2,20,2.6164,0.008
base-2,2,25,2.5064,0.00798
base-2,2,30,2.3118,0.007921
base-2,2,35,2.1913,0.007824
base-2,2,40,2.2474,0.007689
base-2,2,45,2.1249,0.007518
base-2,2,50,2.1364,0.007312
base-2,2,55,2.0865,0.007075
base-2,2,60,2.0085,0.006809
base-2,2,65,2.0173,0.006516
base-2,2,70,2.0063,0.0062
base-2,2,75,2.0280,0.005864
base-2,2,80,1.9510,0.005512
base-2,2,85,2.0066,0.005148
base-2,2,90,1.9587,0.004776
base-2,2,95,1.9380,0.0044
base-2,2,100,1.8928,0.004024
base-2,2,105,1.8716,0.003652
base-2,2,110,1.9012,0.003288
base-2,2,115,1.8506,0.002936
base-2,2,120,1.8390,0.0026
base-2,2,125,1.8573,0.002284
base-2,2,130,1.7504,0.001991
base-2,2,135,1.7174,0.001725
base-2,2,140,1.7410,0.001488
base-2,2,145,1.7628,0.001282
base-2,2,150,1.6243,0.001111
base-3,3,1,4.1538,0.0004
base-3,3,2,4.0816,0.0008
base-3,3,3,3.9220,0.0012
base-3,3,4,3.7532,0.0016
base-3,3,5,3.5818,0.002
base-3,3,6,3.4663,0.0024
base-3,3,7,3.3359,0.0028
base-3,3,8,3.2802,0.0032
base-3,3,10,3.0916,0.004
base-3,3,15,2.9525,0.006
base-3,3,20,2.6785,0.008
base-3,3,25,2.3670,0.00798
base-3,3,30,2.2251,0.007921
base-3,3,35,2.3172,0.007824
base-3,3,40,2.1200,0.007689
base-3,3,45,2.1501,0.007518
base-3,3,50,2.1095,0.007312
base-3,3,55,2.0829,0.007075
base-3,3,60,2.0818,0.006809
base-3,3,65,2.0177,0.006516
base-3,3,70,2.0615,0.0062
base-3,3,75,1.9507,0.005864
base-3,3,80,2.0274,0.005512
base-3,3,85,2.0171,0.005148
base-3,3,90,1.9246,0.004776
base-3,3,95,1.9148,0.0044
base-3,3,100,1.8801,0.004024
base-3,3,105,1.8250,0.003652
base-3,3,110,1.7390,0.003288
base-3,3,115,1.8657,0.002936
base-3,3,120,1.7898,0.0026
base-3,3,125,1.8192,0.002284
base-3,3,130,1.7086,0.001991
base-3,3,135,1.6866,0.001725
base-3,3,140,1.7322,0.001488
base-3,3,145,1.6408,0.001282
base-3,3,150,1.7565,0.001111
base-4,4,1,4.2797,0.0004
base-4,4,2,4.2227,0.0008
base-4,4,3,4.0811,0.0012
base-4,4,4,3.8590,0.0016
base-4,4,5,3.6713,0.002
base-4,4,6,3.5865,0.0024
base-4,4,7,3.4560,0.0028
base-4,4,8,3.3341,0.0032
base-4,4,10,3.1740,0.004
base-4,4,15,3.0240,0.006
base-4,4,20,2.7572,0.008
base-4,4,25,2.5456,0.00798
base-4,4,30,2.4285,0.007921
base-4,4,35,2.2953,0.007824
base-4,4,40,2.2630,0.007689
base-4,4,45,2.1591,0.007518
base-4,4,50,2.1060,0.007312
base-4,4,55,2.1039,0.007075
base-4,4,60,2.0601,0.006809
base-4,4,65,1.9882,0.006516
base-4,4,70,1.9976,0.0062
base-4,4,75,1.9861,0.005864
base-4,4,80,1.8995,0.005512
base-4,4,85,1.9336,0.005148
base-4,4,90,1.9273,0.004776
base-4,4,95,1.8888,0.0044
base-4,4,100,1.8509,0.004024
base-4,4,105,1.9028,0.003652
base-4,4,110,1.8982,0.003288
base-4,4,115,1.8537,0.002936
base-4,4,120,1.7612,0.0026
base-4,4,125,1.7682,0.002284
base-4,4,130,1.7022,0.001991
base-4,4,135,1.6969,0.001725
base-4,4,140,1.6884,0.001488
base-4,4,145,1.7493,0.001282
base-4,4,150,1.6781,0.001111
no-warmup,1,1,4.0957,0.008
no-warmup,1,2,3.5079,0.007999
no-warmup,1,3,3.2062,0.007997
no-warmup,1,4,3.0825,0.007993
no-warmup,1,5,3.0678,0.007987
no-warmup,1,6,3.0159,0.00798
no-warmup,1,7,3.0583,0.007972
no-warmup,1,8,2.9532,0.007961
no-warmup,1,10,2.8128,0.007936
no-warmup,1,15,2.5914,0.007846
no-warmup,1,20,2.3547,0.007719
no-warmup,1,25,2.2179,0.007555
no-warmup,1,30,2.1945,0.007356
no-warmup,1,35,2.1448,0.007125
no-warmup,1,40,2.0760,0.006864
no-warmup,1,45,2.0842,0.006577
no-warmup,1,50,1.9868,0.006265
no-warmup,1,55,2.0335,0.005933
no-warmup,1,60,1.9746,0.005584
no-warmup,1,65,1.9908,0.005222
no-warmup,1,70,1.9769,0.004851
no-warmup,1,75,1.9442,0.004475
no-warmup,1,80,1.9192,0.004099
no-warmup,1,85,1.8786,0.003725
no-warmup,1,90,1.8865,0.003359
no-warmup,1,95,1.7548,0.003005
no-warmup,1,100,1.7872,0.002666
no-warmup,1,105,1.8141,0.002345
no-warmup,1,110,1.7358,0.002048
no-warmup,1,115,1.7495,0.001776
no-warmup,1,120,1.6809,0.001532
no-warmup,1,125,1.6992,0.001321
no-warmup,1,130,1.6860,0.001143
no-warmup,1,135,1.6509,0.001
no-warmup,1,140,1.6591,0.0008951
no-warmup,1,145,1.6772,0.0008284
no-warmup,1,150,1.6809,0.0008008
norm-last,1,1,4.1293,0.0004
norm-last,1,2,4.0854,0.0008
norm-last,1,3,3.9840,0.0012
norm-last,1,4,3.8496,0.0016
norm-last,1,5,3.6981,0.002
norm-last,1,6,3.5113,0.0024
norm-last,1,7,3.4061,0.0028
norm-last,1,8,3.2899,0.0032
norm-last,1,10,3.1292,0.004
norm-last,1,15,3.0835,0.006
norm-last,1,20,2.8298,0.008
norm-last,1,25,2.5768,0.00798
norm-last,1,30,2.4817,0.007921
norm-last,1,35,2.3339,0.007824
norm-last,1,40,2.2086,0.007689
norm-last,1,45,2.2337,0.007518
norm-last,1,50,2.1182,0.007312
norm-last,1,55,2.1381,0.007075
norm-last,1,60,2.0797,0.006809
norm-last,1,65,2.0696,0.006516
norm-last,1,70,2.0618,0.0062
norm-last,1,75,2.0535,0.005864
norm-last,1,80,2.0300,0.005512
norm-last,1,85,1.9436,0.005148
norm-last,1,90,2.0103,0.004776
norm-last,1,95,1.9091,0.0044
norm-last,1,100,1.9143,0.004024
norm-last,1,105,1.9300,0.003652
norm-last,1,110,1.8288,0.003288
norm-last,1,115,1.8505,0.002936
norm-last,1,120,1.7733,0.0026
norm-last,1,125,1.7936,0.002284
norm-last,1,130,1.7791,0.001991
norm-last,1,135,1.7215,0.001725
norm-last,1,140,1.7489,0.001488
norm-last,1,145,1.7269,0.001282
norm-last,1,150,1.7178,0.001111
norm-last-no-warmup,1,1,4.1293,0.008
norm-last-no-warmup,1,2,3.4443,0.007999
norm-last-no-warmup,1,3,3.1799,0.007997
norm-last-no-warmup,1,4,3.0641,0.007993
norm-last-no-warmup,1,5,3.0566,0.007987
norm-last-no-warmup,1,6,3.0054,0.00798
norm-last-no-warmup,1,7,3.0157,0.007972
norm-last-no-warmup,1,8,2.9319,0.007961
norm-last-no-warmup,1,10,2.7702,0.007936
norm-last-no-warmup,1,15,2.5473,0.007846
norm-last-no-warmup,1,20,2.3199,0.007719
norm-last-no-warmup,1,25,2.2189,0.007555
norm-last-no-warmup,1,30,2.2037,0.007356
norm-last-no-warmup,1,35,2.1456,0.007125
norm-last-no-warmup,1,40,2.0965,0.006864
norm-last-no-warmup,1,45,2.1176,0.006577
norm-last-no-warmup,1,50,2.0100,0.006265
norm-last-no-warmup,1,55,2.0525,0.005933
norm-last-no-warmup,1,60,1.9895,0.005584
norm-last-no-warmup,1,65,2.0079,0.005222
norm-last-no-warmup,1,70,1.9902,0.004851
norm-last-no-warmup,1,75,1.9753,0.004475
norm-last-no-warmup,1,80,1.9662,0.004099
norm-last-no-warmup,1,85,1.8612,0.003725
norm-last-no-warmup,1,90,1.9062,0.003359
norm-last-no-warmup,1,95,1.7849,0.003005
norm-last-no-warmup,1,100,1.8145,0.002666
norm-last-no-warmup,1,105,1.8431,0.002345
norm-last-no-warmup,1,110,1.7608,0.002048
norm-last-no-warmup,1,115,1.8005,0.001776
norm-last-no-warmup,1,120,1.7046,0.001532
norm-last-no-warmup,1,125,1.7743,0.001321
norm-last-no-warmup,1,130,1.6980,0.001143
norm-last-no-warmup,1,135,1.6660,0.001
norm-last-no-warmup,1,140,1.7084,0.0008951
norm-last-no-warmup,1,145,1.7064,0.0008284
norm-last-no-warmup,1,150,1.6941,0.0008008
no-positions,1,1,4.0877,0.0004
no-positions,1,2,4.0110,0.0008
no-positions,1,3,3.8619,0.0012
no-positions,1,4,3.7052,0.0016
no-positions,1,5,3.5786,0.002
no-positions,1,6,3.4354,0.0024
no-positions,1,7,3.3734,0.0028
no-positions,1,8,3.2667,0.0032
no-positions,1,10,3.1071,0.004
no-positions,1,15,2.8550,0.006
no-positions,1,20,2.5162,0.008
no-positions,1,25,2.3029,0.00798
no-positions,1,30,2.2486,0.007921
no-positions,1,35,2.1679,0.007824
no-positions,1,40,2.0929,0.007689
no-positions,1,45,2.1239,0.007518
no-positions,1,50,2.0506,0.007312
no-positions,1,55,2.0317,0.007075
no-positions,1,60,1.9929,0.006809
no-positions,1,65,2.0173,0.006516
no-positions,1,70,2.0146,0.0062
no-positions,1,75,2.0059,0.005864
no-positions,1,80,1.9931,0.005512
no-positions,1,85,1.9228,0.005148
no-positions,1,90,1.9737,0.004776
no-positions,1,95,1.8465,0.0044
no-positions,1,100,1.8417,0.004024
no-positions,1,105,1.8958,0.003652
no-positions,1,110,1.8226,0.003288
no-positions,1,115,1.8752,0.002936
no-positions,1,120,1.7770,0.0026
no-positions,1,125,1.8174,0.002284
no-positions,1,130,1.7823,0.001991
no-positions,1,135,1.7732,0.001725
no-positions,1,140,1.7767,0.001488
no-positions,1,145,1.7863,0.001282
no-positions,1,150,1.7594,0.001111
one-layer,1,1,4.0976,0.0004
one-layer,1,2,4.0512,0.0008
one-layer,1,3,3.9436,0.0012
one-layer,1,4,3.8197,0.0016
one-layer,1,5,3.6755,0.002
one-layer,1,6,3.5264,0.0024
one-layer,1,7,3.3982,0.0028
one-layer,1,8,3.2757,0.0032
one-layer,1,10,3.1107,0.004
one-layer,1,15,3.0447,0.006
one-layer,1,20,2.8416,0.008
one-layer,1,25,2.6430,0.00798
one-layer,1,30,2.4402,0.007921
one-layer,1,35,2.3146,0.007824
one-layer,1,40,2.2754,0.007689
one-layer,1,45,2.2880,0.007518
one-layer,1,50,2.1468,0.007312
one-layer,1,55,2.1256,0.007075
one-layer,1,60,2.1124,0.006809
one-layer,1,65,2.0411,0.006516
one-layer,1,70,2.0552,0.0062
one-layer,1,75,2.0207,0.005864
one-layer,1,80,2.0274,0.005512
one-layer,1,85,1.9991,0.005148
one-layer,1,90,1.9915,0.004776
one-layer,1,95,1.9156,0.0044
one-layer,1,100,1.9374,0.004024
one-layer,1,105,1.9149,0.003652
one-layer,1,110,1.9659,0.003288
one-layer,1,115,1.9128,0.002936
one-layer,1,120,1.9521,0.0026
one-layer,1,125,1.8767,0.002284
one-layer,1,130,1.8796,0.001991
one-layer,1,135,1.8281,0.001725
one-layer,1,140,1.8022,0.001488
one-layer,1,145,1.7656,0.001282
one-layer,1,150,1.7937,0.001111
four-layers,1,1,4.2025,0.0004
four-layers,1,2,4.0515,0.0008
four-layers,1,3,3.8497,0.0012
four-layers,1,4,3.6717,0.0016
four-layers,1,5,3.5633,0.002
four-layers,1,6,3.4609,0.0024
four-layers,1,7,3.3760,0.0028
four-layers,1,8,3.2822,0.0032
four-layers,1,10,3.1472,0.004
four-layers,1,15,2.8215,0.006
four-layers,1,20,2.6317,0.008
four-layers,1,25,2.4724,0.00798
four-layers,1,30,2.3398,0.007921
four-layers,1,35,2.3025,0.007824
four-layers,1,40,2.2084,0.007689
four-layers,1,45,2.1461,0.007518
four-layers,1,50,2.0617,0.007312
four-layers,1,55,2.1315,0.007075
four-layers,1,60,2.0243,0.006809
four-layers,1,65,2.0090,0.006516
four-layers,1,70,2.0122,0.0062
four-layers,1,75,2.0325,0.005864
four-layers,1,80,1.9800,0.005512
four-layers,1,85,1.9247,0.005148
four-layers,1,90,1.9688,0.004776
four-layers,1,95,1.9028,0.0044
four-layers,1,100,1.8721,0.004024
four-layers,1,105,1.9210,0.003652
four-layers,1,110,1.8383,0.003288
four-layers,1,115,1.8381,0.002936
four-layers,1,120,1.7566,0.0026
four-layers,1,125,1.8446,0.002284
four-layers,1,130,1.7429,0.001991
four-layers,1,135,1.7103,0.001725
four-layers,1,140,1.6964,0.001488
four-layers,1,145,1.6494,0.001282
four-layers,1,150,1.6621,0.001111
"""
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
