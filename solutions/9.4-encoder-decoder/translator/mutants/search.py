"""How the search goes wrong: what is kept of a hypothesis, which are compared, and when it ends."""

mistake(
    "bos-returned",
    "your translations begin with bos_id; leave it out, as it only comes before the first word",
    _search="torch.arange(B, device=source.device), best, 1: -> torch.arange(B, device=source.device), best",
    costs="every translation is wrong by its first token",
)

mistake(
    "eos-dropped",
    "your translations lack their eos_id; return it as one of their words",
    _search="""
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + found = tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return found.masked_fill(found == eos_id, model.pad_id)
    """,
)

mistake(
    "eos-repeated",
    "your translations are filled with eos_id; after the first one should come model.pad_id",
    _search="""
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + found = tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return found.masked_fill((found == eos_id).cumsum(dim=1) > 0, eos_id)
    """,
)

mistake(
    "filled-with-zeros",
    "your translations are always filled with 0; they should be filled with model.pad_id",
    _search="""
        - return tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + found = tokens.view(B, beams, -1)[torch.arange(B, device=source.device), best, 1:]
        + return found.masked_fill((found == eos_id).cumsum(dim=1) - (found == eos_id).int() > 0, 0)
    """,
)

mistake(
    "rows-never-end",
    "your rows go on after their eos_id; a row that has ended should stay as it is",
    _search="""
        - logs = torch.where(ended.unsqueeze(-1), rest, logs)

        - ended = ended.gather(1, parent) | (word == eos_id)
        + ended = (word == eos_id) & False
    """,
)

mistake(
    "one-word-too-many",
    "your search takes one step too many; it should write max_len tokens in all, eos_id included",
    _search="range(max_len) -> range(max_len + 1)",
)

mistake(
    "one-word-too-few",
    "your search takes one step too few; bos_id should not count among max_len tokens",
    _search="range(max_len) -> range(max(max_len - 1, 1))",
)

mistake(
    "all-stop-with-the-first",
    "your search ends for all rows when one has ended; it should go on until every row has ended",
    _search="if ended.all(): -> if ended[:, 0].any():",
)

mistake(
    "beams-alike",
    "your beams are all the same, or only one is used; start with one hypothesis per source instead of K copies "
    "of it",
    _search="""
        - sums = torch.full((B, beams), -torch.inf, device=source.device)
        - sums[:, 0] = 0.0
        + sums = torch.zeros(B, beams, device=source.device)
    """,
)

mistake(
    "each-beam-alone",
    "your hypotheses are each continued by their own best word; keep the best K of all K·V",
    _search="""
        - chosen = scores.flatten(1).topk(beams).indices  # [B, K]
        + if tokens.shape[1] == 1:
        +     chosen = scores.flatten(1).topk(beams).indices
        + else:
        +     chosen = scores.argmax(dim=-1) + V * torch.arange(beams, device=source.device)
    """,
)

mistake(
    "texts-not-reordered",
    "your hypotheses get words that were chosen for others; reorder the written words by the parents",
    _search="tokens[(first + parent).flatten()] -> tokens",
)

mistake(
    "ends-not-reordered",
    "your flags of ended hypotheses stay in place when hypotheses change places; reorder them by the parents",
    _search="ended.gather(1, parent) -> ended",
)

mistake(
    "parents-of-the-first-row",
    "your parents are counted without their row, so each row continues hypotheses of the first; "
    "it should follow its own",
    _search="(first + parent).flatten() -> parent.flatten()",
)

mistake(
    "probabilities-summed",
    "your score sums up probabilities; it should sum up their logarithms",
    _search="log_softmax -> softmax",
)

mistake(
    "logits-summed",
    "your score sums up logits; it should sum up log-probabilities",
    _search="""
        - logs = model.decode(tokens, memory, source)[:, -1].float().log_softmax(dim=-1)
        + logs = model.decode(tokens, memory, source)[:, -1].float()
    """,
)

mistake(
    "ended-dropped",
    "your ended hypotheses leave the search, or keep paying; they should stay as they are while among the best",
    _search="rest[..., model.pad_id] = 0.0 -> rest[..., model.pad_id] = -1e4",
)

mistake(
    "stops-with-the-best",
    "your search ends with the best hypothesis, which another may overtake; wait until all that remain have ended",
    _search="if ended.all(): -> if ended[:, 0].all():",
)

mistake(
    "penalty-ignored",
    "your length penalty changes nothing; divide each sum by its length, up to eos_id, to that power",
    _search="""
        + length_penalty = 0.0
          B = len(source)
    """,
)

mistake(
    "penalty-at-the-end-alone",
    "your length penalty acts only on the last choice; the score should decide at each step, too",
    _search="candidates / longer.unsqueeze(-1) ** length_penalty -> candidates",
)

mistake(
    "penalty-not-at-the-end",
    "your last choice is by the sum; the score should decide there as at each step",
    _search="(sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1) -> sums.argmax(dim=1)",
)

mistake(
    "penalty-multiplied",
    "your score multiplies the sum by the length's power; it should divide by it",
    _search="""
        - scores = candidates / longer.unsqueeze(-1) ** length_penalty
        + scores = candidates * longer.unsqueeze(-1) ** length_penalty

        - best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
        + best = (sums * lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
    """,
)

mistake(
    "worst-returned",
    "your search returns its last hypothesis; it should return the one with the best score",
    _search="argmax -> argmin",
)

mistake(
    "reads-at-every-step",
    "your search encodes the source at every step; encode it once, as it does not change",
    _search="model.decode(tokens, memory, source) -> model(source, tokens)",
)

mistake(
    "drops-while-writing",
    "your translate never calls model.eval(), so dropout stays on while it writes; switch to eval mode first",
    translate="- model.eval()",
)

mistake(
    "left-in-eval",
    "your translate leaves the model in eval mode; it should restore the mode that the model had",
    translate="model.train(was_training) -> pass",
)

mistake(
    "always-back-to-train",
    "your translate always leaves the model in train mode; it should restore the mode that the model had",
    translate="model.train(was_training) -> model.train()",
)

mistake(
    "grad-switched-off",
    "your translate switches gradients off and never on again; restore the setting that was there before",
    translate="""
        - with torch.no_grad():
        -     return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
        + torch.set_grad_enabled(False)
        + return _search(model, source, bos_id, eos_id, max_len, beams, length_penalty)
    """,
)

mistake(
    "penalty-of-gnmt",
    "your length penalty is ((5 + length) / 6) to its power; it should be the length itself to that power",
    _search=[
        "longer.unsqueeze(-1) -> ((5 + longer.unsqueeze(-1)) / 6)",
        "lengths.clamp(min=1) -> ((5 + lengths) / 6)",
    ],
)

mistake(
    "beams-beside-other-rows",
    "your memory is repeated whole, row after row; use repeat_interleave, which puts each row next to its own beams",
    _search="""
        - memory = model.encode(source).repeat_interleave(beams, dim=0)  # [B * K, S, D]
        - source = source.repeat_interleave(beams, dim=0)
        + memory = model.encode(source).repeat(beams, 1, 1)  # [K * B, S, D]
        + source = source.repeat(beams, 1)
    """,
)

mistake(
    "more-beams-than-words",
    "your search fails at the first step where there are more beams than words; it should keep all the words then",
    _search="""
        - chosen = scores.flatten(1).topk(beams).indices  # [B, K]
        + begun = scores.flatten(1) if tokens.shape[1] > 1 else scores[:, 0]
        + chosen = begun.topk(beams).indices  # [B, K]
    """,
)

mistake(
    "source-viewed",
    "your translate calls view on the source, which need not be contiguous in memory; use reshape",
    _search="""
        - source = source.repeat_interleave(beams, dim=0)
        + source = source.view(-1).view(B, 1, -1).expand(B, beams, -1).reshape(B * beams, -1)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
