"""Masks as other people write them."""


class tril_of_ones:
    """The causal mask is the lower triangle of a matrix of ones, compared with 1, as small GPTs have it."""

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, device=device)) == 1


class not_triu:
    """The causal mask is what is not above the diagonal, and masks are combined by a reduction."""

    def causal_mask(seq_len, *, device=None):
        ones = torch.ones((seq_len, seq_len), dtype=torch.bool, device=device)
        return ~ones.triu(diagonal=1)

    def combine_masks(*masks):
        from functools import reduce

        return reduce(torch.logical_and, masks)


class subsequent_of_bytes:
    """Bytes above the diagonal mark what comes later, and 0 among them is what may be seen."""

    def causal_mask(seq_len, *, device=None):
        attn_shape = (1, seq_len, seq_len)
        subsequent = torch.triu(torch.ones(attn_shape, device=device), diagonal=1).type(torch.uint8)
        return (subsequent == 0).squeeze(0)

    def padding_mask(tokens, pad_id=0):
        return (tokens != pad_id).unsqueeze(-2).unsqueeze(1)


class extended_attention_mask:
    """Padding is indexed into four axes and turned into a bias with torch.where, as encoders in libraries do."""

    def padding_mask(tokens, pad_id=0):
        attention_mask = tokens.ne(pad_id)
        return attention_mask[:, None, None, :]

    def additive_mask(mask, dtype=torch.float32):
        allowed = torch.zeros((), dtype=dtype, device=mask.device)
        blocked = torch.full((), -torch.inf, dtype=dtype, device=mask.device)
        return torch.where(mask, allowed, blocked)


class llama_triangle:
    """A full matrix of -inf is cut to its upper triangle, and where 0 is left a query may look."""

    def causal_mask(seq_len, *, device=None):
        scores = torch.full((seq_len, seq_len), float("-inf"), device=device)
        return torch.triu(scores, diagonal=1) == 0


class numpy_triangle:
    """The square masks come from numpy."""

    import numpy as np

    def bidirectional_mask(seq_len, *, device=None):
        return torch.from_numpy(np.ones((seq_len, seq_len), dtype=bool)).to(device)

    def causal_mask(seq_len, *, device=None):
        future = np.triu(np.ones((seq_len, seq_len)), k=1).astype("uint8")
        return torch.from_numpy(future).to(device) == 0


class row_by_row:
    """Each row of the causal mask is one assignment."""

    def causal_mask(seq_len, *, device=None):
        mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)
        for i in range(seq_len):
            mask[i, : i + 1] = True
        return mask


class distances:
    """A query may look where the distance to the key is not negative."""

    def causal_mask(seq_len, *, device=None):
        index = torch.arange(seq_len, device=device)
        distance = index.view(-1, 1) - index.view(1, -1)
        return distance >= 0

    def additive_mask(mask, dtype=torch.float32):
        bias = mask.new_zeros(mask.shape, dtype=dtype)
        bias[~mask] = -float("inf")
        return bias


class running_sum:
    """Ones on the diagonal, summed downwards, are the lower triangle."""

    def causal_mask(seq_len, *, device=None):
        return torch.eye(seq_len, device=device).cumsum(dim=0).bool()

    def bidirectional_mask(seq_len, *, device=None):
        return torch.full((seq_len, seq_len), True, device=device)


class grid:
    """Two index grids are compared, and masks stretched to one shape before all of them must agree."""

    def causal_mask(seq_len, *, device=None):
        steps = torch.arange(seq_len, device=device)
        rows, columns = torch.meshgrid(steps, steps, indexing="ij")
        return rows.ge(columns)

    def combine_masks(*masks):
        return torch.stack(torch.broadcast_tensors(*masks)).all(dim=0)


class triangle_of_indices:
    """The pairs of the lower triangle are listed and set to True."""

    def causal_mask(seq_len, *, device=None):
        allowed = torch.zeros((seq_len, seq_len), dtype=torch.bool, device=device)
        row, column = torch.tril_indices(seq_len, seq_len, device=device)
        allowed[row, column] = True
        return allowed


class logarithm:
    """The additive mask is the logarithm of the mask: log 1 is 0, and log 0 is -inf."""

    def additive_mask(mask, dtype=torch.float32):
        return mask.to(dtype).log()


class table_of_two:
    """The two numbers of an additive mask are looked up by the mask."""

    def additive_mask(mask, dtype=torch.float32):
        values = torch.tensor([float("-inf"), 0.0], dtype=dtype, device=mask.device)
        return values[mask.long()]


class two_fills:
    """The additive mask is filled twice, as a transformer of a tutorial does it."""

    def causal_mask(seq_len, *, device=None):
        return (torch.triu(torch.ones(seq_len, seq_len, device=device)) == 1).transpose(0, 1)

    def additive_mask(mask, dtype=torch.float32):
        numbers = mask.to(dtype)
        return numbers.masked_fill(mask == 0, float("-inf")).masked_fill(mask == 1, float(0.0))


class opposite_then_not:
    """Everything is thought of as blocked, and turned round at the very end, as in toolkits for translation."""

    def padding_mask(tokens, pad_id=0):
        key_padding_mask = tokens.eq(pad_id)
        return ~key_padding_mask.unsqueeze(1).unsqueeze(2)

    def combine_masks(*masks):
        blocked = ~masks[0]
        for mask in masks[1:]:
            blocked = blocked | ~mask
        return ~blocked


class in_place_on_its_own:
    """What it made itself it fills in place."""

    def causal_mask(seq_len, *, device=None):
        return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril_()

    def combine_masks(*masks):
        shape = torch.broadcast_shapes(*(mask.shape for mask in masks))
        allowed = masks[0].expand(shape).clone()
        for mask in masks[1:]:
            allowed &= mask
        return allowed

    def additive_mask(mask, dtype=torch.float32):
        return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask.logical_not(), float("-inf"))


class product:
    """Masks are multiplied as numbers, and compared with 1 at the end."""

    def combine_masks(*masks):
        result = masks[0].int()
        for m in masks[1:]:
            result = result * m.int()
        return result == 1


class counted:
    """A pair is allowed when as many masks allow it as there are."""

    def combine_masks(*masks):
        return sum(mask.long() for mask in masks) == len(masks)


class recursive:
    """Masks are combined from the first and the combination of the rest."""

    def combine_masks(*masks):
        if len(masks) == 1:
            return masks[0].clone()
        return torch.logical_and(masks[0], combine_masks(*masks[1:]))


class factory:
    """A class of static methods holds the ways to make masks, and the functions ask it."""

    class MaskFactory:
        """Makes masks on one device."""

        def __init__(self, device=None):
            self.device = torch.device(device) if device is not None else None

        def square(self, size):
            return torch.ones((size, size), dtype=torch.bool, device=self.device)

        def causal(self, size):
            return torch.tril(self.square(size), diagonal=0)

        @staticmethod
        def keys(real):
            batch, length = real.shape
            return real.reshape(batch, 1, 1, length)

    def bidirectional_mask(seq_len, *, device=None):
        return MaskFactory(device).square(seq_len)

    def causal_mask(seq_len, *, device=None):
        return MaskFactory(device).causal(seq_len)

    def padding_mask(tokens, pad_id=0):
        return MaskFactory.keys(torch.ne(tokens, pad_id))


class typed_and_careful:
    """Arguments are looked at first, and errors say what was wrong."""

    def causal_mask(seq_len: int, *, device: torch.device | str | None = None) -> Tensor:
        if seq_len < 1:
            raise ValueError(f"a mask needs at least one position, not {seq_len}")
        pos = torch.arange(seq_len, dtype=torch.int32, device=device)
        return pos.unsqueeze(0) <= pos.unsqueeze(1)

    def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
        if tokens.dim() != 2:
            raise ValueError(f"tokens must be [B, T], not {tuple(tokens.shape)}")
        return torch.where(tokens == pad_id, False, True).unsqueeze(1).unsqueeze(1)

    def additive_mask(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
        if mask.dtype is not torch.bool:
            raise TypeError(f"mask must be boolean, not {mask.dtype}")
        minus_infinity = torch.tensor(float("-inf"), dtype=dtype, device=mask.device)
        return torch.where(mask, minus_infinity.new_zeros(()), minus_infinity)


class reversed_comparison:
    """Whether a key equals padding is asked with isin, and the square of all pairs is a comparison with itself."""

    def bidirectional_mask(seq_len, *, device=None):
        t = torch.arange(seq_len, device=device)
        return (t[:, None] + t[None, :]) >= 0

    def padding_mask(tokens, pad_id=0):
        return torch.isin(tokens, pad_id, invert=True)[:, None, None]


class filled_backwards:
    """The additive mask begins as -inf, and 0 is put where attention is allowed."""

    def additive_mask(mask, dtype=torch.float32):
        bias = torch.full(mask.size(), float("-inf"), dtype=dtype, device=mask.device)
        return bias.masked_fill(mask, 0)


class masked_select_by_addition:
    """Chosen, not computed: where of two full tensors of the right kind, and the smallest of the masks as numbers."""

    def combine_masks(*masks):
        smallest, *others = (mask.to(torch.uint8) for mask in masks)
        for mask in others:
            smallest = torch.minimum(smallest, mask)
        return smallest.bool()

    def additive_mask(mask, dtype=torch.float32):
        zeros = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        return torch.where(mask, zeros, torch.full_like(zeros, -torch.inf))


class outer_by_einsum:
    """The square of all pairs is an outer product, and the causal mask the sign of a running count."""

    def bidirectional_mask(seq_len, *, device=None):
        ones = torch.ones(seq_len, device=device)
        return torch.einsum("q,k->qk", ones, ones).to(torch.bool)

    def causal_mask(seq_len, *, device=None):
        mask = bidirectional_mask(seq_len, device=device)
        return mask.float().cumsum(dim=-1) <= mask.float().cumsum(dim=-2)
