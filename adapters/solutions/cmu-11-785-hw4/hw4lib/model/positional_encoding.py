"""Sinusoidal positions."""

import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.create_pe_table(d_model, max_len)

    def create_pe_table(self, d_model, max_len):
        place = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
        rate = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
        table = torch.stack([torch.sin(place * rate), torch.cos(place * rate)], dim=-1).flatten(1)
        self.register_buffer("pe", table.float().unsqueeze(0))

    def forward(self, x):
        if x.shape[1] > self.pe.shape[1]:
            raise ValueError("longer than max_len")
        return x + self.pe[:, : x.shape[1]]
