"""Translators as other people get them wrong."""


class padding_masked_for_queries:
    """The mask has its axes the wrong way round: rows of padding are hidden, not its columns.

    Named: source_padding_seen_by_the_encoder
    """

    class TranslationModel:
        forward = """
            - memory = layer(memory, real)
            + memory = layer(memory, real.transpose(2, 3) | torch.ones_like(real))
        """


class nothing_masked:
    """Nobody asks for padding.

    Named: source_padding_seen_by_the_encoder, source_padding_seen_by_the_decoder, padding_is_always_0
    """

    class TranslationModel:
        forward = """
            - real = (source != self.pad_id)[:, None, None, :]
            + real = (source >= 0)[:, None, None, :]
        """


class padding_as_a_zero_vector:
    """Embeddings of padding are zeroed, and nothing is masked.

    Named: source_padding_seen_by_the_encoder, source_padding_seen_by_the_decoder
    """

    class TranslationModel:
        forward = """
            - real = (source != self.pad_id)[:, None, None, :]
            - memory = self.placed(self.source(source), 0)
            + real = (source >= 0)[:, None, None, :]
            + memory = self.placed(self.source(source), 0) * (source != self.pad_id)[..., None]
        """


class memory_averaged:
    """The decoder gets the mean of the memory, as a bottleneck.

    Named: source_not_seen
    """

    class TranslationModel:
        forward = """
            - memory = self.memory_norm(memory)
            + memory, real = self.memory_norm(memory).mean(dim=1, keepdim=True), real[..., :1]
        """


class one_table_of_positions_for_the_target:
    """The target has no positions.

    Named: target_positions_alike
    """

    class TranslationModel:
        forward = """
            - x = self.placed(self.target(target), 1)
            + x = self.target(target)
        """


class norm_of_2017:
    """Norm last, always.

    Named: always_norm_last
    """

    class Layer:
        forward = """
            - x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            + x = norm(x + sublayer(x))
        """


class residual_of_the_norm:
    """The residual carries the normed stream.

    Named: always_norm_last
    """

    class Layer:
        forward = """
            - x = x + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
            + x = norm(x) + sublayer(norm(x)) if self.norm_first else norm(x + sublayer(x))
        """


class first_layer_again:
    """The decoder's first layer, as often as there are layers.

    Named: layers_shared
    """

    class TranslationModel:
        forward = """
            - for layer in self.decoder:
            -     x = layer(x, past, memory, real)
            + for _ in self.decoder:
            +     x = self.decoder[0](x, past, memory, real)
        """


class probabilities:
    """The model ends in a softmax.

    Named: softmax_in_the_model
    """

    class TranslationModel:
        forward = """
            - return self.head(self.norm(x))
            + return nn.Softmax(dim=-1)(self.head(self.norm(x)))
        """


class standard_start:
    """The head starts twenty times as large.

    Named: head_too_large
    """

    class TranslationModel:
        __init__ = """
            - nn.init.normal_(self.head.weight, std=0.02)
            + nn.init.normal_(self.head.weight, std=0.5)
        """


class mean_over_all_places:
    """The sum over words is divided by all places.

    Named: padding_counted
    """

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=0, reduction="sum")
        + loss = loss / wanted.numel()
    """


class no_bos:
    """The decoder's input begins with padding in place of BOS.

    Named: target_read_as_it_is
    """

    train = """
        - written = torch.cat((torch.full_like(wanted[:, :1], BOS), wanted[:, :-1]), dim=1)
        + written = torch.cat((torch.full_like(wanted[:, :1], 5), wanted[:, :-1]), dim=1)
    """


class step_counted_from_zero:
    """The warm-up uses a step that counts from 0.

    Named: warmup_from_zero
    """

    train = """
        - rate = RATE * rate_at(step, steps, warmup)
        + rate = RATE * rate_at(step - 1, steps, warmup)
    """


class warmup_overshoots:
    """The rate goes on rising after the warm-up.

    Named: no_warmup, rate_rises_on
    """

    def rate_at(step, steps, warmup):
        return step / warmup if warmup else 1.0


class seed_of_the_clock:
    """The seed is mixed with what torch's generator gives.

    Named: weights_not_from_the_seed, pairs_not_from_the_seed
    """

    train = """
        - chance = torch.Generator().manual_seed(seed)
        + chance = torch.Generator().manual_seed(seed + int(torch.randint(1000, ())))
    """


class tensors_in_the_rows:
    """Rows hold tensors.

    Named: loss_not_a_number
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + rows.append((step, loss.detach(), rate))
    """


class end_repeated:
    """Behind the first EOS stand more of them.

    Named: end_ignored, padded_with_0, padded_with_another_token
    """

    translate = """
        - written = torch.cat((written, word.masked_fill(ended, model.pad_id)), dim=1)
        + written = torch.cat((written, word.masked_fill(ended, EOS)), dim=1)
    """


class end_cut_off:
    """EOS itself becomes padding.

    Named: end_ignored
    """

    translate = """
        - written = torch.cat((written, word.masked_fill(ended, model.pad_id)), dim=1)
        - ended |= word == EOS
        + ended |= word == EOS
        + written = torch.cat((written, word.masked_fill(ended, model.pad_id)), dim=1)
    """


class begins_with_padding:
    """The search begins with padding, not BOS.

    Named: worst_word
    """

    translate = """
        - written = torch.full_like(source[:, :1], BOS)
        + written = torch.full_like(source[:, :1], PAD)
    """


class left_in_train_mode:
    """The model is put into train mode at the end, however it came.

    Named: left_in_eval_mode
    """

    translate = """
        - model.train(training)
        + model.train()
    """


class log_of_one_run:
    """The log has the base run alone.

    Named: run_missing
    """

    def training_log():
        return "\n".join(line for line in LOG.splitlines() if line.startswith(("run,", "base,")))


class log_as_list:
    """The log is a list of its lines.

    Named: log_in_cells
    """

    def training_log():
        return LOG.splitlines()
