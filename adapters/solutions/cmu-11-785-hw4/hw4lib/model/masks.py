"""Masks; True is where attention is blocked."""

import torch


def PadMask(padded_input, input_lengths):
    places = torch.arange(padded_input.shape[1], device=padded_input.device)
    return places[None, :] >= input_lengths.to(padded_input.device)[:, None]


def CausalMask(padded_input):
    length = padded_input.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=padded_input.device).triu(1)
