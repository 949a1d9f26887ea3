"""How words are hidden wrongly.

A word that is not special is chosen at the rate; of the chosen 80% are masked, 10% exchanged and 10% left.
"""


class all_masked:
    """your hide makes mask_id of every chosen token: 10% become another and 10% stay

    Fails: test_hide_mix
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen, mask_id, tokens)
    """


class none_left:
    """your hide exchanges 20% of the chosen tokens and leaves none as it was

    Fails: test_hide_mix
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (draw[1] >= 0.8), ordinary[which], inputs)
    """


class special_chosen:
    """your hide chooses special tokens too

    Fails: test_hide_special
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + chosen = draw[0] < rate
    """


class special_put_in:
    """your random tokens may be special ones

    Fails: test_hide_random_tokens
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + anything = torch.randint(vocab_size, tokens.shape, generator=generator).to(tokens.device)
        + inputs = torch.where(chosen & (draw[1] >= 0.9), anything, inputs)
    """


class targets_everywhere:
    """your targets are the tokens at every position: only the chosen ones are asked for

    Fails: test_hide_targets
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + return inputs, tokens.clone()
    """


class targets_of_masked_only:
    """your targets leave out the chosen tokens that were exchanged or left as they were

    Fails: test_hide_targets
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + return inputs, tokens.masked_fill(inputs != mask_id, -100)
    """


class no_random_words:
    """your hide inserts no random tokens: all chosen ones that are not masked stay as they were

    Fails: test_hide_mix
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
    """


class one_number_for_both:
    """your hide takes one number for whether a token is chosen and what becomes of it: below 0.8 all are masked

    Fails: test_hide_mix
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (draw[0] < 0.8), mask_id, tokens)
        + inputs = torch.where(chosen & (draw[0] >= 0.9), ordinary[which], inputs)
    """


class one_fate_for_a_row:
    """your hide decides once for a whole row what becomes of its chosen tokens: draw a number for each of them

    Fails: test_hide_mix
    """

    hide = """
        + fate = torch.rand(*tokens.shape[:-1], 1, generator=generator).to(tokens.device)
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (fate < 0.8), mask_id, tokens)
        + inputs = torch.where(chosen & (fate >= 0.9), ordinary[which], inputs)
    """


class one_fate_for_a_column:
    """your hide decides once for a whole column what becomes of its chosen tokens: draw a number for each of them

    Fails: test_hide_by_itself
    """

    hide = """
        + fate = torch.rand(tokens.shape[-1], generator=generator).to(tokens.device)
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (fate < 0.8), mask_id, tokens)
        + inputs = torch.where(chosen & (fate >= 0.9), ordinary[which], inputs)
    """


class fate_without_generator:
    """your hide draws what becomes of the chosen tokens from the global generator, not from the one handed in

    Fails: test_hide_generator
    """

    hide = """
        - draw = torch.rand(2, *tokens.shape, generator=generator).to(tokens.device)
        + draw = torch.stack((torch.rand(tokens.shape, generator=generator), torch.rand(tokens.shape)))
        + draw = draw.to(tokens.device)
    """


class generator_forgotten:
    """your hide draws the random tokens from the global generator, not from the one handed in

    Fails: test_hide_generator
    """

    hide = """
        - which = torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)
        + which = torch.randint(len(ordinary), tokens.shape).to(tokens.device)
    """


class tenth_of_the_rest:
    """your 10% are of what masking has left: random words are 10% of all chosen, not 2%

    Fails: test_hide_mix
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (draw[1] >= 0.98), ordinary[which], inputs)
    """


class rate_ignored:
    """your hide chooses 15% whatever rate says

    Fails: test_hide_rate
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + chosen = (draw[0] < 0.15) & ~special[tokens]
    """


class rate_of_all:
    """your rate is one of all tokens: those that are special do not count

    Fails: test_hide_rate
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + most = rate * tokens.numel() / (~special[tokens]).sum().clamp(min=1)
        + chosen = (draw[0] < most) & ~special[tokens]
    """


class changed_in_place:
    """your hide writes into the tokens that it was given

    Fails: test_hide_arguments
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + targets = tokens.masked_fill(~chosen, -100)
        + return tokens.copy_(inputs), targets
    """


class same_for_each_row:
    """your hide chooses the same positions in each row: every token is drawn by itself

    Fails: test_hide_rate
    """

    hide = """
        - draw = torch.rand(2, *tokens.shape, generator=generator).to(tokens.device)
        + draw = torch.rand(2, 1, tokens.shape[1], generator=generator).expand(2, *tokens.shape).to(tokens.device)
    """


class ignored_as_zero:
    """your targets are 0 where none was chosen: -100 is what cross_entropy ignores

    Fails: test_hide_targets
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + return inputs, tokens.masked_fill(~chosen, 0)
    """


class targets_are_inputs:
    """your targets are what the model reads: they are the tokens as they were

    Fails: test_hide_targets
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + return inputs, inputs.masked_fill(~chosen, -100)
    """


class returned_in_other_order:
    """your hide returns targets first: inputs come first

    Fails: test_hide_targets
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + return tokens.masked_fill(~chosen, -100), inputs
    """


class mask_returned:
    """your hide returns which tokens were chosen: targets are the tokens, -100 elsewhere

    Fails: test_hide_shapes
    Costs: nothing of what hide returns can be judged without targets
    """

    hide = """
        - return inputs, tokens.masked_fill(~chosen, -100)
        + return inputs, chosen
    """


class last_word_never_drawn:
    """your random tokens are never the last ordinary one: randint leaves its end out

    Fails: test_hide_random_tokens
    """

    hide = """
        - which = torch.randint(len(ordinary), tokens.shape, generator=generator).to(tokens.device)
        + which = torch.randint(len(ordinary) - 1, tokens.shape, generator=generator).to(tokens.device)
    """


class one_random_word_for_all:
    """your random token is one for the whole batch: each is drawn by itself

    Fails: test_hide_random_tokens
    """

    hide = """
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which.flatten()[0]], inputs)
    """


class seed_of_its_own:
    """your hide draws with a seed of its own when there is no generator: each call hides the same

    Fails: test_hide_generator
    """

    hide = """
        + generator = torch.Generator().manual_seed(0) if generator is None else generator
          special = torch.zeros(vocab_size, dtype=torch.bool, device=tokens.device)
    """


class limit_included:
    """your hide chooses what is next to the rate: at rate 0 nothing, at rate 1 all

    Fails: test_hide_ends
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + chosen = (draw[0] < min(max(rate, 0.02), 0.98)) & ~special[tokens]
    """


class generator_not_used:
    """your hide draws nothing from the generator that is handed in

    Fails: test_hide_generator
    """

    hide = """
        + generator = None
          special = torch.zeros(vocab_size, dtype=torch.bool, device=tokens.device)
    """


class chosen_by_count:
    """your hide chooses a fixed number of places in each row, and at least one: each token is drawn by itself

    Fails: test_hide_ends, test_hide_by_itself
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + count = max(1, int(rate * tokens.shape[1]))
        + chosen = torch.zeros_like(special[tokens]).scatter(1, draw[0].topk(count, dim=1).indices, True)
        + chosen = chosen & ~special[tokens]
    """


class chosen_by_rounded_count:
    """your hide chooses a fixed number of places in each row, in short ones none: each token is drawn by itself

    Fails: test_hide_by_itself
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + count = int(rate * tokens.shape[1])
        + chosen = torch.zeros_like(special[tokens]).scatter(1, draw[0].topk(count, dim=1).indices, True)
        + chosen = chosen & ~special[tokens]
    """


class chosen_by_count_of_all:
    """your hide chooses a fixed number of places of the whole batch: each token is drawn by itself

    Fails: test_hide_by_itself
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + count = int(rate * tokens.numel())
        + chosen = torch.zeros_like(special[tokens]).flatten()
        + chosen[draw[0].flatten().topk(count).indices] = True
        + chosen = chosen.view_as(tokens) & ~special[tokens]
    """


class zero_never_drawn:
    """your random tokens are never 0: it is a word like any other unless special_ids names it

    Fails: test_hide_random_tokens
    """

    hide = """
          ordinary = (~special).nonzero().squeeze(1)
        + ordinary = ordinary[ordinary > 0]
    """


class zero_never_chosen:
    """your hide never chooses 0: it is a word like any other unless special_ids names it

    Fails: test_hide_ends
    """

    hide = """
        - chosen = (draw[0] < rate) & ~special[tokens]
        + chosen = (draw[0] < rate) & ~special[tokens] & (tokens != 0)
    """
