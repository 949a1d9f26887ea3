"""How a layer sends its tokens to experts wrongly.

Each expert is called once, with its own rows, and its outputs count as the weights say; each has its own parameters.
"""

mistake(
    "one-expert-for-all",
    "your experts are one and the same object, so they have the same parameters; each should have its own",
    MoE="Expert(d_model, d_ff) for _ in range(experts) -> [Expert(d_model, d_ff)] * experts",
    costs="all experts say the same, so no token has the right output",
)

mistake(
    "router-with-bias",
    "your router has a bias; it should have none",
    MoE="experts, bias=False -> experts",
)

mistake(
    "experts-in-a-list",
    "your experts are in a plain list, so the layer does not know their parameters; use nn.ModuleList",
    MoE="self.experts = nn.ModuleList(Expert(d_model, d_ff) for _ in range(experts)) -> "
    "self.experts = [Expert(d_model, d_ff) for _ in range(experts)]",
    costs="a layer that cannot be loaded has little that can be judged",
)

mistake(
    "weights-not-used",
    "your layer adds the experts' outputs without their weights; multiply each by its own",
    MoE="weights[rows, ranks, None] * expert(tokens[rows]) -> expert(tokens[rows])",
)

mistake(
    "weight-of-the-first",
    "your experts all get the weight of the token's first choice; each should get its own",
    MoE="weights[rows, ranks, None] -> weights[rows, 0, None]",
)

mistake(
    "first-choice-only",
    "your layer uses only the first choice of a token; it should use all k",
    MoE="(chosen == number).nonzero -> (chosen[:, :1] == number).nonzero",
    costs="no token has the right output where k is above 1",
)

mistake(
    "input-weighted",
    "your weights multiply what goes into an expert, which is not linear; multiply what comes out",
    MoE="weights[rows, ranks, None] * expert(tokens[rows]) -> expert(weights[rows, ranks, None] * tokens[rows])",
    costs="no token has the right output",
)

mistake(
    "last-expert-wins",
    "your layer overwrites what an earlier expert has put there; add to it",
    MoE="total.index_add(0, rows, -> total.index_copy(0, rows,",
)

mistake(
    "residual-inside",
    "your layer adds x to its output; a residual should stay outside of the layer",
    MoE="output[real] = total -> output[real] = total + tokens",
)

mistake(
    "all-experts-compute",
    "your experts compute all tokens, and most is thrown away; call each with only its own rows",
    MoE="expert(tokens[rows]) -> expert(tokens)[rows]",
)

mistake(
    "called-token-by-token",
    "your experts are called once for each token, so nothing is parallel; call each once with all its rows",
    MoE="expert(tokens[rows]) -> torch.cat([expert(tokens[row : row + 1]) for row in rows])",
)

mistake(
    "called-for-each-choice",
    "your experts are called once for each of the k choices; call each once with all its rows",
    MoE="""
        - total = total.index_add(0, rows, weights[rows, ranks, None] * expert(tokens[rows]))
        + for rank in ranks.unique():
        +     own = rows[ranks == rank]
        +     total = total.index_add(0, own, weights[own, rank, None] * expert(tokens[own]))
    """,
)

mistake(
    "routed-by-probabilities",
    "your router's logits go through a softmax before route, which takes one as well; pass the logits",
    MoE="route(self.router(tokens), self.k) -> route(self.router(tokens).softmax(dim=-1), self.k)",
)

mistake(
    "router-detached",
    "your logits are detached, so the router never learns; its gradient should come through the weights",
    MoE="self.router(tokens) -> self.router(tokens).detach()",
)

mistake(
    "total-in-float32",
    "your sum begins in float32, whatever x is; begin it with the dtype of x",
    MoE="torch.zeros_like(tokens) -> torch.zeros(tokens.shape, device=x.device)",
)

mistake(
    "written-into-x",
    "your layer writes its output into x; it should make a new tensor",
    MoE="output = torch.zeros_like(x) -> output = x.data.zero_()",
)

mistake(
    "layer-takes-any-k",
    "your layer is made with any k; below 1 or above the number of experts it should raise ValueError",
    MoE='_refuse("k", k, 1, experts) -> pass',
)

mistake(
    "capacity-not-refused",
    "your layer takes a capacity below 1; it should raise ValueError",
    MoE='_refuse("capacity", capacity, 1) -> pass',
)

mistake(
    "shared-not-refused",
    "your layer takes a negative number of shared experts for none; it should raise ValueError",
    MoE='_refuse("shared", shared, 0) -> pass',
)

mistake(
    "no-shared",
    "your shared experts are never asked; each should get every token",
    MoE="for expert in self.shared: -> for expert in self.shared[:0]:",
)

mistake(
    "shared-in-place-of-chosen",
    "your shared experts replace what the chosen ones returned; add to it",
    MoE="total = total + expert(tokens) -> total = expert(tokens)",
)

mistake(
    "one-shared-for-all",
    "your shared experts are one and the same object, so they have the same parameters; each should have its own",
    MoE="Expert(d_model, d_ff) for _ in range(shared) -> [Expert(d_model, d_ff)] * shared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
