"""GPT-2's names for the parts, heads one after the other, a text that is filled place by place."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

FULL = 0.01


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
        self.max_len, self.heads, self.norm = max_len, num_heads, norm
        # Made in the order in which the log's runs have drawn their weights.
        self.wte = nn.Embedding(vocab_size, d_model)
        self.wpe = nn.Embedding(max_len, d_model) if positions else None
        self.h = nn.ModuleList(
            nn.ModuleDict(
                {
                    "c_attn": nn.Linear(d_model, 3 * d_model),
                    "c_proj": nn.Linear(d_model, d_model),
                    "c_fc": nn.Linear(d_model, d_ff),
                    "mlp_proj": nn.Linear(d_ff, d_model),
                    "ln_1": nn.LayerNorm(d_model),
                    "ln_2": nn.LayerNorm(d_model),
                }
            )
            for _ in range(num_layers)
        )
        self.ln_f = nn.LayerNorm(d_model) if norm == "first" else None
        self.lm_head = nn.Linear(d_model, vocab_size)
        self.wte.weight.data.normal_(0, 0.3)
        if self.wpe is not None:
            self.wpe.weight.data.normal_(0, 0.1)
        self.lm_head.weight.data.normal_(0, 0.02)

    def attention(self, part, x):
        mixed = []
        for q, k, v in zip(
            *(one.chunk(self.heads, -1) for one in part["c_attn"](x).chunk(3, -1)), strict=True
        ):
            scores = torch.einsum("btd,bsd->bts", q, k) * q.shape[-1] ** -0.5
            hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, float("-inf"))
            mixed.append((scores - scores.logsumexp(-1, keepdim=True)).exp() @ v)
        return part["c_proj"](torch.cat(mixed, -1))

    def mlp(self, part, x):
        return part["mlp_proj"](F.gelu(part["c_fc"](x)))

    def forward(self, tokens):
        x = self.wte(tokens)
        if self.wpe is not None:
            x = x + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for part in self.h:
            for norm, f in ((part["ln_1"], self.attention), (part["ln_2"], self.mlp)):
                x = x + f(part, norm(x)) if self.norm == "first" else norm(x + f(part, x))
        return self.lm_head(x if self.ln_f is None else self.ln_f(x))


def train(tokens, vocab_size, steps, seed, *, norm="first", positions=True, num_layers=2, warmup=20):
    before = torch.get_rng_state()
    torch.manual_seed(seed)
    model = LanguageModel(vocab_size, norm=norm, positions=positions, num_layers=num_layers).to(tokens.device)
    torch.set_rng_state(before)
    draws = torch.Generator().manual_seed(seed)
    adam = torch.optim.AdamW(model.parameters(), lr=FULL, betas=(0.9, 0.95), weight_decay=0)
    width, history = min(model.max_len, len(tokens) - 1), []
    for done in range(steps):
        now = done + 1
        fall = 1 - 0.9 * (now - max(warmup, 1)) / max(steps - max(warmup, 1), 1)
        adam.param_groups[0]["lr"] = FULL * (now / warmup if now <= warmup else fall)
        starts = torch.randint(len(tokens) - width, (16, 1), generator=draws)[:, 0].tolist()
        pieces = torch.stack([tokens[start : start + width + 1] for start in starts])
        logs = model(pieces[:, :-1]).log_softmax(-1)
        loss = -logs.gather(-1, pieces[:, 1:, None]).mean()
        model.zero_grad()
        loss.backward()
        adam.step()
        history.append((now, loss.item(), adam.param_groups[0]["lr"]))
    return model, history


def generate(model, tokens, count, *, temperature=1.0, generator=None):
    mode = model.training
    model.eval()
    B, T = tokens.shape
    text = torch.cat([tokens.long(), torch.zeros(B, count, dtype=torch.int64, device=tokens.device)], 1)
    with torch.no_grad():
        for t in range(T, T + count):
            last = model(text[:, max(0, t - model.max_len) : t])[:, -1]
            if temperature > 0:
                text[:, t] = torch.multinomial(torch.softmax(last / temperature, -1), 1, generator=generator)[
                    :, 0
                ]
            else:
                text[:, t] = last.argmax(-1)
    model.train(mode)
    return text


def training_log():
    return LOG


LOG = """\
run,seed,step,loss,rate
base,1,1,4.0549,0.0005
base,1,2,3.9970,0.001
base,1,3,3.8930,0.0015
base,1,4,3.7752,0.002
base,1,5,3.6630,0.0025
base,1,6,3.5463,0.003
base,1,7,3.4133,0.0035
base,1,8,3.3205,0.004
base,1,10,3.0966,0.005
base,1,15,2.5996,0.0075
base,1,20,2.3294,0.01
base,1,25,2.2739,0.009654
base,1,30,2.1958,0.009308
base,1,35,2.1225,0.008962
base,1,40,2.0844,0.008615
base,1,45,2.0589,0.008269
base,1,50,2.0522,0.007923
base,1,55,2.0520,0.007577
base,1,60,1.9873,0.007231
base,1,65,2.0074,0.006885
base,1,70,2.0153,0.006538
base,1,75,1.9179,0.006192
base,1,80,1.9348,0.005846
base,1,85,1.8249,0.0055
base,1,90,1.8806,0.005154
base,1,95,1.8086,0.004808
base,1,100,1.7729,0.004462
base,1,105,1.7335,0.004115
base,1,110,1.7357,0.003769
base,1,115,1.6969,0.003423
base,1,120,1.6831,0.003077
base,1,125,1.5534,0.002731
base,1,130,1.5169,0.002385
base,1,135,1.4886,0.002038
base,1,140,1.5328,0.001692
base,1,145,1.5199,0.001346
base,1,150,1.4615,0.001
base-2,2,1,4.0784,0.0005
base-2,2,2,4.0272,0.001
base-2,2,3,3.9095,0.0015
base-2,2,4,3.7989,0.002
base-2,2,5,3.6727,0.0025
base-2,2,6,3.5250,0.003
base-2,2,7,3.4098,0.0035
base-2,2,8,3.3125,0.004
base-2,2,10,3.1440,0.005
base-2,2,15,2.7904,0.0075
base-2,2,20,2.4551,0.01
base-2,2,25,2.3136,0.009654
base-2,2,30,2.1539,0.009308
base-2,2,35,2.2221,0.008962
base-2,2,40,2.0798,0.008615
base-2,2,45,2.1377,0.008269
base-2,2,50,2.0865,0.007923
base-2,2,55,2.0193,0.007577
base-2,2,60,2.0548,0.007231
base-2,2,65,2.0347,0.006885
base-2,2,70,1.9218,0.006538
base-2,2,75,1.9455,0.006192
base-2,2,80,1.9859,0.005846
base-2,2,85,1.8880,0.0055
base-2,2,90,1.8727,0.005154
base-2,2,95,1.8547,0.004808
base-2,2,100,1.7692,0.004462
base-2,2,105,1.7549,0.004115
base-2,2,110,1.5842,0.003769
base-2,2,115,1.7001,0.003423
base-2,2,120,1.7040,0.003077
base-2,2,125,1.6961,0.002731
base-2,2,130,1.6110,0.002385
base-2,2,135,1.5959,0.002038
base-2,2,140,1.5610,0.001692
base-2,2,145,1.4975,0.001346
base-2,2,150,1.5119,0.001
base-3,3,1,4.0553,0.0005
base-3,3,2,3.9944,0.001
base-3,3,3,3.9016,0.0015
base-3,3,4,3.7736,0.002
base-3,3,5,3.6783,0.0025
base-3,3,6,3.5434,0.003
base-3,3,7,3.4028,0.0035
base-3,3,8,3.3056,0.004
base-3,3,10,3.0703,0.005
base-3,3,15,2.7367,0.0075
base-3,3,20,2.4575,0.01
base-3,3,25,2.2865,0.009654
base-3,3,30,2.1856,0.009308
base-3,3,35,2.1086,0.008962
base-3,3,40,2.1936,0.008615
base-3,3,45,2.1309,0.008269
base-3,3,50,2.0799,0.007923
base-3,3,55,2.0393,0.007577
base-3,3,60,2.0159,0.007231
base-3,3,65,1.9948,0.006885
base-3,3,70,1.9995,0.006538
base-3,3,75,1.9133,0.006192
base-3,3,80,1.8880,0.005846
base-3,3,85,1.8759,0.0055
base-3,3,90,1.8768,0.005154
base-3,3,95,1.8343,0.004808
base-3,3,100,1.8085,0.004462
base-3,3,105,1.7802,0.004115
base-3,3,110,1.8346,0.003769
base-3,3,115,1.7899,0.003423
base-3,3,120,1.7291,0.003077
base-3,3,125,1.6766,0.002731
base-3,3,130,1.6420,0.002385
base-3,3,135,1.7511,0.002038
base-3,3,140,1.6775,0.001692
base-3,3,145,1.6615,0.001346
base-3,3,150,1.6087,0.001
base-4,4,1,4.0621,0.0005
base-4,4,2,4.0065,0.001
base-4,4,3,3.9170,0.0015
base-4,4,4,3.7937,0.002
base-4,4,5,3.6830,0.0025
base-4,4,6,3.5686,0.003
base-4,4,7,3.4514,0.0035
base-4,4,8,3.3349,0.004
base-4,4,10,3.1011,0.005
base-4,4,15,2.8632,0.0075
base-4,4,20,2.4740,0.01
base-4,4,25,2.3139,0.009654
base-4,4,30,2.2296,0.009308
base-4,4,35,2.1302,0.008962
base-4,4,40,2.1286,0.008615
base-4,4,45,2.1189,0.008269
base-4,4,50,2.0900,0.007923
base-4,4,55,2.0711,0.007577
base-4,4,60,2.1009,0.007231
base-4,4,65,2.0467,0.006885
base-4,4,70,2.0121,0.006538
base-4,4,75,2.0372,0.006192
base-4,4,80,1.9597,0.005846
base-4,4,85,1.9132,0.0055
base-4,4,90,1.9208,0.005154
base-4,4,95,1.8911,0.004808
base-4,4,100,1.8415,0.004462
base-4,4,105,1.8076,0.004115
base-4,4,110,1.7478,0.003769
base-4,4,115,1.8500,0.003423
base-4,4,120,1.7062,0.003077
base-4,4,125,1.6764,0.002731
base-4,4,130,1.6762,0.002385
base-4,4,135,1.6176,0.002038
base-4,4,140,1.5916,0.001692
base-4,4,145,1.6437,0.001346
base-4,4,150,1.5723,0.001
no-warmup,1,1,4.0549,0.01
no-warmup,1,2,3.6688,0.00994
no-warmup,1,3,3.2528,0.009879
no-warmup,1,4,3.0687,0.009819
no-warmup,1,5,2.9914,0.009758
no-warmup,1,6,2.8202,0.009698
no-warmup,1,7,3.0325,0.009638
no-warmup,1,8,2.7731,0.009577
no-warmup,1,10,2.6765,0.009456
no-warmup,1,15,2.3716,0.009154
no-warmup,1,20,2.2943,0.008852
no-warmup,1,25,2.2523,0.00855
no-warmup,1,30,2.2344,0.008248
no-warmup,1,35,2.1696,0.007946
no-warmup,1,40,2.1342,0.007644
no-warmup,1,45,2.1030,0.007342
no-warmup,1,50,2.1226,0.00704
no-warmup,1,55,2.0965,0.006738
no-warmup,1,60,2.0542,0.006436
no-warmup,1,65,2.1001,0.006134
no-warmup,1,70,2.0924,0.005832
no-warmup,1,75,2.0152,0.00553
no-warmup,1,80,2.0444,0.005228
no-warmup,1,85,1.9420,0.004926
no-warmup,1,90,1.9707,0.004624
no-warmup,1,95,1.9689,0.004322
no-warmup,1,100,1.9394,0.00402
no-warmup,1,105,1.8844,0.003718
no-warmup,1,110,1.9198,0.003416
no-warmup,1,115,1.8391,0.003114
no-warmup,1,120,1.8832,0.002812
no-warmup,1,125,1.7829,0.00251
no-warmup,1,130,1.7569,0.002208
no-warmup,1,135,1.7126,0.001906
no-warmup,1,140,1.8008,0.001604
no-warmup,1,145,1.7699,0.001302
no-warmup,1,150,1.7329,0.001
norm-last,1,1,4.0697,0.0005
norm-last,1,2,4.0432,0.001
norm-last,1,3,3.9794,0.0015
norm-last,1,4,3.8875,0.002
norm-last,1,5,3.7670,0.0025
norm-last,1,6,3.6391,0.003
norm-last,1,7,3.4811,0.0035
norm-last,1,8,3.3701,0.004
norm-last,1,10,3.1272,0.005
norm-last,1,15,2.6089,0.0075
norm-last,1,20,2.3602,0.01
norm-last,1,25,2.2291,0.009654
norm-last,1,30,2.1837,0.009308
norm-last,1,35,2.1160,0.008962
norm-last,1,40,2.0921,0.008615
norm-last,1,45,2.0531,0.008269
norm-last,1,50,2.0427,0.007923
norm-last,1,55,2.0319,0.007577
norm-last,1,60,1.9921,0.007231
norm-last,1,65,1.9967,0.006885
norm-last,1,70,2.0036,0.006538
norm-last,1,75,1.9150,0.006192
norm-last,1,80,1.9291,0.005846
norm-last,1,85,1.8358,0.0055
norm-last,1,90,1.8595,0.005154
norm-last,1,95,1.8357,0.004808
norm-last,1,100,1.8147,0.004462
norm-last,1,105,1.7363,0.004115
norm-last,1,110,1.7245,0.003769
norm-last,1,115,1.6986,0.003423
norm-last,1,120,1.6428,0.003077
norm-last,1,125,1.5510,0.002731
norm-last,1,130,1.5229,0.002385
norm-last,1,135,1.5171,0.002038
norm-last,1,140,1.5197,0.001692
norm-last,1,145,1.5710,0.001346
norm-last,1,150,1.4692,0.001
norm-last-no-warmup,1,1,4.0697,0.01
norm-last-no-warmup,1,2,3.6308,0.00994
norm-last-no-warmup,1,3,3.2261,0.009879
norm-last-no-warmup,1,4,3.0088,0.009819
norm-last-no-warmup,1,5,2.8460,0.009758
norm-last-no-warmup,1,6,2.7127,0.009698
norm-last-no-warmup,1,7,2.5540,0.009638
norm-last-no-warmup,1,8,2.5553,0.009577
norm-last-no-warmup,1,10,2.3685,0.009456
norm-last-no-warmup,1,15,2.1513,0.009154
norm-last-no-warmup,1,20,2.1564,0.008852
norm-last-no-warmup,1,25,2.1272,0.00855
norm-last-no-warmup,1,30,2.1139,0.008248
norm-last-no-warmup,1,35,2.0576,0.007946
norm-last-no-warmup,1,40,2.0259,0.007644
norm-last-no-warmup,1,45,1.9778,0.007342
norm-last-no-warmup,1,50,1.9732,0.00704
norm-last-no-warmup,1,55,1.9596,0.006738
norm-last-no-warmup,1,60,1.9411,0.006436
norm-last-no-warmup,1,65,1.9647,0.006134
norm-last-no-warmup,1,70,1.9309,0.005832
norm-last-no-warmup,1,75,1.8587,0.00553
norm-last-no-warmup,1,80,1.8367,0.005228
norm-last-no-warmup,1,85,1.7448,0.004926
norm-last-no-warmup,1,90,1.7735,0.004624
norm-last-no-warmup,1,95,1.7312,0.004322
norm-last-no-warmup,1,100,1.6678,0.00402
norm-last-no-warmup,1,105,1.6214,0.003718
norm-last-no-warmup,1,110,1.6382,0.003416
norm-last-no-warmup,1,115,1.6124,0.003114
norm-last-no-warmup,1,120,1.5472,0.002812
norm-last-no-warmup,1,125,1.4562,0.00251
norm-last-no-warmup,1,130,1.4566,0.002208
norm-last-no-warmup,1,135,1.3951,0.001906
norm-last-no-warmup,1,140,1.4133,0.001604
norm-last-no-warmup,1,145,1.4860,0.001302
norm-last-no-warmup,1,150,1.3838,0.001
no-positions,1,1,4.0295,0.0005
no-positions,1,2,3.9780,0.001
no-positions,1,3,3.8632,0.0015
no-positions,1,4,3.7594,0.002
no-positions,1,5,3.6473,0.0025
no-positions,1,6,3.5142,0.003
no-positions,1,7,3.3796,0.0035
no-positions,1,8,3.2832,0.004
no-positions,1,10,3.0547,0.005
no-positions,1,15,2.5035,0.0075
no-positions,1,20,2.2883,0.01
no-positions,1,25,2.2262,0.009654
no-positions,1,30,2.2088,0.009308
no-positions,1,35,2.1011,0.008962
no-positions,1,40,2.0553,0.008615
no-positions,1,45,2.0743,0.008269
no-positions,1,50,2.0661,0.007923
no-positions,1,55,2.0320,0.007577
no-positions,1,60,1.9653,0.007231
no-positions,1,65,2.0045,0.006885
no-positions,1,70,1.9825,0.006538
no-positions,1,75,1.9424,0.006192
no-positions,1,80,1.9356,0.005846
no-positions,1,85,1.8889,0.0055
no-positions,1,90,1.8935,0.005154
no-positions,1,95,1.8755,0.004808
no-positions,1,100,1.8621,0.004462
no-positions,1,105,1.7824,0.004115
no-positions,1,110,1.8379,0.003769
no-positions,1,115,1.7804,0.003423
no-positions,1,120,1.7972,0.003077
no-positions,1,125,1.7372,0.002731
no-positions,1,130,1.6979,0.002385
no-positions,1,135,1.7179,0.002038
no-positions,1,140,1.7085,0.001692
no-positions,1,145,1.7577,0.001346
no-positions,1,150,1.7034,0.001
one-layer,1,1,4.0332,0.0005
one-layer,1,2,4.0009,0.001
one-layer,1,3,3.9190,0.0015
one-layer,1,4,3.8118,0.002
one-layer,1,5,3.7123,0.0025
one-layer,1,6,3.5739,0.003
one-layer,1,7,3.4237,0.0035
one-layer,1,8,3.3125,0.004
one-layer,1,10,3.0628,0.005
one-layer,1,15,2.5985,0.0075
one-layer,1,20,2.3331,0.01
one-layer,1,25,2.2702,0.009654
one-layer,1,30,2.2301,0.009308
one-layer,1,35,2.1283,0.008962
one-layer,1,40,2.0927,0.008615
one-layer,1,45,2.0633,0.008269
one-layer,1,50,2.0577,0.007923
one-layer,1,55,2.0360,0.007577
one-layer,1,60,1.9812,0.007231
one-layer,1,65,1.9921,0.006885
one-layer,1,70,1.9819,0.006538
one-layer,1,75,1.9430,0.006192
one-layer,1,80,1.9213,0.005846
one-layer,1,85,1.8430,0.0055
one-layer,1,90,1.8414,0.005154
one-layer,1,95,1.8162,0.004808
one-layer,1,100,1.8133,0.004462
one-layer,1,105,1.7395,0.004115
one-layer,1,110,1.7483,0.003769
one-layer,1,115,1.6589,0.003423
one-layer,1,120,1.6479,0.003077
one-layer,1,125,1.5613,0.002731
one-layer,1,130,1.5093,0.002385
one-layer,1,135,1.5035,0.002038
one-layer,1,140,1.5342,0.001692
one-layer,1,145,1.5596,0.001346
one-layer,1,150,1.4547,0.001
four-layers,1,1,4.0636,0.0005
four-layers,1,2,3.9576,0.001
four-layers,1,3,3.8239,0.0015
four-layers,1,4,3.7155,0.002
four-layers,1,5,3.6232,0.0025
four-layers,1,6,3.5080,0.003
four-layers,1,7,3.3905,0.0035
four-layers,1,8,3.2968,0.004
four-layers,1,10,3.0813,0.005
four-layers,1,15,2.5767,0.0075
four-layers,1,20,2.3886,0.01
four-layers,1,25,2.2931,0.009654
four-layers,1,30,2.2484,0.009308
four-layers,1,35,2.1621,0.008962
four-layers,1,40,2.1092,0.008615
four-layers,1,45,2.0949,0.008269
four-layers,1,50,2.0940,0.007923
four-layers,1,55,2.0790,0.007577
four-layers,1,60,2.0342,0.007231
four-layers,1,65,2.0311,0.006885
four-layers,1,70,2.0290,0.006538
four-layers,1,75,1.9676,0.006192
four-layers,1,80,1.9996,0.005846
four-layers,1,85,1.9051,0.0055
four-layers,1,90,1.9116,0.005154
four-layers,1,95,1.8817,0.004808
four-layers,1,100,1.8477,0.004462
four-layers,1,105,1.7594,0.004115
four-layers,1,110,1.8387,0.003769
four-layers,1,115,1.7282,0.003423
four-layers,1,120,1.7649,0.003077
four-layers,1,125,1.6799,0.002731
four-layers,1,130,1.6066,0.002385
four-layers,1,135,1.5660,0.002038
four-layers,1,140,1.5971,0.001692
four-layers,1,145,1.6365,0.001346
four-layers,1,150,1.5575,0.001
"""
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
