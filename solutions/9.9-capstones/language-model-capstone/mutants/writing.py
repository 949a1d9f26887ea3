"""What generation gets wrong: the text, the window, the temperature, and the model's mode."""


class prompt_dropped:
    """your generate returns the new tokens alone: those given come before them

    Fails: test_greedy
    """

    generate = """
        - training = model.training
        + training, given = model.training, tokens.size(1)

        - return tokens
        + return tokens[:, given:]
    """


class whole_text_read:
    """your model reads the whole text, beyond max_len

    Fails: test_long
    """

    generate = """
        - logits = model(tokens[:, -model.max_len :])[:, -1]
        + logits = model(tokens)[:, -1]
    """


class first_tokens_read:
    """your model reads the first max_len tokens: it needs the last ones

    Fails: test_long
    """

    generate = """
        - logits = model(tokens[:, -model.max_len :])[:, -1]
        + logits = model(tokens[:, : model.max_len])[:, -1]
    """


class window_too_short:
    """your model reads fewer than the last max_len tokens

    Fails: test_long
    """

    generate = """
        - logits = model(tokens[:, -model.max_len :])[:, -1]
        + logits = model(tokens[:, -(model.max_len + 1) // 2 :])[:, -1]
    """


class scores_of_the_first_position:
    """your next token is chosen by the scores of the first position: it is the last one that counts

    Fails: test_greedy
    """

    generate = """
        - logits = model(tokens[:, -model.max_len :])[:, -1]
        + logits = model(tokens[:, -model.max_len :])[:, 0]
    """


class temperature_ignored:
    """your temperature does nothing above 0

    Fails: test_temperature
    """

    generate = """
        - shares = (logits / temperature).softmax(dim=-1)
        + shares = logits.softmax(dim=-1)
    """


class temperature_multiplied:
    """your logits are multiplied by the temperature: divide them by it

    Fails: test_temperature
    """

    generate = """
        - shares = (logits / temperature).softmax(dim=-1)
        + shares = (logits * temperature).softmax(dim=-1)
    """


class always_the_best:
    """your generate takes the best token at every temperature: above 0 it draws

    Fails: test_temperature
    """

    generate = """
        - if temperature == 0:
        + if temperature >= 0:
    """


class one_draw_for_a_batch:
    """your rows share one draw: each row draws by itself

    Fails: test_temperature
    """

    generate = """
        - chosen = torch.multinomial(shares, 1, generator=generator)
        + chosen = torch.multinomial(shares.mean(dim=0), 1, generator=generator).expand(len(shares), 1)
    """


class generator_ignored:
    """your generate draws from torch's own generator though one is given

    Fails: test_generator
    """

    generate = """
        - chosen = torch.multinomial(shares, 1, generator=generator)
        + chosen = torch.multinomial(shares, 1)
    """


class left_in_eval_mode:
    """your generate leaves the model in eval mode

    Fails: test_modes
    """

    generate = """
        - model.train(training)
        + model.eval()
    """


class written_in_train_mode:
    """your generate writes in train mode when the model comes so: dropout acts

    Fails: test_modes
    """

    generate = """
        - model.eval()
    """
