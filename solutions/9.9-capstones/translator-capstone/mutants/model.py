"""What the model gets wrong: where it looks, what tells positions apart, where its norms stand, what its sizes are."""

mistake(
    "no-causal-mask",
    "your decoder looks ahead; each position should see only itself and the words before it",
    TranslationModel="""
        - past = torch.ones(time, time, dtype=torch.bool, device=target.device).tril()
        + past = torch.ones(time, time, dtype=torch.bool, device=target.device)
    """,
)

mistake(
    "encoder-causal",
    "your encoder only looks back; each of its positions should see the whole source",
    TranslationModel="""
        - memory = layer(memory, real)
        + back = torch.ones(source.size(1), source.size(1), dtype=torch.bool, device=source.device).tril()
        + memory = layer(memory, real & back)
    """,
)

mistake(
    "source-not-seen",
    "your decoder sees only the first place of the memory; it should see the whole source",
    TranslationModel="""
        - memory = self.memory_norm(memory)
        + memory, real = self.memory_norm(self._placed(self.source(source), 0))[:, :1], real[..., :1]
    """,
)

mistake(
    "source-padding-seen-by-the-encoder",
    "your encoder looks at padding; a mask should hide it from the encoder",
    TranslationModel="layer(memory, real) -> layer(memory, torch.ones_like(real))",
)

mistake(
    "source-padding-seen-by-the-decoder",
    "your decoder looks at the memory of padding; a mask should hide it from the decoder",
    TranslationModel="layer(x, past, memory, real) -> layer(x, past, memory, torch.ones_like(real))",
)

mistake(
    "padding-is-always-0",
    "your model always treats token 0 as padding; it should treat the token pad_id as padding",
    TranslationModel="source != self.pad_id -> source != 0",
)

mistake(
    "texts-see-each-other",
    "your model subtracts the batch's mean; the pairs of a batch must not see each other",
    TranslationModel="""
        - memory = self._placed(self.source(source), 0)
        + memory = self._placed(self.source(source), 0)
        + memory = memory - 0.5 * memory.mean(dim=0)
    """,
)

mistake(
    "source-without-positions",
    "your source has no positions, so the encoder sees a bag of words; add positions to the source's embeddings",
    TranslationModel="self._placed(self.source(source), 0) -> self.source(source)",
)

mistake(
    "target-positions-alike",
    "your target's positions are all alike, so the order of its words is lost; each should have a vector of its own",
    TranslationModel="""
        - x = self._placed(self.target(target), 1)
        + x = self.target(target) if self.places is None else self.target(target) + self.places[1].weight[0]
    """,
)

mistake(
    "positions-always",
    "your model has positions though positions=False; it should have none then",
    TranslationModel="""
        - self.places = nn.ModuleList(nn.Embedding(max_len, d_model) for _ in range(2)) if positions else None
        + self.places = nn.ModuleList(nn.Embedding(max_len, d_model) for _ in range(2))
    """,
)

mistake(
    "always-norm-first",
    "your layers always norm first; with norm='last' they should norm after adding x",
    Layer='norm == "first" -> True',
)

mistake(
    "always-norm-last",
    "your layers always norm last; with norm='first' they should norm before each sublayer",
    Layer='norm == "first" -> False',
)

mistake(
    "no-norm-before-the-head",
    'your model with norm="first" has no norm before the head; it should have one after each stack',
    TranslationModel="self.norm(x) -> x",
)

mistake(
    "no-norm-after-the-encoder",
    'your encoder with norm="first" ends without a norm; the decoder should read norm(memory)',
    TranslationModel="- memory = self.memory_norm(memory)",
)

mistake(
    "layers-shared",
    "your decoder's layers are one and the same; each should have parameters of its own",
    TranslationModel="""
        - self.decoder = nn.ModuleList(Layer(d_model, num_heads, d_ff, norm, True) for _ in range(num_layers))
        + self.decoder = nn.ModuleList([Layer(d_model, num_heads, d_ff, norm, True)] * num_layers)
    """,
)

mistake(
    "softmax-in-the-model",
    "your model applies the softmax; it should return logits, of which the loss makes probabilities",
    TranslationModel="self.head(self.norm(x)) -> self.head(self.norm(x)).softmax(dim=-1)",
)

mistake(
    "float32-logits",
    "your logits are always float32; they should have the dtype of the model",
    TranslationModel="self.head(self.norm(x)) -> self.head(self.norm(x)).float()",
)

mistake(
    "memory-cut-off",
    "your encoder gets no gradient, as the memory is detached; gradients should go through the memory",
    TranslationModel="self.memory_norm(memory) -> self.memory_norm(memory).detach()",
)

mistake(
    "head-too-large",
    "your new model is sure of nonsense, as its head starts with large weights; it should start with small ones",
    TranslationModel="0.02 -> 1.0",
)

mistake(
    "pad-id-not-kept",
    "your model's pad_id is always 0; it should be the one given",
    TranslationModel="max_len, pad_id -> max_len, 0",
)


@mistake(
    "torchs-own-attention",
    "your attention is torch's own module; build it yourself",
    costs="layers are what is built here, and their attention is not the learner's own",
)
class Attention:
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, num_heads, batch_first=True)

    def forward(self, x, memory, mask):
        mask = mask.expand(len(x), 1, x.size(1), memory.size(1)).squeeze(1)
        mask = mask.repeat_interleave(self.attention.num_heads, dim=0)
        return self.attention(x, memory, memory, attn_mask=~mask, need_weights=False)[0]
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
