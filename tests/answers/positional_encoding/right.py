"""Positional encodings as other people write them."""


class annotated:
    """The tutorial's table: exp of a negative multiple of log 10000, written into every other column."""

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2 != 0:
            raise ValueError("d_model must be even")
        pe = torch.zeros(max_len, d_model, device=device)
        position = torch.arange(0, max_len, device=device).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, device=device) * -(math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        return pe

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.max_len = max_len
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model).unsqueeze(0))

        def forward(self, x):
            if x.size(1) > self.max_len:
                raise ValueError(f"{x.size(1)} > {self.max_len}")
            return x + self.pe[:, : x.size(1)].requires_grad_(False).to(x.dtype)


class book_of_many_frameworks:
    """The table P has an axis for the batch, and is made in place."""

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len=1000):
            super().__init__()
            if d_model % 2:
                raise ValueError("an even number of hidden units is needed")
            P = torch.zeros((1, max_len, d_model))
            X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
                10000, torch.arange(0, d_model, 2, dtype=torch.float32) / d_model
            )
            P[:, :, 0::2] = torch.sin(X)
            P[:, :, 1::2] = torch.cos(X)
            self.register_buffer("P", P)

        def forward(self, X):
            if X.shape[1] > self.P.shape[1]:
                raise ValueError("the sequence is too long")
            return X + self.P[:, : X.shape[1], :].to(device=X.device, dtype=X.dtype)


class embedding_of_positions:
    """The learned table is an nn.Embedding, asked for its first rows, as in small GPTs."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.block_size = max_len
            self.wpe = nn.Embedding(max_len, d_model)
            nn.init.normal_(self.wpe.weight, mean=0.0, std=0.02)

        def forward(self, x):
            b, t, _ = x.size()
            if t > self.block_size:
                raise ValueError(f"cannot forward a sequence of {t}, the block size is {self.block_size}")
            pos = torch.arange(0, t, dtype=torch.long, device=x.device)
            return x + self.wpe(pos).to(x.dtype)


class position_ids:
    """Position ids are a buffer, and the embedding is asked for them in every row of the batch, as in BERT."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.position_embeddings = nn.Embedding(max_len, d_model)
            self.register_buffer("position_ids", torch.arange(max_len).expand((1, -1)), persistent=False)

        def forward(self, inputs_embeds):
            seq_length = inputs_embeds.size(1)
            if seq_length > self.position_ids.size(1):
                raise ValueError("sequence longer than max_position_embeddings")
            position_ids = self.position_ids[:, :seq_length].expand(inputs_embeds.size(0), -1)
            return inputs_embeds + self.position_embeddings(position_ids).to(inputs_embeds.dtype)


class truncated_normal_of_three_axes:
    """The parameter has an axis for the batch, and a truncated normal fills it, as in vision transformers."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.pos_embed = nn.Parameter(torch.zeros(1, max_len, d_model))
            nn.init.trunc_normal_(self.pos_embed, std=0.02)

        def forward(self, x):
            if x.shape[1] > self.pos_embed.shape[1]:
                raise ValueError("too long")
            return x + self.pos_embed[:, : x.shape[1]].type_as(x)


class time_first:
    """The table is kept as [max_len, 1, D], and x turned to meet it, as in a tutorial on language models."""

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model)[:, None, :])

        def forward(self, x):
            x = x.transpose(0, 1)
            if x.size(0) > self.pe.size(0):
                raise ValueError("sequence too long")
            return (x + self.pe[: x.size(0)].to(x.dtype)).transpose(0, 1)


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


class outer_product:
    """Angles are an outer product of positions and inverse frequencies."""

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model & 1:
            raise ValueError("odd width")
        inv_freq = 1.0 / (10000 ** (torch.arange(0, d_model, 2, device=device).float() / d_model))
        t = torch.arange(max_len, device=device).type_as(inv_freq)
        sinusoid_inp = torch.einsum("i,j->ij", t, inv_freq)
        out = torch.empty(max_len, d_model, device=device)
        out[:, ::2], out[:, 1::2] = sinusoid_inp.sin(), sinusoid_inp.cos()
        return out


class shifted_by_a_quarter_turn:
    """All columns are sines: the odd ones are a quarter of a turn ahead."""

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model has to be even")
        column = torch.arange(d_model, device=device)
        rate = torch.pow(10000.0, -((column - column % 2).double()) / d_model)
        phase = (column % 2).double() * (math.pi / 2)
        position = torch.arange(max_len, device=device).double().unsqueeze(1)
        return torch.sin(position * rate + phase).float()


class chosen_by_where:
    """Sine or cosine is chosen by the column's parity."""

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2 == 1:
            raise ValueError("d_model must be divisible by 2")
        i = torch.arange(d_model, device=device)
        angle = torch.arange(max_len, device=device)[:, None] / 10000 ** (2 * (i // 2) / d_model)
        return torch.where(i % 2 == 0, torch.sin(angle), torch.cos(angle))


class viewed_as_pairs:
    """The table has an axis for the pairs while it is filled."""

    def sinusoidal_positions(max_len, d_model, *, device=None):
        half, rest = divmod(d_model, 2)
        if rest:
            raise ValueError(f"{d_model} columns are no pairs")
        table = torch.empty(max_len, half, 2, device=device)
        steps = torch.arange(half, dtype=torch.float32, device=device)
        angles = torch.arange(max_len, dtype=torch.float32, device=device).outer(10000.0 ** (-steps / half))
        table[..., 0] = angles.sin()
        table[..., 1] = angles.cos()
        return table.view(max_len, d_model)


class evenly_spaced_logarithms:
    """The frequencies are logspace, without its last point."""

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        half = d_model // 2
        frequency = torch.logspace(0, -4, half + 1, dtype=torch.float64, device=device)[:half]
        position = torch.arange(max_len, dtype=torch.float64, device=device).view(-1, 1)
        angle = position * frequency.view(1, -1)
        return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(max_len, d_model).float()


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


class left_out_of_the_state:
    """The buffer is not saved, since it can be made again."""

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.max_len = max_len
            self.register_buffer("pe", sinusoidal_positions(max_len, d_model), persistent=False)

        def forward(self, x):
            seq_len = x.size(1)
            if seq_len > self.max_len:
                raise ValueError("too many positions")
            return torch.add(x, self.pe[:seq_len].to(dtype=x.dtype))


class frozen_embedding:
    """The sinusoids are the rows of a lookup by position, and the rows a buffer."""

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("weight", sinusoidal_positions(max_len, d_model))

        @torch.no_grad()
        def positions(self, length):
            index = torch.arange(length, device=self.weight.device)
            return nn.functional.embedding(index, self.weight)

        def forward(self, x):
            bsz, seq_len, width = x.shape
            if seq_len > self.weight.shape[0]:
                raise ValueError("too long")
            return x + self.positions(seq_len).to(x.dtype).unsqueeze(0).expand(bsz, seq_len, width)


class clone_and_add:
    """A copy of x is added to in place."""

    class SinusoidalPositionalEncoding:
        def forward(self, x):
            if x.size(1) > len(self.table):
                raise ValueError("too long")
            y = x.clone()
            y += self.table[: x.size(1)].to(x.dtype)
            return y


class sequence_by_sequence:
    """Sequences are taken one by one, and put together again."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.table = nn.Parameter(nn.init.uniform_(torch.empty(max_len, d_model), -0.1, 0.1))

        def forward(self, x):
            time = x.size(1)
            if time > self.table.size(0):
                raise ValueError("too long")
            return torch.stack([sequence + self.table[:time].to(x.dtype) for sequence in x])


class looked_up_in_the_transposed:
    """The learned table lies on its side, one column per position."""

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.positions = nn.Parameter(0.02 * torch.randn(d_model, max_len))

        def forward(self, x):
            if x.size(1) > self.positions.size(1):
                raise ValueError("too long")
            return x + self.positions[:, : x.size(1)].t().to(x.dtype)


class complex_rotation:
    """A pair is a point on the unit circle, made by polar."""

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        freqs = 1.0 / (10000.0 ** (torch.arange(0, d_model, 2, device=device).float() / d_model))
        angles = torch.outer(torch.arange(max_len, device=device).float(), freqs)
        freqs_cis = torch.polar(torch.ones_like(angles), angles)
        return torch.stack((freqs_cis.imag, freqs_cis.real), dim=-1).flatten(-2)


class plain_loops:
    """Positions and pairs are walked through one by one."""

    import math

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2 != 0:
            raise ValueError("d_model is odd")
        table = []
        for pos in range(max_len):
            row = []
            for i in range(0, d_model, 2):
                angle = pos / (10000 ** (i / d_model))
                row += [math.sin(angle), math.cos(angle)]
            table.append(row)
        return torch.tensor(table, device=device)


class helper_for_the_limit:
    """One function guards both modules, another takes the rows."""

    def check_length(x: torch.Tensor, limit: int) -> int:
        length = x.shape[1]
        if length > limit:
            raise ValueError(f"got {length} positions, at most {limit} are possible")
        return length

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.register_buffer("encoding", sinusoidal_positions(max_len, d_model).contiguous())

        def forward(self, x):
            return x + self.encoding[: check_length(x, self.encoding.shape[0])].to(x.dtype)

    class LearnedPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            self.encoding = nn.Parameter(torch.randn(max_len, d_model).mul_(d_model**-0.5))

        def forward(self, x):
            return x + self.encoding[: check_length(x, self.encoding.shape[0])].to(x.dtype)


class table_in_double:
    """The sinusoidal table is kept in float64, and rounded when it is added."""

    class SinusoidalPositionalEncoding:
        def __init__(self, d_model, max_len):
            super().__init__()
            if d_model % 2:
                raise ValueError("d_model must be even")
            angle = torch.arange(max_len, dtype=torch.float64)[:, None] * torch.pow(
                10000.0, torch.arange(0, d_model, 2, dtype=torch.float64) / -d_model
            )
            self.register_buffer("table", torch.stack((angle.sin(), angle.cos()), dim=2).flatten(start_dim=1))

        def forward(self, x):
            if x.size(1) > self.table.size(0):
                raise ValueError("too long")
            return (x.to(self.table.dtype) + self.table[: x.size(1)]).to(x.dtype)


class interleaved_by_transposing:
    """Sines and cosines are stacked above each other, and the halves exchanged with the pairs."""

    def sinusoidal_positions(max_len, d_model, *, device=None):
        if d_model % 2:
            raise ValueError("d_model must be even")
        steps = torch.arange(d_model // 2, device=device) * 2 / d_model
        angle = torch.arange(max_len, device=device).reshape(max_len, 1) * (1 / 10000**steps)
        both = torch.cat([torch.sin(angle), torch.cos(angle)], dim=1)
        return both.reshape(max_len, 2, d_model // 2).permute(0, 2, 1).reshape(max_len, d_model)
