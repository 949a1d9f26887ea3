"""What translation gets wrong: its first word, its ends, and the model's mode."""


class bos_returned:
    """your translations begin with BOS: it is left out

    Fails: test_greedy
    """

    translate = """
        - return written[:, 1:]
        + return written
    """


class end_ignored:
    """your translations go on after EOS: pad_id belongs there

    Fails: test_greedy
    """

    translate = """
        - ended |= word == EOS
    """


class stops_at_the_first_end:
    """your search stops for all sentences as soon as one has ended

    Fails: test_ends
    """

    translate = """
        - if bool(ended.all()):
        + if bool(ended.any()):
    """


class padded_with_0:
    """your translations are padded with 0 whatever the model's pad_id is

    Fails: test_ends
    """

    translate = """
        - written = torch.cat((written, word.masked_fill(ended, model.pad_id)), dim=1)
        + written = torch.cat((written, word.masked_fill(ended, 0)), dim=1)
    """


class padded_with_another_token:
    """your translations have another token than pad_id after their EOS

    Fails: test_ends
    """

    translate = """
        - written = torch.cat((written, word.masked_fill(ended, model.pad_id)), dim=1)
        + written = torch.cat((written, word.masked_fill(ended, BOS)), dim=1)
    """


class one_word_too_many:
    """your translations may have one word more than max_len

    Fails: test_long
    """

    translate = """
        - for _ in range(max_len):
        + for _ in range(max_len + 1):
    """


class left_in_eval_mode:
    """your translate leaves the model in eval mode

    Fails: test_modes
    """

    translate = """
        - model.train(training)
        + model.eval()
    """


class written_in_train_mode:
    """your translate writes in train mode when the model comes so: dropout acts

    Fails: test_modes
    """

    translate = """
        - model.eval()
    """


class worst_word:
    """your translate takes the word with the lowest score

    Fails: test_greedy
    """

    translate = """
        - word = model(source, written)[:, -1].argmax(dim=-1, keepdim=True)
        + word = model(source, written)[:, -1].argmin(dim=-1, keepdim=True)
    """
