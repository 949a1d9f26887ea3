"""What the stack of layers gets wrong.

Each layer is one of its own, takes what the one before gave, and gets every option and the mask. One norm follows the
last pre-norm layer.
"""


class layers_in_plain_list:
    """your layers are in a Python list, where no optimizer finds their parameters: use nn.ModuleList

    Fails: test_encoder_layers
    """

    class Encoder:
        __init__ = """
            - self.layers = nn.ModuleList(
            + self.layers = list(
        """


class layers_shared:
    """your encoder uses one layer over and over: [layer] * n repeats the same object

    Fails: test_encoder_layers
    """

    class Encoder:
        __init__ = """
            - self.layers = nn.ModuleList(
            -     EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            - )
            + layer = EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation)
            + self.layers = nn.ModuleList([layer] * num_layers)
        """


class layers_not_chained:
    """your layers all read the encoder's input: each must take what the one before gave

    Fails: test_encoder_pre_norm, test_encoder_post_norm
    """

    class Encoder:
        forward = """
            -     x = layer(x, mask)
            - return self.norm(x)
            +     y = layer(x, mask)
            + return self.norm(y)
        """


class layers_reversed:
    """your encoder runs through its layers from last to first

    Fails: test_encoder_pre_norm, test_encoder_post_norm
    """

    class Encoder:
        forward = """
            - for layer in self.layers:
            + for layer in reversed(self.layers):
        """


class stack_residual:
    """your encoder adds each layer to the stream once more: a layer has its residuals inside

    Fails: test_encoder_pre_norm, test_encoder_post_norm
    """

    class Encoder:
        forward = """
            - x = layer(x, mask)
            + x = x + layer(x, mask)
        """


class outputs_stacked:
    """your encoder returns the outputs of all its layers, not that of the last

    Fails: test_encoder_shapes
    """

    class Encoder:
        forward = """
            + outputs = []
              for layer in self.layers:
                  x = layer(x, mask)
            - return self.norm(x)
            +     outputs.append(x)
            + return self.norm(torch.stack(outputs))
        """


class encoder_mask_dropped:
    """your encoder does not hand the mask on to its layers

    Fails: test_encoder_masks, test_causality, test_padding
    """

    class Encoder:
        forward = """
            - x = layer(x, mask)
            + x = layer(x)
        """


class mask_for_first_layer_only:
    """your encoder masks its first layer only: the others mix hidden positions in again

    Fails: test_encoder_masks, test_causality, test_padding
    """

    class Encoder:
        forward = """
              x = layer(x, mask)
            + mask = None
        """


class encoder_activation_dropped:
    """your encoder does not hand the activation on to its layers

    Fails: test_encoder_options
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)
        """


class encoder_dropout_dropped:
    """your encoder does not hand the dropout on to its layers

    Fails: test_encoder_options
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, 0.0, norm_first, activation) for _ in range(num_layers)
        """


class encoder_norm_first_dropped:
    """your encoder makes pre-norm layers whatever norm_first says

    Fails: test_encoder_options
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, dropout, True, activation) for _ in range(num_layers)
        """


class final_norm_missing:
    """your pre-norm encoder has no norm after its last layer

    Fails: test_encoder_norm, test_encoder_pre_norm
    """

    class Encoder:
        __init__ = """
            - self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
            + self.norm = nn.Identity()
        """


class final_norm_unused:
    """your encoder makes the last norm and then does not apply it

    Fails: test_encoder_pre_norm
    """

    class Encoder:
        forward = """
            - return self.norm(x)
            + return x
        """


class final_norm_always:
    """your post-norm encoder normalises once more at the end

    Fails: test_encoder_norm, test_encoder_post_norm
    """

    class Encoder:
        __init__ = """
            - self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
            + self.norm = LayerNorm(d_model)
        """


class final_norm_none:
    """your post-norm encoder has None for a norm: nn.Identity can be called like any other

    Fails: test_encoder_post_norm
    """

    class Encoder:
        __init__ = """
            - self.norm = LayerNorm(d_model) if norm_first else nn.Identity()
            + self.norm = LayerNorm(d_model) if norm_first else None
        """

        forward = """
            - return self.norm(x)
            + return x if self.norm is None else self.norm(x)
        """


class final_norm_before_layers:
    """your encoder applies its norm before the first layer instead of after the last

    Fails: test_encoder_pre_norm
    """

    class Encoder:
        forward = """
            + x = self.norm(x)
              for layer in self.layers:

            - return self.norm(x)
            + return x
        """


class final_norm_after_each_layer:
    """your encoder applies its norm after every layer, not once at the end

    Fails: test_encoder_pre_norm
    """

    class Encoder:
        forward = """
            -     x = layer(x, mask)
            - return self.norm(x)
            +     x = self.norm(layer(x, mask))
            + return x
        """


class encoder_options_swapped:
    """your encoder gives its layers the activation in the place of norm_first

    Fails: test_encoder_shapes
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, dropout, activation, norm_first) for _ in range(num_layers)
        """


class layer_too_few:
    """your encoder makes one layer less than num_layers

    Fails: test_encoder_layers
    """

    class Encoder:
        __init__ = """
            - EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(num_layers)
            + EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first, activation) for _ in range(1, num_layers)
        """


class encoder_tuple_returned:
    """your encoder returns a tuple: its output alone is asked for

    Fails: test_encoder_shapes
    """

    class Encoder:
        forward = """
            + states = []
              for layer in self.layers:
                  x = layer(x, mask)
            - return self.norm(x)
            +     states.append(x)
            + return self.norm(x), states
        """


class input_scaled:
    """your encoder multiplies its input by the root of d_model: that belongs to embeddings, before the stack

    Fails: test_encoder_pre_norm, test_encoder_post_norm
    """

    class Encoder:
        forward = """
            + x = x * x.shape[-1] ** 0.5
              for layer in self.layers:
        """
