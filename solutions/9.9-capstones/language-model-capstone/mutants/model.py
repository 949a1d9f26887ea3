"""What the model gets wrong: where it looks, what tells positions apart, where its norms stand, what its sizes are."""

mistake(
    "no-causal-mask",
    "your attention looks ahead; each position should see only itself and those before it",
    Layer="v, is_causal=True -> v",
)

mistake(
    "mask-upside-down",
    "your mask lets each position see itself and those after it; it should see itself and those before it",
    Layer="""
        - heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        + ahead = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu()
        + heads = F.scaled_dot_product_attention(q, k, v, ahead)
    """,
)

mistake(
    "softmax-in-the-model",
    "your model applies the softmax; it should return logits, of which the loss makes probabilities",
    LanguageModel="self.head(self.norm(x)) -> self.head(self.norm(x)).softmax(dim=-1)",
)

mistake(
    "log-softmax-in-the-model",
    "your model applies the log-softmax; it should return logits, the numbers before it",
    LanguageModel="self.head(self.norm(x)) -> self.head(self.norm(x)).log_softmax(dim=-1)",
)

mistake(
    "positions-always",
    "your model has positions though positions=False; only the causal mask should then tell positions apart",
    LanguageModel="nn.Embedding(max_len, d_model) if positions else None -> nn.Embedding(max_len, d_model)",
)

mistake(
    "positions-never",
    "your model adds no positions though it has them; it should add them to the embedded tokens",
    LanguageModel="""
        - if self.positions is not None:
        -     x = x + self.positions.weight[: tokens.size(1)]
    """,
)

mistake(
    "same-position-for-all",
    "your model adds the first position to every token; it should add to each token its own position",
    LanguageModel=": tokens.size(1) -> 0",
)

mistake(
    "always-norm-first",
    "your layers normalise first whatever norm says; with norm='last' they should normalise each sum",
    Layer='norm == "first" -> True',
)

mistake(
    "always-norm-last",
    "your layers normalise last whatever norm says; with norm='first' they should normalise before each sublayer",
    Layer='norm == "first" -> False',
)

mistake(
    "norms-exchanged",
    'your two norms are exchanged; "first" should be x + f(norm(x)), "last" norm(x + f(x))',
    Layer='norm == "first" -> norm == "last"',
)

mistake(
    "no-norm-before-the-head",
    'your model with norm="first" has no norm before the head; it should normalise what the head reads',
    LanguageModel='nn.LayerNorm(d_model) if norm == "first" else nn.Identity() -> nn.Identity()',
)

mistake(
    "no-residual",
    'your sublayers replace the stream with norm="first"; add their outputs to it',
    Layer=[
        "x + self.attend(self.norm1(x)) -> self.attend(self.norm1(x))",
        "x + self.think(self.norm2(x)) -> self.think(self.norm2(x))",
    ],
)

mistake(
    "layers-shared",
    "your layers are one and the same; each should have parameters of its own",
    LanguageModel="""
        - self.layers = nn.ModuleList(Layer(d_model, num_heads, d_ff, norm) for _ in range(num_layers))
        + self.layers = nn.ModuleList([Layer(d_model, num_heads, d_ff, norm)] * num_layers)
    """,
)

mistake(
    "one-head",
    "your attention has one head whatever num_heads says; it should have num_heads of them",
    Layer="part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) -> part.unsqueeze(1)",
)

mistake(
    "inner-width-fixed",
    "your feed-forward networks are four times as wide as d_model whatever d_ff says; they should be d_ff wide inside",
    Layer="""
        - self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        + self.linear1, self.linear2 = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
    """,
)

mistake(
    "heads-side-by-side-wrongly",
    "your heads are not put side by side again; move the axis of time before that of heads first",
    Layer="heads.transpose(1, 2).flatten(2) -> heads.reshape(x.shape)",
)

mistake(
    "float32-logits",
    "your logits are float32 whatever the model is; they should have the dtype of the model",
    LanguageModel="self.head(self.norm(x)) -> self.head(self.norm(x)).float()",
)

mistake(
    "embedding-cut-off",
    "your embedding gets no gradient, as it is detached; it should be trained like all the rest",
    LanguageModel="self.tokens(tokens) -> self.tokens(tokens).detach()",
)

mistake(
    "head-too-large",
    "your new model is sure of nonsense, as its head starts with large weights; start with small ones",
    LanguageModel="nn.init.normal_(self.head.weight, std=0.02) -> nn.init.normal_(self.head.weight, std=1.0)",
)

mistake(
    "max-len-fixed",
    "your max_len is 64 whatever the argument says; it should be what the argument says",
    LanguageModel="self.max_len = max_len -> self.max_len = 64",
)

mistake(
    "texts-see-each-other",
    "your model subtracts the batch's mean; the texts of a batch must not see each other",
    LanguageModel="""
        - x = self.tokens(tokens)
        + x = self.tokens(tokens)
        + x = x - 0.5 * x.mean(dim=0)
    """,
)


@mistake(
    "torchs-own-layer",
    "your layers are torch's own; build them yourself",
    costs="layers are what is built here, and none of them is the learner's own",
)
class Layer:
    def __init__(self, d_model, num_heads, d_ff, norm):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            d_model, num_heads, d_ff, 0.0, "gelu", batch_first=True, norm_first=norm == "first"
        )

    del attend, think

    def forward(self, x):
        ahead = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        return self.layer(x, src_mask=ahead)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
