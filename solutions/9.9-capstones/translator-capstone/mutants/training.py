"""What training gets wrong: what the decoder reads, what counts, seeds, the rate, and what is said about it."""


class target_read_as_it_is:
    """your decoder reads the words that it should predict: BOS and the words before are what it reads

    Fails: test_learning
    """

    train = """
        - logits = model(read, written)
        + logits = model(read, wanted)
    """


class padding_counted:
    """your loss counts targets that are padding

    Fails: test_loss_padding
    """

    train = """
        - loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    """


class weights_not_from_the_seed:
    """your weights come from wherever torch's global generator stands, not from the seed

    Fails: test_seeds
    """

    train = """
        - torch.manual_seed(seed)
    """


class pairs_not_from_the_seed:
    """your pairs come from torch's global generator, not from the seed

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


class rate_not_used:
    """your rows say one rate and the optimizer uses another: it never learns of the warm-up

    Fails: test_rate_used
    """

    train = """
        - optimizer.param_groups[0]["lr"] = rate
    """


class depth_not_passed_on:
    """your train builds one layer whatever num_layers says

    Fails: test_settings
    """

    train = """
        - source_vocab, target_vocab, num_layers=num_layers, norm=norm, positions=positions
        + source_vocab, target_vocab, norm=norm, positions=positions
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


class loss_after_the_update:
    """your rows hold the loss after the update: it is that of this step's batch before it

    Fails: test_losses
    """

    train = """
        - rows.append((step, loss.item(), rate))
        + after = F.cross_entropy(model(read, written).flatten(0, 1), wanted.flatten(), ignore_index=model.pad_id)
        + rows.append((step, after.item(), rate))
    """


class gradients_pile_up:
    """your gradients pile up over the steps: they have to be cleared before each backward pass

    Fails: test_log_repeated
    """

    train = """
        - optimizer.zero_grad()
    """


class rate_too_low:
    """your rate is too low to learn anything in 160 steps

    Fails: test_learning
    """

    train = """
        - rate = RATE * rate_at(step, steps, warmup)
        + rate = 0.01 * RATE * rate_at(step, steps, warmup)
    """
