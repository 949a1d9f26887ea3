"""How the search goes wrong: what is kept of a hypothesis, which are compared, and when it ends."""


class bos_returned:
    """your translations begin with bos_id: it comes before the first word, and is not returned

    Fails: test_greedy
    Costs: every translation is wrong by its first token
    """

    _search = """
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best]
    """


class eos_dropped:
    """your translations lack their eos_id: it is one of their words

    Fails: test_ends
    """

    _search = """
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + found = tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return found.masked_fill(found == eos_id, model.pad_id)
    """


class eos_repeated:
    """your translations are filled with eos_id: after the first one comes model.pad_id

    Fails: test_ends
    """

    _search = """
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + found = tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return found.masked_fill((found == eos_id).cumsum(dim=1) > 0, eos_id)
    """


class filled_with_zeros:
    """your translations are filled with 0, whatever model.pad_id is

    Fails: test_ends
    """

    _search = """
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + found = tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return found.masked_fill((found == eos_id).cumsum(dim=1) - (found == eos_id).int() > 0, 0)
    """


class rows_never_end:
    """your rows go on after their eos_id: what has ended stays as it is

    Fails: test_ends
    """

    _search = """
        - logs = torch.where(ended.unsqueeze(-1), rest, logs)

        - ended = ended.gather(1, parent) | (word == eos_id)
        + ended = (word == eos_id) & False
    """


class one_word_too_many:
    """your search takes one step too many: max_len tokens in all, eos_id included

    Fails: test_greedy
    """

    _search = """
        - for _ in range(max_len):
        + for _ in range(max_len + 1):
    """


class one_word_too_few:
    """your search takes one step too few: bos_id does not count among max_len tokens

    Fails: test_greedy
    """

    _search = """
        - for _ in range(max_len):
        + for _ in range(max(max_len - 1, 1)):
    """


class all_stop_with_the_first:
    """your search ends for all rows when one has ended

    Fails: test_ends
    """

    _search = """
        - if ended.all():
        + if ended[:, 0].any():
    """


class beams_alike:
    """your beams find what one beam finds: they are ignored, or all begin alike and stay alike

    Fails: test_beams
    """

    _search = """
        - sums = torch.full((B, beams), -torch.inf, device=source.device)
        - sums[:, 0] = 0.0
        + sums = torch.zeros(B, beams, device=source.device)
    """


class each_beam_alone:
    """your hypotheses are each continued by their own best word: the best K of all K·V are kept

    Fails: test_beams
    """

    _search = """
        - chosen = scores.flatten(1).topk(beams).indices  # [B, K]
        + if tokens.shape[1] == 1:
        +     chosen = scores.flatten(1).topk(beams).indices
        + else:
        +     chosen = scores.argmax(dim=-1) + V * torch.arange(beams, device=source.device)
    """


class texts_not_reordered:
    """your hypotheses get words that were chosen for others: reorder what was written by the parents

    Fails: test_beams
    """

    _search = """
        - tokens = torch.cat((tokens[(first + parent).flatten()], word.view(-1, 1)), dim=1)
        + tokens = torch.cat((tokens, word.view(-1, 1)), dim=1)
    """


class ends_not_reordered:
    """your marks of what has ended stay where they are when hypotheses change places: reorder them by the parents

    Fails: test_ended_hypotheses
    """

    _search = """
        - ended = ended.gather(1, parent) | (word == eos_id)
        + ended = ended | (word == eos_id)
    """


class parents_of_the_first_row:
    """your parents are counted without their row: each row takes up the hypotheses of the first

    Fails: test_greedy
    """

    _search = """
        - tokens = torch.cat((tokens[(first + parent).flatten()], word.view(-1, 1)), dim=1)
        + tokens = torch.cat((tokens[parent.flatten()], word.view(-1, 1)), dim=1)
    """


class probabilities_summed:
    """your score sums up probabilities: it sums up their logarithms

    Fails: test_beams
    """

    _search = """
        - logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
        + logs = model.decode(tokens, memory, source)[:, -1].float().softmax(dim=-1)
    """


class logits_summed:
    """your score sums up logits: it sums up log-probabilities

    Fails: test_beams
    """

    _search = """
        - logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
        + logs = model.decode(tokens, memory, source)[:, -1].float()
    """


class ended_dropped:
    """your ended hypotheses leave the search, or keep paying: they stay as they are while among the best

    Fails: test_ended_hypotheses
    """

    _search = """
        - rest[..., model.pad_id] = 0.0
        + rest[..., model.pad_id] = -1e4
    """


class stops_with_the_best:
    """your search ends when the best hypothesis has ended, and one that goes on may overtake it; wait until all that
    are kept have ended

    Fails: test_length_penalty
    """

    _search = """
        - if ended.all():
        + if ended[:, 0].all():
    """


class penalty_ignored:
    """your length penalty changes nothing: each sum is divided by its length, up to eos_id, to that power

    Fails: test_length_penalty
    """

    _search = """
        + length_penalty = 0.0
          B = len(source)
    """


class penalty_at_the_end_alone:
    """your length penalty acts on the last choice alone: the score decides at each step, too

    Fails: test_length_penalty
    """

    _search = """
        - scores = candidates / longer.unsqueeze(-1) ** length_penalty
        + scores = candidates
    """


class penalty_not_at_the_end:
    """your last choice is by the sum: the score decides there as at each step

    Fails: test_length_penalty
    """

    _search = """
        - best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
        + best = sums.argmax(dim=1)
    """


class penalty_multiplied:
    """your score multiplies the sum by the length's power: it divides

    Fails: test_length_penalty
    """

    _search = """
        - scores = candidates / longer.unsqueeze(-1) ** length_penalty
        + scores = candidates * longer.unsqueeze(-1) ** length_penalty

        - best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
        + best = (sums * lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
    """


class worst_returned:
    """your search returns its last hypothesis: the one with the best score is wanted

    Fails: test_beams
    """

    _search = """
        - best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
        + best = (sums / lengths.clamp(min=1) ** length_penalty).argmin(dim=1)
    """


class reads_at_every_step:
    """your search encodes the source at every step: once is enough, since it does not change

    Fails: test_read_once
    """

    _search = """
        - logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
        + logs = model(source, tokens)[:, -1].float().log_softmax(dim=-1)
    """


class drops_while_writing:
    """your translate leaves the model in the mode it was in: in train mode its dropout acts

    Fails: test_rests
    """

    translate = """
        - model.eval()
    """


class left_in_eval:
    """your translate leaves the model in eval mode: training would continue without dropout

    Fails: test_restored
    """

    translate = """
        - model.train(was_training)
        + pass
    """


class always_back_to_train:
    """your translate leaves the model in train mode, even if it was in eval mode

    Fails: test_restored
    """

    translate = """
        - model.train(was_training)
        + model.train()
    """


class grad_switched_off:
    """your translate switches gradients off and never on again

    Fails: test_restored
    """

    translate = """
        - with torch.no_grad():
        -     return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
        + torch.set_grad_enabled(False)
        + return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
    """


class penalty_of_gnmt:
    """your length penalty is ((5 + length) / 6) to its power: here the length itself is raised

    Fails: test_length_penalty
    """

    _search = """
        - scores = candidates / longer.unsqueeze(-1) ** length_penalty
        + scores = candidates / ((5 + longer.unsqueeze(-1)) / 6) ** length_penalty

        - best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
        + best = (sums / ((5 + lengths) / 6) ** length_penalty).argmax(dim=1)
    """


class beams_beside_other_rows:
    """your memory is repeated whole, row after row: repeat_interleave lays each row next to its own beams

    Fails: test_beams
    """

    _search = """
        - memory = model.encode(source).repeat_interleave(beams, dim=0)  # [B * K, S, D]
        - source = source.repeat_interleave(beams, dim=0)
        + memory = model.encode(source).repeat(beams, 1, 1)  # [K * B, S, D]
        + source = source.repeat(beams, 1)
    """


class more_beams_than_words:
    """your search takes its beams from the first step's words: there may be more beams than words

    Fails: test_exhaustive
    """

    _search = """
        - chosen = scores.flatten(1).topk(beams).indices  # [B, K]
        + begun = scores.flatten(1) if tokens.shape[1] > 1 else scores[:, 0]
        + chosen = begun.topk(beams).indices  # [B, K]
    """


class source_viewed:
    """your translate calls view on the source: what is not contiguous in memory needs reshape

    Fails: test_own_model
    """

    _search = """
        - source = source.repeat_interleave(beams, dim=0)
        + source = source.view(-1).view(B, 1, -1).expand(B, beams, -1).reshape(B * beams, -1)
    """
