"""What goes wrong around the class token and the positions.

The token is one parameter and comes first; positions have a row for it and one for each patch; the head reads its
output.
"""


class token_at_the_end:
    """your class token has the last row of the positions, as if it stood after the patches: row 0 is its own

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            - return self.head(self.encoder(x)[:, 0])
            + x = torch.cat([x, token], dim=1) + self.positions
            + return self.head(self.encoder(x)[:, -1])
        """


class first_patch_read:
    """your head reads the first patch: the class token was put at the end

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([x, token], dim=1) + self.positions
        """


class last_patch_read:
    """your head reads the last patch, not the class token in front

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x)[:, -1])
        """


class mean_of_all:
    """your head reads the mean of all outputs: the class token's alone is wanted

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x).mean(dim=1))
        """


class mean_of_patches:
    """your head reads the mean of the patches and leaves the class token out

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - return self.head(self.encoder(x)[:, 0])
            + return self.head(self.encoder(x)[:, 1:].mean(dim=1))
        """


class positions_missing:
    """your model never adds its positions: it sees a bag of patches

    Fails: test_class_token, test_values, test_order_matters, test_learning
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x], dim=1)
        """


class positions_too_late:
    """your model adds the positions to what the encoder returns: it encodes a bag of patches

    Fails: test_class_token, test_values, test_order_matters, test_learning
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            - return self.head(self.encoder(x)[:, 0])
            + x = torch.cat([token, x], dim=1)
            + return self.head((self.encoder(x) + self.positions)[:, 0])
        """


class token_without_a_position:
    """your positions have a row for each patch and none for the class token: N + 1 are wanted

    Fails: test_parameters
    """

    class VisionTransformer:
        __init__ = """
            - self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
            + self.positions = nn.Parameter(torch.randn(num_patches, d_model) * 0.02)
        """

        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x + self.positions], dim=1)
        """


class token_not_placed:
    """your class token goes without its row of the positions, which is there: it is added to patches only

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x + self.positions[1:]], dim=1)
        """


class positions_not_learned:
    """your positions are a buffer: learned ones are an nn.Parameter

    Fails: test_parameters
    """

    class VisionTransformer:
        __init__ = """
            - self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
            + self.register_buffer("positions", torch.randn(num_patches + 1, d_model) * 0.02)
        """


class token_not_learned:
    """your class token is a buffer: it is learned, so an nn.Parameter

    Fails: test_parameters
    """

    class VisionTransformer:
        __init__ = """
            - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
            + self.register_buffer("class_token", torch.randn(d_model) * 0.02)
        """


class token_made_anew:
    """your class token is made in every forward pass: there is no parameter that could learn

    Fails: test_parameters
    Costs: without a class token to be set, no logits can be compared
    """

    class VisionTransformer:
        __init__ = """
            - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
        """

        forward = """
            - token = self.class_token.expand(len(x), 1, -1)
            + token = torch.zeros(len(x), 1, x.shape[2], dtype=x.dtype, device=x.device)
        """


class token_for_each_image:
    """your model has a class token for each image of a batch: one for all of them is wanted, expanded to the batch

    Fails: test_parameters
    """

    class VisionTransformer:
        __init__ = """
            - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
            + self.class_token = nn.Parameter(torch.randn(64, 1, d_model) * 0.02)
        """

        forward = """
            - token = self.class_token.expand(len(x), 1, -1)
            + token = self.class_token[: len(x)]
        """


class token_not_expanded:
    """your class token is not repeated for the batch: it cannot be joined with the patches of several images

    Fails: test_logits_shape
    Costs: no call with more than one image returns
    """

    class VisionTransformer:
        forward = """
            - token = self.class_token.expand(len(x), 1, -1)
            + token = self.class_token.expand(1, 1, -1)
        """


class token_detached:
    """your class token is cut off from the gradient, so it never learns

    Fails: test_gradients
    """

    class VisionTransformer:
        forward = """
            - token = self.class_token.expand(len(x), 1, -1)
            + token = self.class_token.data.expand(len(x), 1, -1)
        """


class positions_multiplied:
    """your positions are multiplied with the tokens: they are added

    Fails: test_class_token, test_values
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x], dim=1) * self.positions
        """


class other_names:
    """your class token and positions go by other names: class_token and positions are wanted

    Fails: test_parameters
    Costs: without their names no parameters can be set, and no logits compared
    """

    class VisionTransformer:
        __init__ = """
            - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
            - self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
            + self.cls_token = nn.Parameter(torch.randn(d_model) * 0.02)
            + self.pos_embed = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
        """

        forward = """
            - token = self.class_token.expand(len(x), 1, -1)
            - x = torch.cat([token, x], dim=1) + self.positions
            + token = self.cls_token.expand(len(x), 1, -1)
            + x = torch.cat([token, x], dim=1) + self.pos_embed
        """


class token_added_to_patches:
    """your class token is added to every patch, too: it comes first, and the patches stay as they are

    Fails: test_values
    """

    class VisionTransformer:
        forward = """
            - x = self.embedding(patchify(images, self.patch_size))  # [B, N, D]
            + x = self.embedding(patchify(images, self.patch_size)) + self.class_token
        """


class one_position_for_all:
    """your positions are row 0 of them for every token: each has a row of its own

    Fails: test_values, test_order_matters, test_learning
    """

    class VisionTransformer:
        forward = """
            - x = torch.cat([token, x], dim=1) + self.positions
            + x = torch.cat([token, x], dim=1) + self.positions[0]
        """
