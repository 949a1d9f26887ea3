"""How words are hidden wrongly.

A word that is not special is chosen at the rate; of the chosen 80% are masked, 10% exchanged and 10% left.
"""

mistake(
    "all-masked",
    "your hide makes mask_id of every chosen token; 10% should become another and 10% stay",
    hide="""
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen, mask_id, tokens)
    """,
)

mistake(
    "none-left",
    "your hide exchanges 20% of the chosen tokens and leaves none as it was; exchange only 10% and leave another 10%",
    hide="draw[1] >= 0.9 -> draw[1] >= 0.8",
)

mistake(
    "special-chosen",
    "your hide chooses special tokens too; it should choose only among the others",
    hide="(draw[0] < rate) & ~special[tokens] -> draw[0] < rate",
)

mistake(
    "special-put-in",
    "your random tokens may be special ones; draw them only from the others",
    hide="""
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + anything = torch.randint(vocab_size, tokens.shape, generator=generator).to(tokens.device)
        + inputs = torch.where(chosen & (draw[1] >= 0.9), anything, inputs)
    """,
)

mistake(
    "targets-everywhere",
    "your targets are the tokens at every position; they should be -100 except where a token was chosen",
    hide="tokens.masked_fill(~chosen, -100) -> tokens.clone()",
)

mistake(
    "targets-of-masked-only",
    "your targets leave out chosen tokens that were exchanged or left as they were; "
    "all chosen tokens should be targets",
    hide="tokens.masked_fill(~chosen, -100) -> tokens.masked_fill(inputs != mask_id, -100)",
)

mistake(
    "no-random-words",
    "your hide inserts no random tokens; of the chosen ones, 10% should become a random token",
    hide="- inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)",
)

mistake(
    "one-number-for-both",
    "your hide draws one number both for whether a token is chosen and for what becomes of it; draw two",
    hide=[
        "draw[1] < 0.8 -> draw[0] < 0.8",
        "draw[1] >= 0.9 -> draw[0] >= 0.9",
    ],
)

mistake(
    "one-fate-for-a-row",
    "your hide decides once for a whole row what becomes of its chosen tokens; draw a number for each of them",
    hide="""
        + fate = torch.rand(*tokens.shape[:-1], 1, generator=generator).to(tokens.device)
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (fate < 0.8), mask_id, tokens)
        + inputs = torch.where(chosen & (fate >= 0.9), ordinary[which], inputs)
    """,
)

mistake(
    "one-fate-for-a-column",
    "your hide decides once for a whole column what becomes of its chosen tokens; draw a number for each of them",
    hide="""
        + fate = torch.rand(tokens.shape[-1], generator=generator).to(tokens.device)
        - inputs = torch.where(chosen & (draw[1] < 0.8), mask_id, tokens)
        - inputs = torch.where(chosen & (draw[1] >= 0.9), ordinary[which], inputs)
        + inputs = torch.where(chosen & (fate < 0.8), mask_id, tokens)
        + inputs = torch.where(chosen & (fate >= 0.9), ordinary[which], inputs)
    """,
)

mistake(
    "fate-without-generator",
    "your hide draws what becomes of chosen tokens from the global generator; it should use the one that is passed in",
    hide="""
        - draw = torch.rand(2, *tokens.shape, generator=generator).to(tokens.device)
        + draw = torch.stack((torch.rand(tokens.shape, generator=generator), torch.rand(tokens.shape)))
        + draw = draw.to(tokens.device)
    """,
)

mistake(
    "generator-forgotten",
    "your hide draws the random tokens from the global generator; it should use the one that is passed in",
    hide="len(ordinary), tokens.shape, generator=generator -> len(ordinary), tokens.shape",
)

mistake(
    "tenth-of-the-rest",
    "your 10% are of the tokens that masking has left; random words should be 10% of all chosen, not 2%",
    hide="draw[1] >= 0.9 -> draw[1] >= 0.98",
)

mistake(
    "rate-ignored",
    "your hide always chooses 15% of the tokens; it should choose each with probability rate",
    hide="draw[0] < rate -> draw[0] < 0.15",
)

mistake(
    "rate-of-all",
    "your rate is a share of all tokens; it should be a share of those that are not special",
    hide="""
        - chosen = (draw[0] < rate) & ~special[tokens]
        + most = rate * tokens.numel() / (~special[tokens]).sum().clamp(min=1)
        + chosen = (draw[0] < most) & ~special[tokens]
    """,
)

mistake(
    "changed-in-place",
    "your hide writes into the tokens that it was given; it should leave them as they are",
    hide="""
        - return inputs, tokens.masked_fill(~chosen, -100)
        + targets = tokens.masked_fill(~chosen, -100)
        + return tokens.copy_(inputs), targets
    """,
)

mistake(
    "same-for-each-row",
    "your hide chooses the same positions in each row; it should draw every token by itself",
    hide="""
        - draw = torch.rand(2, *tokens.shape, generator=generator).to(tokens.device)
        + draw = torch.rand(2, 1, tokens.shape[1], generator=generator).expand(2, *tokens.shape).to(tokens.device)
    """,
)

mistake(
    "ignored-as-zero",
    "your targets are 0 where none was chosen; they should be -100, which cross_entropy ignores",
    hide="tokens.masked_fill(~chosen, -100) -> tokens.masked_fill(~chosen, 0)",
)

mistake(
    "targets-are-inputs",
    "your targets are the tokens that the model reads; they should be the tokens before hiding",
    hide="tokens.masked_fill(~chosen, -100) -> inputs.masked_fill(~chosen, -100)",
)

mistake(
    "returned-in-other-order",
    "your hide returns targets first; inputs should come first",
    hide="inputs, tokens.masked_fill(~chosen, -100) -> tokens.masked_fill(~chosen, -100), inputs",
)

mistake(
    "mask-returned",
    "your hide returns which tokens were chosen; it should return the targets, the chosen tokens and -100 elsewhere",
    hide="tokens.masked_fill(~chosen, -100) -> chosen",
    costs="nothing of what hide returns can be judged without targets",
)

mistake(
    "last-word-never-drawn",
    "your random tokens are never the last ordinary one, as randint leaves its end out; draw from all ordinary ones",
    hide="len(ordinary) -> len(ordinary) - 1",
)

mistake(
    "one-random-word-for-all",
    "your random token is one for the whole batch; each should be drawn by itself",
    hide="ordinary[which] -> ordinary[which.flatten()[0]]",
)

mistake(
    "seed-of-its-own",
    "your hide seeds its own draws when there is no generator; it should then use torch's global generator",
    hide="""
        + generator = torch.Generator().manual_seed(0) if generator is None else generator
          special = torch.zeros(vocab_size, dtype=torch.bool, device=tokens.device)
    """,
)

mistake(
    "limit-included",
    "your hide chooses some tokens at rate 0, or leaves some out at rate 1; it should choose none and all",
    hide="draw[0] < rate -> draw[0] < min(max(rate, 0.02), 0.98)",
)

mistake(
    "generator-not-used",
    "your hide draws nothing from the generator that is passed in; every draw should come from it",
    hide="""
        + generator = None
          special = torch.zeros(vocab_size, dtype=torch.bool, device=tokens.device)
    """,
)

mistake(
    "chosen-by-count",
    "your hide chooses a fixed number of places in each row, and at least one; it should draw each token by itself",
    hide="""
        - chosen = (draw[0] < rate) & ~special[tokens]
        + count = max(1, int(rate * tokens.shape[1]))
        + chosen = torch.zeros_like(special[tokens]).scatter(1, draw[0].topk(count, dim=1).indices, True)
        + chosen = chosen & ~special[tokens]
    """,
)

mistake(
    "chosen-by-rounded-count",
    "your hide chooses a fixed number of places in each row, in short ones none; it should draw each token by itself",
    hide="""
        - chosen = (draw[0] < rate) & ~special[tokens]
        + count = int(rate * tokens.shape[1])
        + chosen = torch.zeros_like(special[tokens]).scatter(1, draw[0].topk(count, dim=1).indices, True)
        + chosen = chosen & ~special[tokens]
    """,
)

mistake(
    "chosen-by-count-of-all",
    "your hide chooses a fixed number of places of the whole batch; it should draw each token by itself",
    hide="""
        - chosen = (draw[0] < rate) & ~special[tokens]
        + count = int(rate * tokens.numel())
        + chosen = torch.zeros_like(special[tokens]).flatten()
        + chosen[draw[0].flatten().topk(count).indices] = True
        + chosen = chosen.view_as(tokens) & ~special[tokens]
    """,
)

mistake(
    "zero-never-drawn",
    "your random tokens are never 0; it should be a word like any other unless special_ids names it",
    hide="""
          ordinary = (~special).nonzero().squeeze(1)
        + ordinary = ordinary[ordinary > 0]
    """,
)

mistake(
    "zero-never-chosen",
    "your hide never chooses 0; it should be a word like any other unless special_ids names it",
    hide="special[tokens] -> special[tokens] & (tokens != 0)",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
