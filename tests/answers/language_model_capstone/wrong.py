"""Language models as other people get them wrong."""


class mask_filled_with_zero:
    """Future scores become 0 before the softmax, which still gives them weight.

    Named: no_causal_mask
    """

    class Layer:
        attend = """
            - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            + scores = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).tril()
            + heads = scores.softmax(-1) @ v
        """


class masked_after_the_softmax:
    """Weights of the future are zeroed after the softmax: what is left hangs on how large they were.

    Named: no_causal_mask
    """

    class Layer:
        attend = """
            - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            + heads = (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(-1).tril() @ v
        """


class probabilities:
    """The model ends in a sigmoid-free softmax layer, as classifiers of old did.

    Named: softmax_in_the_model
    """

    class LanguageModel:
        forward = """
            - return self.head(self.norm(x))
            + return nn.Softmax(dim=2)(self.head(self.norm(x)))
        """


class positions_multiplied:
    """Positions switched off still multiply by their count.

    Named: positions_always
    """

    class LanguageModel:
        forward = """
            - for layer in self.layers:
            + x = x * (1 + torch.arange(x.size(1), device=x.device)[:, None] / 10)
            + for layer in self.layers:
        """


class list_times_number:
    """One layer several times, by multiplication of a list.

    Named: layers_shared
    """

    class LanguageModel:
        forward = """
            - for layer in self.layers:
            -     x = layer(x)
            + for _ in self.layers:
            +     x = self.layers[0](x)
        """


class first_norm_of_the_paper:
    """Whoever knows the paper of 2017 alone writes norm last, always.

    Named: always_norm_last
    """

    class Layer:
        def forward(self, x):
            x = self.norm1(x + self.attend(x))
            return self.norm2(x + self.think(x))


class half_a_residual:
    """The second sublayer has no residual with norm first.

    Named: no_residual
    """

    class Layer:
        forward = """
            - return x + self.think(self.norm2(x))
            + return self.think(self.norm2(x))
        """


class residual_of_the_norm:
    """The residual carries the normed stream: norm(x) + f(norm(x)).

    Named: always_norm_last, norms_exchanged
    """

    class Layer:
        forward = """
            - x = x + self.attend(self.norm1(x))
            - return x + self.think(self.norm2(x))
            + y = self.norm1(x)
            + x = y + self.attend(y)
            + y = self.norm2(x)
            + return y + self.think(y)
        """


class standard_start:
    """Everything starts five times as large.

    Named: head_too_large
    """

    class LanguageModel:
        __init__ = """
            - nn.init.normal_(self.head.weight, std=0.02)
            + nn.init.normal_(self.head.weight, std=0.4)
        """


class shift_by_two:
    """Targets are two tokens ahead.

    Named: target_not_shifted
    """

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), batch[:, 2:].flatten())
    """


class seed_of_the_clock:
    """The seed is mixed with what torch's generator gives.

    Named: weights_not_from_the_seed, pieces_not_from_the_seed
    """

    train = """
        - chance = torch.Generator().manual_seed(seed)
        + chance = torch.Generator().manual_seed(seed + int(torch.randint(1000, ())))
    """


class step_counted_from_zero:
    """The warm-up uses a step that counts from 0.

    Named: warmup_from_zero
    """

    train = """
        - rate = RATE * rate_at(step, steps, warmup)
        + rate = RATE * rate_at(step - 1, steps, warmup)
    """


class decay_alone:
    """The rate falls from the start, and nothing warms up.

    Named: no_warmup
    """

    def rate_at(step, steps, warmup):
        return 1 - (step - 1) / (steps + 1)


class warmup_overshoots:
    """The rate goes on rising after the warm-up.

    Named: no_warmup, rate_rises_on
    """

    def rate_at(step, steps, warmup):
        return step / warmup if warmup else 1.0


class rate_set_after_the_step:
    """The optimizer gets the rate after its update, so that each update uses the one before.

    Named: rate_not_used
    """

    train = """
        - optimizer.param_groups[0]["lr"] = rate
        - begin = torch.randint(len(tokens) - length, (BATCH, 1), generator=chance)
        + begin = torch.randint(len(tokens) - length, (BATCH, 1), generator=chance)

        - rows.append((step, loss.item(), rate))
        + optimizer.param_groups[0]["lr"] = rate
        + rows.append((step, loss.item(), rate))
    """


class rows_of_every_tenth_step:
    """Only every tenth step is kept.

    Named: rows_left_out
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + if step % 10 == 1:
        +     rows.append((step, loss.item(), rate))
    """


class tensors_in_the_rows:
    """Rows hold tensors.

    Named: loss_not_a_number
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + rows.append((step, loss.detach(), rate))
    """


class greedy_by_a_small_temperature:
    """Temperature 0 is divided by.

    Named: prompt_dropped
    """

    generate = """
        - if temperature == 0:
        + if temperature is None:
    """


class cropped_one_short:
    """The window is one token too short.

    Named: window_too_short
    """

    generate = """
        - logits = model(tokens[:, -model.max_len :])[:, -1]
        + logits = model(tokens[:, -max(model.max_len - 1, 1) :])[:, -1]
    """


class one_draw_for_all_rows:
    """One token is drawn, of the first row, and written into every row.

    Named: one_draw_for_a_batch
    """

    generate = """
        - chosen = torch.multinomial(shares, 1, generator=generator)
        + chosen = torch.multinomial(shares[:1], 1, generator=generator).expand(len(shares), 1)
    """


class left_in_train_mode:
    """The model is put into train mode at the end, however it came.

    Named: left_in_eval_mode
    """

    generate = """
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


class copied_log:
    """Another's log, with slightly other losses.

    Named: curves_made_up
    """

    def training_log():
        head, *lines = LOG.splitlines()
        cells = [line.split(",") for line in lines]
        return "\n".join(
            [
                head,
                *(
                    f"{run},{seed},{step},{float(loss) + 0.05:.4f},{rate}"
                    for run, seed, step, loss, rate in cells
                ),
            ]
        )
