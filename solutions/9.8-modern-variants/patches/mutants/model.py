"""What the rest of the model gets wrong.

A linear layer for patches, the encoder with the sizes that were asked for, a linear layer for the answer.
"""


class embedding_without_bias:
    """your embedding has no bias

    Fails: test_parameters
    """

    class VisionTransformer:
        __init__ = """
            - self.embedding = nn.Linear(channels * patch_size**2, d_model)
            + self.embedding = nn.Linear(channels * patch_size**2, d_model, bias=False)
        """


class side_not_checked:
    """your model takes sides that are not a multiple of patch_size, and complains when images come or never

    Fails: test_model_errors
    """

    class VisionTransformer:
        __init__ = """
            - if image_size % patch_size:
            -     raise ValueError(f"image_size ({image_size}) must be a multiple of patch_size ({patch_size})")
        """


class softmax_in_the_model:
    """your model returns probabilities: cross-entropy takes logits, and does its own softmax

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x)[:, 0]).softmax(dim=-1)
        """


class post_norm:
    """your encoder is post-norm: leave the options of Encoder as they are

    Fails: test_parameters, test_values
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, norm_first=False)
        """


class gelu_inside:
    """your encoder's networks use GELU: leave the options of Encoder as they are

    Fails: test_values
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.encoder = Encoder(num_layers, d_model, num_heads, d_ff, activation="gelu")
        """


class one_head:
    """your encoder has one head, whatever num_heads is

    Fails: test_values
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.encoder = Encoder(num_layers, d_model, 1, d_ff)
        """


class layers_ignored:
    """your encoder has two layers, whatever num_layers is

    Fails: test_sizes
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.encoder = Encoder(2, d_model, num_heads, d_ff)
        """


class norm_too_many:
    """your model normalises once more before the head: the encoder already ends in a norm

    Fails: test_parameters
    """

    class VisionTransformer:
        __init__ = """
            - self.head = nn.Linear(d_model, num_classes)
            + self.norm = nn.LayerNorm(d_model)
            + self.head = nn.Linear(d_model, num_classes)
        """

        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.norm(self.encoder(x)[:, 0]))
        """


class token_sees_no_patch:
    """your class token never looks at a patch: a causal mask hides them, or batch and sequence are exchanged

    Fails: test_values, test_order_matters, test_learning
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
            + return self.head(self.encoder(x, past)[:, 0])
        """


class embedding_detached:
    """your patches are cut off from the gradient once they are embedded: the embedding never learns

    Fails: test_gradients
    """

    class VisionTransformer:
        forward = """
            - x = self.embedding(patchify(images, self.patch_size))
            + x = self.embedding(patchify(images, self.patch_size)).detach()
        """


class log_softmax_in_the_model:
    """your model returns logarithms of probabilities: logits are the free numbers before the softmax

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x)[:, 0]).log_softmax(dim=-1)
        """


class widths_exchanged:
    """your encoder gets d_ff for d_model, and d_model for d_ff

    Fails: test_logits_shape
    Costs: no call of the model returns
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + self.encoder = Encoder(num_layers, d_ff, num_heads, d_model)
        """


class squeezed:
    """your logits are squeezed: with one image the axis of the batch is gone

    Fails: test_logits_shape
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x)[:, 0]).squeeze()
        """


class logits_for_every_token:
    """your model gives logits for every token: those of the class token alone are wanted

    Fails: test_logits_shape
    Costs: no logits [B, K] are there to be compared, and no loss to be trained by
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x))
        """


class encoder_left_out:
    """your model never calls its encoder: the class token cannot look at the patches

    Fails: test_class_token, test_values, test_learning
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(x[:, 0])
        """


class dropout_in_the_model:
    """your model drops numbers in train mode: no dropout is asked for

    Fails: test_modes
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = nn.functional.dropout(torch.cat([token, x], dim=1) + self.positions, 0.1, self.training)
        """


class kept_from_the_first_call:
    """your model keeps the first images of each shape, and returns their logits ever after

    Fails: test_model_promises
    """

    class VisionTransformer:
        forward = """
            - x = self.embedding(patchify(images, self.patch_size))
            + if not hasattr(self, "kept") or self.kept.shape != images.shape:
            +     self.kept = images
            + x = self.embedding(patchify(self.kept, self.patch_size))
        """


class torchs_encoder:
    """your model is built on torch's transformer, not on the Encoder that is given

    Fails: test_from_scratch
    Costs: what is not built on the given Encoder is not an answer to this kata
    """

    class VisionTransformer:
        __init__ = """
            - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
            + layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, 0.0, batch_first=True, norm_first=True)
            + self.encoder = nn.TransformerEncoder(layer, num_layers, nn.LayerNorm(d_model), enable_nested_tensor=False)
        """


class head_of_two_layers:
    """your head has two layers, as for pretraining: one nn.Linear is wanted

    Fails: test_parameters
    Costs: the parameters of two layers cannot be loaded into one, nor their logits compared
    """

    class VisionTransformer:
        __init__ = """
            - self.head = nn.Linear(d_model, num_classes)
            + self.head = nn.Sequential(nn.Linear(d_model, d_model), nn.Tanh(), nn.Linear(d_model, num_classes))
        """
