"""What goes wrong where room is short, or where there is padding.

An expert takes its first rows in the order of the text, of real tokens alone; who finds no room gets nothing from it.
"""

mistake(
    "no-capacity",
    "your experts take all rows that chose them; each should take the first `capacity`",
    MoE="rows[: self.capacity], ranks[: self.capacity] -> rows, ranks",
)

mistake(
    "one-too-many",
    "your experts take one row more than their capacity; compare with < where you count from 0",
    MoE="rows[: self.capacity], ranks[: self.capacity] -> "
    "rows[: self.capacity and self.capacity + 1], ranks[: self.capacity and self.capacity + 1]",
)

mistake(
    "last-rows-stay",
    "your experts keep their last rows; they should keep the first in the order of the text",
    MoE="rows[: self.capacity], ranks[: self.capacity] -> "
    "rows[-(self.capacity or len(rows)) :], ranks[-(self.capacity or len(ranks)) :]",
)

mistake(
    "largest-weights-stay",
    "your experts keep the rows with the largest weights; they should keep the first in the order of the text",
    MoE="""
        + order = weights[rows, ranks].argsort(descending=True)
        + rows, ranks = rows[order], ranks[order]
          rows, ranks = rows[: self.capacity], ranks[: self.capacity]
    """,
    convention="V-MoE calls it batch prioritized routing",
)

mistake(
    "first-choices-first",
    "your experts take all first choices before any second one; they should go by the order of the text",
    MoE="""
        + order = ranks.argsort(stable=True)
        + rows, ranks = rows[order], ranks[order]
          rows, ranks = rows[: self.capacity], ranks[: self.capacity]
    """,
    convention="GShard fills its experts so",
)

mistake(
    "capacity-for-each-text",
    "your capacity is counted again in each text of the batch; it should hold for the whole call",
    MoE="""
          rows, ranks = rows[: self.capacity], ranks[: self.capacity]
        + if self.capacity:
        +     texts = real.nonzero()[:, 0]
        +     rows, ranks = (chosen == number).nonzero(as_tuple=True)
        +     first = torch.cat([(texts[rows] == text).nonzero()[: self.capacity, 0] for text in texts.unique()])
        +     rows, ranks = rows[first], ranks[first]
    """,
)

mistake(
    "time-before-batch",
    "your rows are ordered by time before batch; they should be ordered by batch, then from left to right",
    MoE="""
        + order = real.nonzero()[rows, 1].argsort(stable=True)
        + rows, ranks = rows[order], ranks[order]
          rows, ranks = rows[: self.capacity], ranks[: self.capacity]
    """,
)

mistake(
    "weights-renewed",
    "your weights are divided again after a drop, so they add up to 1 again; they should stay as they are",
    MoE="""
          total = torch.zeros_like(tokens)
        + taken = torch.zeros_like(weights)
        + for number in range(len(self.experts)):
        +     rows, ranks = (chosen == number).nonzero(as_tuple=True)
        +     taken[rows[: self.capacity], ranks[: self.capacity]] = 1.0
        + weights = weights / (weights * taken).sum(-1, keepdim=True).clamp(min=1e-3)
    """,
    convention="some implementations normalise last",
)

mistake(
    "dropped-passed-on",
    "your layer returns x for a token that found no room; its share should be 0, as the residual is outside",
    MoE="""
          total = torch.zeros_like(tokens)
        + room = torch.zeros(len(tokens), 1, dtype=torch.bool, device=x.device)
        + for number in range(len(self.experts)):
        +     room[(chosen == number).nonzero()[: self.capacity, 0]] = True
        + total = torch.where(room, total, tokens)
    """,
)

mistake(
    "dropped-when-computed",
    "your experts compute all rows that chose them, and then drop some; they should get no more than they take",
    MoE="""
        + every = rows
          rows, ranks = rows[: self.capacity], ranks[: self.capacity]

        - total = total.index_add(0, rows, weights[rows, ranks, None] * expert(tokens[rows]))
        + total = total.index_add(0, rows, weights[rows, ranks, None] * expert(tokens[every])[: self.capacity])
    """,
)

mistake(
    "shared-have-a-limit",
    "your shared experts take the first `capacity` tokens only; they should take all",
    MoE="""
        - total = total + expert(tokens)
        + first = torch.arange(len(tokens), device=x.device)[: self.capacity]
        + total = total.index_add(0, first, expert(tokens[: self.capacity]))
    """,
)

mistake(
    "keep-not-used",
    "your layer does not look at keep; padding should go to no expert and get 0",
    MoE="if keep is None else keep -> if True else keep",
)

mistake(
    "keep-turned-round",
    "your layer drops the real tokens and keeps padding; keep is True where a token should be routed",
    MoE="if keep is None else keep -> if keep is None else ~keep",
)

mistake(
    "padding-returned-as-it-came",
    "your layer returns x at padding; it should return 0 there",
    MoE="output = torch.zeros_like(x) -> output = x.clone()",
)

mistake(
    "real-tokens-in-front",
    "your layer puts the outputs of real tokens in front of each other; put each where its token was",
    MoE="output[real] = total -> output.view(-1, x.size(-1))[: len(total)] = total",
)

mistake(
    "padding-takes-room",
    "your padding is routed, and only its output is 0, so it takes room from real tokens; leave it out before",
    MoE="""
        - tokens = x[real]  # [N, D]: padding is left out, the rest is in the order of the text
        + tokens = x.flatten(0, 1)

        - output = torch.zeros_like(x)
        - output[real] = total
        - return output
        + return total.view(x.shape).where(real[..., None], 0.0)
    """,
)

mistake(
    "padding-set-to-zero",
    "your padding is set to 0 and then routed, so biases give it an output; leave it out before",
    MoE="""
        - tokens = x[real]  # [N, D]: padding is left out, the rest is in the order of the text
        + tokens = (x * real[..., None]).flatten(0, 1)

        - output = torch.zeros_like(x)
        - output[real] = total
        - return output
        + return total.view(x.shape)
    """,
)

mistake(
    "shared-see-padding",
    "your shared experts are added at padding as well; the output should be 0 there",
    MoE="""
        - for expert in self.shared:
        -     total = total + expert(tokens)

          output[real] = total
        + for expert in self.shared:
        +     output = output + expert(x)
    """,
)

mistake(
    "limit-of-the-first-call",
    "your layer keeps how many tokens its first call had as its capacity; None should be no limit in every call",
    MoE="""
          tokens = x[real]  # [N, D]: padding is left out, the rest is in the order of the text
        + if self.capacity is None:
        +     self.capacity = len(tokens)
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
