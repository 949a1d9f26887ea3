"""Positional encodings as other people write them."""


class numpy_table:
    """The table is numpy's, in float64, and cast at the end."""

    import numpy as np

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError(f"d_model must be even, got {d_model}")
        position_enc = np.array(
            [
                [pos / np.power(10000, 2 * (j // 2) / d_model) for j in range(d_model)]
                for pos in range(max_len)
            ]
        )
        position_enc[:, 0::2] = np.sin(position_enc[:, 0::2])
        position_enc[:, 1::2] = np.cos(position_enc[:, 1::2])
        return torch.tensor(position_enc, dtype=torch.float32, device=device)


class class_without_the_function:
    """The class makes its own table, and the function asks nothing of it."""

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            if d_model % 2:
                raise ValueError("d_model must be even")
            self.register_buffer("pos_table", self._get_sinusoid_encoding_table(max_len, d_model))

        @staticmethod
        def _get_sinusoid_encoding_table(n_position, d_hid):
            exponent = torch.arange(0, d_hid, 2) / d_hid
            angle = torch.arange(n_position)[:, None] / torch.pow(10000.0, exponent)
            return torch.stack((angle.sin(), angle.cos()), -1).view(1, n_position, d_hid)

        def forward(self, x):
            if x.size(1) > self.pos_table.size(1):
                raise ValueError("longer than n_position")
            return x + self.pos_table[:, : x.size(1)].clone().detach().to(x)


class base_class:
    """Both modules inherit how a table is added."""

    class AbsolutePositions(nn.Module):
        """Adds `rows` to what comes in."""

        rows: torch.Tensor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            length, limit = x.shape[-2], self.rows.shape[0]
            if length > limit:
                raise ValueError(f"sequence length {length} exceeds {limit}")
            return x + self.rows.narrow(0, 0, length).to(x.dtype)

    class SinusoidalPositionalEncoding(AbsolutePositions):
        def __init__(self, d_model: int, max_len: int) -> None:
            super().__init__()
            self.register_buffer("rows", sinusoidal_positions(max_len, d_model))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x)

    class LearnedPositionalEncoding(AbsolutePositions):
        def __init__(self, d_model: int, max_len: int) -> None:
            super().__init__()
            self.rows = nn.Parameter(torch.empty(max_len, d_model).normal_(std=0.02))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x)
