"""Masks as other people get them wrong."""


class strictly_lower:
    """A position does not see itself.

    Named: causal_shifted_early
    """

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, device=device), diagonal=-1) == 1


class rows_up_to_i:
    """A slice that ends before the query's own key.

    Named: causal_shifted_early
    """

    def causal_mask(seq_len, *, device=None):
        mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)
        for i in range(seq_len):
            mask[i, :i] = True
        return mask


class subsequent_not_turned_round:
    """The tutorial's matrix of what comes later, without the == 0.

    Named: causal_inverted
    """

    def causal_mask(seq_len, *, device=None):
        subsequent = torch.triu(torch.ones(seq_len, seq_len, device=device), diagonal=1)
        return subsequent.bool()


class upper_triangle:
    """The triu of ones, which has to be transposed yet.

    Named: causal_transposed
    """

    def causal_mask(seq_len, *, device=None):
        return torch.triu(torch.ones(seq_len, seq_len, device=device)) == 1


class grid_of_xy:
    """The grids of rows and columns are taken the wrong way round.

    Named: causal_transposed
    """

    def causal_mask(seq_len, *, device=None):
        steps = torch.arange(seq_len, device=device)
        keys, queries = torch.meshgrid(steps, steps, indexing="ij")
        return keys <= queries


class diagonal_one:
    """The triangle is cut one diagonal too high.

    Named: causal_shifted_late
    """

    def causal_mask(seq_len, *, device=None):
        ones = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device)
        return ~torch.triu(ones, diagonal=2)


class forgot_the_triangle:
    """The ones are made boolean before anybody cut the triangle out of them.

    Named: causal_sees_all
    """

    def causal_mask(seq_len, *, device=None):
        mask = torch.ones(seq_len, seq_len, device=device)
        mask.tril()
        return mask.bool()


class numbers_of_tril:
    """The triangle as small GPTs keep it: float ones and zeros.

    Named: causal_float
    """

    def causal_mask(seq_len, *, device=None):
        mask = torch.tril(torch.ones(seq_len, seq_len))
        return mask.to(device)


class bytes_of_tril:
    """The triangle holds integers of eight bits.

    Named: causal_bytes
    """

    def causal_mask(seq_len, *, device=None):
        return torch.tril(torch.ones(seq_len, seq_len, dtype=torch.uint8, device=device))


class llama_triangle_as_it_is:
    """The matrix of 0 and -inf that llama adds to its scores.

    Named: causal_additive
    """

    def causal_mask(seq_len, *, device=None):
        mask = torch.full((seq_len, seq_len), float("-inf"), device=device)
        return torch.triu(mask, diagonal=1)


class buffer_of_four_axes:
    """The shape of the buffer that GPTs register: [1, 1, T, T].

    Named: causal_four_axes
    """

    def causal_mask(seq_len, *, device=None):
        bias = torch.tril(torch.ones(seq_len, seq_len, device=device))
        return bias.view(1, 1, seq_len, seq_len).bool()


class tutorial_of_three_axes:
    """The tutorial's own shape: [1, T, T].

    Named: causal_three_axes
    """

    def causal_mask(seq_len, *, device=None):
        subsequent = torch.triu(torch.ones((1, seq_len, seq_len), device=device), diagonal=1)
        return subsequent == 0


class table_of_512:
    """The causal mask is sliced out of a table for the context that GPTs have."""

    block_size = 512

    def causal_mask(seq_len, *, device=None):
        bias = torch.tril(torch.ones(block_size, block_size, device=device)).bool()
        return bias[:seq_len, :seq_len]


class square_device_ignored:
    """Numpy triangles are never moved.

    Named: device_ignored
    """

    import numpy as np

    def bidirectional_mask(seq_len, *, device=None):
        return torch.from_numpy(np.ones((seq_len, seq_len), dtype=bool))

    def causal_mask(seq_len, *, device=None):
        return torch.from_numpy(np.tril(np.ones((seq_len, seq_len))).astype(bool))


class causal_device_ignored:
    """The index vector is made on the CPU, while the bidirectional mask is where it should be.

    Named: device_ignored, causal_device_ignored
    """

    def causal_mask(seq_len, *, device=None):
        i = torch.arange(seq_len)
        return i[:, None] >= i


class to_forgotten:
    """A mask is moved, and what .to returns is not kept.

    Named: device_ignored
    """

    def bidirectional_mask(seq_len, *, device=None):
        mask = torch.ones(seq_len, seq_len).bool()
        mask.to(device)
        return mask

    def causal_mask(seq_len, *, device=None):
        mask = bidirectional_mask(seq_len).tril()
        mask.to(device)
        return mask


class bidirectional_zeros:
    """Nothing is blocked, so the mask is zeros: the convention in which True blocks.

    Named: bidirectional_inverted
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)


class bidirectional_ones:
    """Ones, with torch's default dtype.

    Named: bidirectional_float
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.ones((seq_len, seq_len), device=device)

    def causal_mask(seq_len, *, device=None):
        return bidirectional_mask(seq_len, device=device).tril() > 0


class bidirectional_of_keys:
    """One row stands for all queries.

    Named: bidirectional_one_row
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.ones(seq_len, dtype=torch.bool, device=device)


class true_means_blocked:
    """Everything is written in the convention of nn.MultiheadAttention, where True blocks.

    Named: bidirectional_inverted, causal_inverted, padding_inverted, combine_or, additive_inverted
    """

    def bidirectional_mask(seq_len, *, device=None):
        return torch.zeros(seq_len, seq_len, dtype=torch.bool, device=device)

    def causal_mask(seq_len, *, device=None):
        return torch.triu(torch.ones(seq_len, seq_len, device=device), diagonal=1).bool()

    def padding_mask(tokens, pad_id=0):
        return tokens.eq(pad_id).unsqueeze(1).unsqueeze(2)

    def combine_masks(*masks):
        from functools import reduce

        return reduce(torch.logical_or, masks)

    def additive_mask(mask, dtype=torch.float32):
        return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, float("-inf"))


class key_padding_mask:
    """Padding is marked with True, as the key_padding_mask of torch's module wants it.

    Named: padding_inverted
    """

    def padding_mask(tokens, pad_id=0):
        return tokens.eq(pad_id).unsqueeze(1).unsqueeze(2)


class attention_mask_of_the_tokenizer:
    """The mask has the shape that tokenizers give.

    Named: padding_two_axes
    """

    def padding_mask(tokens, pad_id=0):
        return torch.where(tokens == pad_id, False, True)


class source_mask_of_the_tutorial:
    """One axis is inserted: [B, 1, T], where the tutorial's attention inserts the other one.

    Named: padding_three_axes
    """

    def padding_mask(tokens, pad_id=0):
        return (tokens != pad_id).unsqueeze(-2)


class pairs_of_real_tokens:
    """Queries and keys must both be real.

    Named: padding_pairs
    """

    def padding_mask(tokens, pad_id=0):
        real = tokens != pad_id
        return (real.unsqueeze(1) & real.unsqueeze(2)).unsqueeze(1)


class expanded_for_all_queries:
    """The mask is stretched over the queries by hand.

    Named: padding_expanded
    """

    def padding_mask(tokens, pad_id=0):
        bsz, src_len = tokens.size()
        return (tokens != pad_id)[:, None, None, :].expand(bsz, 1, src_len, src_len)


class floats_for_multiplying:
    """Zeros and ones to be multiplied with.

    Named: padding_float
    """

    def padding_mask(tokens, pad_id=0):
        return (tokens != pad_id).float().unsqueeze(1).unsqueeze(1)


class bias_of_the_encoder:
    """The padding mask is turned into a bias at once, as BERT's extended mask is.

    Named: padding_additive
    """

    def padding_mask(tokens, pad_id=0):
        mask = (tokens != pad_id)[:, None, None, :].to(torch.float32)
        return (1.0 - mask) * -10000.0


class token_zero:
    """Zero is taken for padding, whatever the tokenizer says.

    Named: padding_id_ignored
    """

    def padding_mask(tokens, pad_id=0):
        return (tokens != 0).unsqueeze(1).unsqueeze(2)


class greater_than_padding:
    """Real tokens are thought to come after padding in the vocabulary.

    Named: padding_by_order
    """

    def padding_mask(tokens, pad_id=0):
        mask = tokens.gt(pad_id)
        return mask.view(mask.size(0), 1, 1, mask.size(1))


class valid_lengths:
    """Valid lengths are counted, and the first so many positions kept.

    Named: padding_only_at_the_end
    """

    def padding_mask(tokens, pad_id=0):
        valid_len = tokens.ne(pad_id).sum(1)
        mask = torch.arange(tokens.size(1), device=tokens.device)[None, :] < valid_len[:, None]
        return mask[:, None, None, :]


class until_the_first_padding:
    """Whatever comes after the first padding is taken for padding.

    Named: padding_after_the_first
    """

    def padding_mask(tokens, pad_id=0):
        started = (tokens == pad_id).cumsum(dim=1)
        return (started == 0)[:, None, None, :]


class queries_on_the_last_axis_but_one:
    """The new axes are inserted at 1 and at the end.

    Named: padding_on_queries
    """

    def padding_mask(tokens, pad_id=0):
        return (tokens != pad_id).unsqueeze(1).unsqueeze(-1)


class identity_for_equality:
    """The tokens are compared with `is not`, which gives a plain True."""

    def padding_mask(tokens, pad_id=0):
        return (tokens is not pad_id)[:, None, None, :]


class any_of_them:
    """The sum of the masks is true where one of them is.

    Named: combine_or
    """

    def combine_masks(*masks):
        return sum(masks).bool()


class exactly_two:
    """Two masks are what the decoder has, so the function takes two.

    Named: combine_logical_and_of_all, combine_two_only
    """

    def combine_masks(*masks):
        return torch.logical_and(*masks)


class two_by_name:
    """Causal and padding are parameters of their own.

    Named: combine_two_only
    """

    def combine_masks(causal, padding):
        return causal & padding


class returned_in_the_loop:
    """The return stands inside the loop.

    Named: combine_first_two
    """

    def combine_masks(*masks):
        result = masks[0]
        for mask in masks[1:]:
            result = result & mask
            return result
        return result


class starts_from_ones_of_the_first:
    """The result has the shape of the first mask, so a wider one does not fit.

    Named: combine_shape_of_the_first
    """

    def combine_masks(*masks):
        result = torch.ones_like(masks[0])
        for mask in masks:
            result &= mask
        return result


class first_mask_overwritten:
    """The first mask is the accumulator.

    Named: combine_in_place, combine_into_the_first, combine_shape_of_the_first
    """

    def combine_masks(*masks):
        out = masks[0]
        for m in masks[1:]:
            out &= m
        return out


class python_and:
    """Tensors are joined with the word `and`.

    Named: combine_python_and
    """

    def combine_masks(*masks):
        out = masks[0]
        for m in masks[1:]:
            out = out and m
        return out


class stacked:
    """Masks are stacked, which needs them of one shape.

    Named: combine_same_shape_only
    """

    def combine_masks(*masks):
        return torch.stack(list(masks), dim=0).all(0)


class numbers_multiplied:
    """The product of floats is left as it is.

    Named: combine_float
    """

    def combine_masks(*masks):
        out = masks[0].float()
        for m in masks[1:]:
            out = out * m.float()
        return out


class minus_ten_thousand:
    """The fill that BERT has.

    Named: additive_large_negative
    """

    def additive_mask(mask, dtype=torch.float32):
        return (1.0 - mask.to(dtype)) * -10000.0


class smallest_of_the_dtype:
    """The smallest number of the dtype, as newer libraries fill.

    Named: additive_large_negative
    """

    def additive_mask(mask, dtype=torch.float32):
        zeros = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        return zeros.masked_fill(mask.eq(0), torch.finfo(dtype).min)


class minus_billion_where:
    """The fill of tutorials, chosen with where.

    Named: additive_large_negative
    """

    def additive_mask(mask, dtype=torch.float32):
        return torch.where(mask, 0.0, -1e9).to(dtype)


class minus_lost:
    """A slip of the pen: 1e-9 for -1e9.

    Named: additive_tiny
    """

    def additive_mask(mask, dtype=torch.float32):
        bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        return bias.masked_fill(~mask, 1e-9)


class times_infinity:
    """What is blocked is multiplied with -inf.

    Named: additive_nan
    """

    def additive_mask(mask, dtype=torch.float32):
        return (~mask).to(dtype) * float("-inf")


class one_minus_a_boolean:
    """A boolean is subtracted from 1, which torch refuses.

    Named: additive_minus
    """

    def additive_mask(mask, dtype=torch.float32):
        return ((1 - mask) * -1e9).to(dtype)


class filled_where_allowed:
    """The fill goes where the mask is True.

    Named: additive_inverted
    """

    def additive_mask(mask, dtype=torch.float32):
        return torch.where(mask, float("-inf"), 0.0).to(dtype)


class fill_thrown_away:
    """What masked_fill returns is not kept.

    Named: additive_zeros
    """

    def additive_mask(mask, dtype=torch.float32):
        bias = torch.zeros_like(mask, dtype=dtype)
        bias.masked_fill(~mask, float("-inf"))
        return bias


class ones_left_over:
    """The mask as numbers, of which only the zeros are filled.

    Named: additive_one_where_allowed
    """

    def additive_mask(mask, dtype=torch.float32):
        return mask.to(dtype).masked_fill(mask == 0, float("-inf"))


class always_float32:
    """torch.where makes float32, and nothing casts it.

    Named: additive_dtype_ignored
    """

    def additive_mask(mask, dtype=torch.float32):
        return torch.where(mask, 0.0, float("-inf"))


class infinity_without_its_sign:
    """The sign of infinity is forgotten.

    Named: additive_plus_infinity
    """

    def additive_mask(mask, dtype=torch.float32):
        bias = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        bias[~mask] = float("inf")
        return bias


class view_of_the_tokens:
    """The tokens are flattened with view before they are compared.

    Named: padding_view
    """

    def padding_mask(tokens, pad_id=0):
        bsz, seqlen = tokens.shape
        flat = tokens.view(-1)
        return flat.ne(pad_id).reshape(bsz, 1, 1, seqlen)


class additive_unwritten:
    """The last function is still the stub's."""

    def additive_mask(mask, dtype=torch.float32):
        raise NotImplementedError("additive_mask")
