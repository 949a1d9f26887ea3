"""How the parts are put together wrongly.

Each sublayer reads a norm of the stream and is added to it; feed_forward is linear2(silu(gate(x)) · linear1(x)).
"""

mistake(
    "gate-and-linear1-exchanged",
    "your gate and linear1 have each other's work; apply silu to gate(x)",
    FeedForward="F.silu(self.gate(x)) * self.linear1(x) -> self.gate(x) * F.silu(self.linear1(x))",
)

mistake(
    "no-gate",
    "your feed-forward network does not use its gate; SiLU of the gate should multiply what linear1 gives",
    FeedForward="F.silu(self.gate(x)) * self.linear1(x) -> F.silu(self.linear1(x))",
)

mistake(
    "sigmoid-gate",
    "your gate is a plain sigmoid; it should be silu(a), a · sigmoid(a)",
    FeedForward="F.silu(self.gate(x)) -> F.sigmoid(self.gate(x))",
)

mistake(
    "gelu-gate",
    "your gate goes through gelu, which makes it GEGLU; SwiGLU should have silu",
    FeedForward="F.silu(self.gate(x)) -> F.gelu(self.gate(x))",
)

mistake(
    "feed-forward-with-biases",
    "your feed-forward network has biases; nothing in this model should have any",
    FeedForward=[
        "self.gate = nn.Linear(d_model, d_ff, bias=False) -> self.gate = nn.Linear(d_model, d_ff)",
        "self.linear1 = nn.Linear(d_model, d_ff, bias=False) -> self.linear1 = nn.Linear(d_model, d_ff)",
        "d_model, bias=False -> d_model",
    ],
)

mistake(
    "head-shared-with-tokens",
    "your head has the weight of the embedding; here it should have one of its own",
    ModernLM="""
        - self.head = nn.Linear(d_model, vocab_size, bias=False)
        + self.head = nn.Linear(d_model, vocab_size, bias=False)
        + self.head.weight = self.tokens.weight
    """,
)

mistake(
    "one-layer-many-times",
    "your layers are one layer many times; each should have parameters of its own",
    ModernLM="""
        - self.layers = nn.ModuleList(Layer(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers))
        + self.layers = nn.ModuleList([Layer(d_model, num_heads, num_kv_heads, d_ff)] * num_layers)
    """,
)

mistake(
    "normed-afterwards",
    "your norms come after the sum, as in 2017; normalise a sublayer's input, and leave the stream as it is",
    Layer=[
        "self.norm1(x) -> x",
        "x + attended -> self.norm1(x + attended)",
        "x + self.feed_forward(self.norm2(x)) -> self.norm2(x + self.feed_forward(x))",
    ],
)

mistake(
    "norms-exchanged",
    "your norm1 and norm2 are exchanged; norm1 should be attention's",
    Layer=[
        "self.norm1(x) -> self.norm2(x)",
        "self.norm2(x) -> self.norm1(x)",
    ],
)

mistake(
    "residual-of-the-norm",
    "your sublayers are added to the norm's output; add them to the stream as it was",
    Layer="""
        - attended, past = self.attention(self.norm1(x), past)
        - x = x + attended
        - return x + self.feed_forward(self.norm2(x)), past
        + x = self.norm1(x)
        + attended, past = self.attention(x, past)
        + x = self.norm2(x + attended)
        + return x + self.feed_forward(x), past
    """,
)

mistake(
    "no-residual",
    "your layers pass on only a sublayer's output; add it to the stream",
    Layer="""
        - x = x + attended
        - return x + self.feed_forward(self.norm2(x)), past
        + return self.feed_forward(self.norm2(attended)), past
    """,
)

mistake(
    "side-by-side",
    "your attention and feed_forward read the same stream; feed_forward should read it after attention was added",
    Layer="""
        - x = x + attended
        - return x + self.feed_forward(self.norm2(x)), past
        + return x + attended + self.feed_forward(self.norm2(x)), past
    """,
)

mistake(
    "no-last-norm",
    "your model has no norm in front of its head; the last layer's output should go through norm",
    ModernLM="self.norm(x) -> x",
)

mistake(
    "embeddings-scaled",
    "your embeddings are multiplied by the root of d_model; here they should be taken as they are",
    ModernLM="self.tokens(tokens) -> self.tokens(tokens) * self.tokens.embedding_dim**0.5",
)

mistake(
    "probabilities-returned",
    "your model returns probabilities; it should return logits",
    ModernLM="self.head(self.norm(x)) -> self.head(self.norm(x)).softmax(-1)",
)

mistake(
    "nothing-is-learned",
    "your model computes without gradients, so no parameter can learn; gradients should reach every parameter",
    ModernLM="""
        - x = self.tokens(tokens)  # [B, T, D]
        + x = self.tokens(tokens).detach()  # [B, T, D]

        - return self.head(self.norm(x)), new
        + return self.head(self.norm(x)).detach(), new
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
