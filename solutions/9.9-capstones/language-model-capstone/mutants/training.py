"""What training gets wrong: targets, seeds, the rate, and what is said about it."""


class target_not_shifted:
    """your targets are the tokens that the model reads: they have to be those that come next

    Fails: test_next_token
    """

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + loss = F.cross_entropy(logits.flatten(0, 1), batch[:, :-1].flatten())
    """


class target_too_far_ahead:
    """your targets lie further ahead than the next token

    Fails: test_next_token
    """

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + loss = F.cross_entropy(logits[:, :-2].flatten(0, 1), batch[:, 3:].flatten())
    """


class weights_not_from_the_seed:
    """your weights come from wherever torch's global generator stands, not from the seed

    Fails: test_seeds
    """

    train = """
        - torch.manual_seed(seed)
        - model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
        + model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
    """


class pieces_not_from_the_seed:
    """your pieces of text come from torch's global generator, not from the seed

    Fails: test_seeds
    """

    train = """
        - chance = torch.Generator().manual_seed(seed)
        + chance = None
    """


class no_warmup:
    """your rate does not warm up

    Fails: test_warmup
    """

    def rate_at(step, steps, warmup):
        return 1 - 0.9 * (step - 1) / max(steps - 1, 1)


class warmup_from_zero:
    """your warm-up begins with a rate of 0: step s has s / warmup of the full rate

    Fails: test_warmup
    """

    rate_at = """
        - return step / warmup
        + return (step - 1) / warmup
    """


class warmup_one_step_late:
    """your warm-up reaches the full rate one step late: step warmup has it

    Fails: test_warmup
    """

    rate_at = """
        - return step / warmup
        + return step / (warmup + 1)
    """


class warmup_by_squares:
    """your rate rises by squares: it should rise in equal steps

    Fails: test_warmup
    """

    rate_at = """
        - return step / warmup
        + return (step / warmup) ** 2
    """


class full_rate_hangs_on_warmup:
    """your full rate falls with the length of the warm-up, as in the first transformer: it should be one

    Fails: test_warmup
    """

    train = """
        - rate = RATE * rate_at(step, steps, warmup)
        + rate = RATE * rate_at(step, steps, warmup) / max(warmup, 1) ** 0.5
    """


class rate_not_used:
    """your rows say one rate and the optimizer uses another: it never learns of the warm-up

    Fails: test_rate_used
    """

    train = """
        - optimizer.param_groups[0]["lr"] = rate
    """


class depth_not_passed_on:
    """your train builds two layers whatever num_layers says

    Fails: test_settings
    """

    train = """
        - model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
        + model = LanguageModel(vocab_size, num_layers=2, norm=norm, positions=positions)
    """


class norm_not_passed_on:
    """your train builds the model without handing on norm

    Fails: test_settings
    """

    train = """
        - model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
        + model = LanguageModel(vocab_size, num_layers=num_layers, positions=positions)
    """


class positions_not_passed_on:
    """your train builds the model without handing on positions

    Fails: test_settings
    """

    train = """
        - model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm, positions=positions)
        + model = LanguageModel(vocab_size, num_layers=num_layers, norm=norm)
    """


class steps_from_zero:
    """your rows count steps from 0: the first is step 1

    Fails: test_rows_of_training
    Costs: every check that trains reads the rows
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + rows.append((step - 1, loss.item(), rate))
    """


class summed_loss:
    """your loss is the sum over the batch: it should be the mean

    Fails: test_rows_of_training
    """

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        + loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), reduction="sum")
    """


class loss_after_the_update:
    """your rows hold the loss after the update: it is that of this step's batch before it

    Fails: test_losses
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + after = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        + rows.append((step, after.item(), rate))
    """


class loss_not_a_number:
    """your rows hold the loss as a tensor: loss.item() makes a number of it, and lets its graph go

    Fails: test_rows_of_training
    Costs: every check that trains reads the rows
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + rows.append((step, loss, rate))
    """


class rows_left_out:
    """your rows leave steps out: there is one for each

    Fails: test_rows_of_training
    Costs: every check that trains reads the rows
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + if step % 2 == 0:
        +     rows.append((step, loss.item(), rate))
    """


class rate_rises_on:
    """your rate rises beyond the full one after the warm-up

    Fails: test_warmup
    """

    rate_at = """
        - return 1 - 0.9 * (step - first) / max(steps - first, 1)
        + return 1 + 0.5 * (step - first) / first
    """


class update_left_out:
    """your train never updates the parameters: optimizer.step() is missing

    Fails: test_updates
    Costs: nothing has been trained
    """

    train = """
        - optimizer.step()
    """


class gradients_pile_up:
    """your gradients pile up over the steps: they have to be cleared before each backward pass

    Fails: test_log_repeated
    """

    train = """
        - optimizer.zero_grad()
    """


class model_missing:
    """your train returns the rows alone, not (model, rows)

    Fails: test_rows_of_training
    Costs: nothing of training can be looked at
    """

    train = """
        - return model, rows
        + return rows
    """


class rate_too_low:
    """your rate is too low to learn anything in 150 steps

    Fails: test_learning
    """

    train = """
        - rate = RATE * rate_at(step, steps, warmup)
        + rate = 0.01 * RATE * rate_at(step, steps, warmup)
    """
