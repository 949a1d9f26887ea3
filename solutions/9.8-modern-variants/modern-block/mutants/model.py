"""How the parts are put together wrongly.

Each sublayer reads a norm of the stream and is added to it; feed_forward is linear2(silu(gate(x)) · linear1(x)).
"""


class gate_and_linear1_exchanged:
    """your gate and linear1 have each other's work: silu is applied to gate(x)

    Fails: test_feed_forward
    """

    class FeedForward:
        forward = """
            - return self.linear2(F.silu(self.gate(x)) * self.linear1(x))
            + return self.linear2(self.gate(x) * F.silu(self.linear1(x)))
        """


class no_gate:
    """your feed-forward network does not use its gate

    Fails: test_feed_forward
    """

    class FeedForward:
        forward = """
            - return self.linear2(F.silu(self.gate(x)) * self.linear1(x))
            + return self.linear2(F.silu(self.linear1(x)))
        """


class sigmoid_gate:
    """your gate is a plain sigmoid: silu(a) is a · sigmoid(a)

    Fails: test_feed_forward
    """

    class FeedForward:
        forward = """
            - return self.linear2(F.silu(self.gate(x)) * self.linear1(x))
            + return self.linear2(F.sigmoid(self.gate(x)) * self.linear1(x))
        """


class gelu_gate:
    """your gate goes through gelu, which makes it GEGLU: SwiGLU has silu

    Fails: test_feed_forward
    """

    class FeedForward:
        forward = """
            - return self.linear2(F.silu(self.gate(x)) * self.linear1(x))
            + return self.linear2(F.gelu(self.gate(x)) * self.linear1(x))
        """


class feed_forward_with_biases:
    """your feed-forward network has biases: nothing in this model has

    Fails: test_model_parameters
    """

    class FeedForward:
        __init__ = """
            - self.gate = nn.Linear(d_model, d_ff, bias=False)
            - self.linear1 = nn.Linear(d_model, d_ff, bias=False)
            - self.linear2 = nn.Linear(d_ff, d_model, bias=False)
            + self.gate = nn.Linear(d_model, d_ff)
            + self.linear1 = nn.Linear(d_model, d_ff)
            + self.linear2 = nn.Linear(d_ff, d_model)
        """


class head_shared_with_tokens:
    """your head has the weight of the embedding: here it has one of its own

    Fails: test_model_parameters
    """

    class ModernLM:
        __init__ = """
            - self.head = nn.Linear(d_model, vocab_size, bias=False)
            + self.head = nn.Linear(d_model, vocab_size, bias=False)
            + self.head.weight = self.tokens.weight
        """


class one_layer_many_times:
    """your layers are one layer many times: each has parameters of its own

    Fails: test_model_parameters
    """

    class ModernLM:
        __init__ = """
            - self.layers = nn.ModuleList(Layer(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers))
            + self.layers = nn.ModuleList([Layer(d_model, num_heads, num_kv_heads, d_ff)] * num_layers)
        """


class normed_afterwards:
    """your norms come after the sum, as in 2017: what a sublayer reads is normalised, the stream is not

    Fails: test_model_parts
    """

    class Layer:
        forward = """
            - attended, past = self.attention(self.norm1(x), past)
            - x = x + attended
            - return x + self.feed_forward(self.norm2(x)), past
            + attended, past = self.attention(x, past)
            + x = self.norm1(x + attended)
            + return self.norm2(x + self.feed_forward(x)), past
        """


class norms_exchanged:
    """your norm1 and norm2 are exchanged: norm1 is attention's

    Fails: test_model_parts
    """

    class Layer:
        forward = """
            - attended, past = self.attention(self.norm1(x), past)
            + attended, past = self.attention(self.norm2(x), past)

            - return x + self.feed_forward(self.norm2(x)), past
            + return x + self.feed_forward(self.norm1(x)), past
        """


class residual_of_the_norm:
    """your sublayers are added to what the norm made: the stream goes on as it was

    Fails: test_model_parts
    """

    class Layer:
        forward = """
            - attended, past = self.attention(self.norm1(x), past)
            - x = x + attended
            - return x + self.feed_forward(self.norm2(x)), past
            + x = self.norm1(x)
            + attended, past = self.attention(x, past)
            + x = self.norm2(x + attended)
            + return x + self.feed_forward(x), past
        """


class no_residual:
    """your layers pass on what a sublayer gives: it is added to the stream

    Fails: test_model_parts
    """

    class Layer:
        forward = """
            - x = x + attended
            - return x + self.feed_forward(self.norm2(x)), past
            + return self.feed_forward(self.norm2(attended)), past
        """


class side_by_side:
    """your attention and feed_forward read the same stream: the latter reads what the former has added to

    Fails: test_model_parts
    """

    class Layer:
        forward = """
            - x = x + attended
            - return x + self.feed_forward(self.norm2(x)), past
            + return x + attended + self.feed_forward(self.norm2(x)), past
        """


class no_last_norm:
    """your model has no norm in front of its head

    Fails: test_model_parts
    """

    class ModernLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(x), new
        """


class embeddings_scaled:
    """your embeddings are multiplied by the root of d_model: here they are taken as they are

    Fails: test_model_parts
    """

    class ModernLM:
        forward = """
            - x = self.tokens(tokens)  # [B, T, D]
            + x = self.tokens(tokens) * self.tokens.embedding_dim**0.5
        """


class probabilities_returned:
    """your model returns probabilities: logits are asked for

    Fails: test_model_parts
    """

    class ModernLM:
        forward = """
            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x)).softmax(-1), new
        """


class nothing_is_learned:
    """your model computes without gradients: no parameter can learn

    Fails: test_model_gradients
    """

    class ModernLM:
        forward = """
            - x = self.tokens(tokens)  # [B, T, D]
            + x = self.tokens(tokens).detach()  # [B, T, D]

            - return self.head(self.norm(x)), new
            + return self.head(self.norm(x)).detach(), new
        """
