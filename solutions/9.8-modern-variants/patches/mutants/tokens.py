"""What goes wrong around the class token and the positions.

The token is one parameter and comes first; positions have a row for it and one for each patch; the head reads its
output.
"""

mistake(
    "token-at-the-end",
    "your class token has the last row of the positions, as if it came after the patches; it should have row 0",
    VisionTransformer=[
        "torch.cat([token, x], dim=1) -> torch.cat([x, token], dim=1)",
        "self.encoder(x)[:, 0] -> self.encoder(x)[:, -1]",
    ],
)

mistake(
    "first-patch-read",
    "your head reads the first patch, as the class token was put at the end; put the class token in front",
    VisionTransformer="torch.cat([token, x], dim=1) -> torch.cat([x, token], dim=1)",
)

mistake(
    "last-patch-read",
    "your head reads the last patch; it should read the class token, which is in front",
    VisionTransformer="self.encoder(x)[:, 0] -> self.encoder(x)[:, -1]",
)

mistake(
    "mean-of-all",
    "your head reads the mean of all outputs; it should read only that of the class token",
    VisionTransformer="self.encoder(x)[:, 0] -> self.encoder(x).mean(dim=1)",
)

mistake(
    "mean-of-patches",
    "your head reads the mean of the patches; it should read only the class token's output",
    VisionTransformer="self.encoder(x)[:, 0] -> self.encoder(x)[:, 1:].mean(dim=1)",
)

mistake(
    "positions-missing",
    "your model never adds its positions, so it sees a bag of patches; add them before the encoder",
    VisionTransformer="torch.cat([token, x], dim=1) + self.positions -> torch.cat([token, x], dim=1)",
)

mistake(
    "positions-too-late",
    "your model adds the positions to the encoder's output; it should add them before the encoder",
    VisionTransformer=[
        "torch.cat([token, x], dim=1) + self.positions -> torch.cat([token, x], dim=1)",
        "self.encoder(x) -> (self.encoder(x) + self.positions)",
    ],
)

mistake(
    "token-without-a-position",
    "your positions have a row for each patch and none for the class token; they should have N + 1",
    VisionTransformer=[
        "num_patches + 1 -> num_patches",
        "torch.cat([token, x], dim=1) + self.positions -> torch.cat([token, x + self.positions], dim=1)",
    ],
)

mistake(
    "token-not-placed",
    "your positions are added only to the patches; add row 0 to the class token",
    VisionTransformer="""
        - x = torch.cat([token, x], dim=1) + self.positions
        + x = torch.cat([token, x + self.positions[1:]], dim=1)
    """,
)

mistake(
    "positions-not-learned",
    "your positions are a buffer; make them an nn.Parameter, so that they are learned",
    VisionTransformer="""
        - self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
        + self.register_buffer("positions", torch.randn(num_patches + 1, d_model) * 0.02)
    """,
)

mistake(
    "token-not-learned",
    "your class token is a buffer; make it an nn.Parameter, so that it is learned",
    VisionTransformer="""
        - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
        + self.register_buffer("class_token", torch.randn(d_model) * 0.02)
    """,
)

mistake(
    "token-made-anew",
    "your class token is made in every forward pass, so it cannot learn; make it a parameter in __init__",
    VisionTransformer="""
        - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)

        - token = self.class_token.expand(len(x), 1, -1)
        + token = torch.zeros(len(x), 1, x.shape[2], dtype=x.dtype, device=x.device)
    """,
    costs="without a class token to be set, no logits can be compared",
)

mistake(
    "token-for-each-image",
    "your model has a class token for each image of a batch; it should have one, expanded to the batch",
    VisionTransformer=[
        "torch.randn(d_model) -> torch.randn(64, 1, d_model)",
        "self.class_token.expand(len(x), 1, -1) -> self.class_token[: len(x)]",
    ],
)

mistake(
    "token-not-expanded",
    "your class token is not repeated for the batch; put it in front of the patches of each image",
    VisionTransformer="self.class_token.expand(len(x), 1, -1) -> self.class_token.expand(1, 1, -1)",
    costs="no call with more than one image returns",
)

mistake(
    "token-detached",
    "your class token is cut off from the gradient, so it never learns; let the gradient reach it",
    VisionTransformer="self.class_token.expand(len(x), 1, -1) -> self.class_token.data.expand(len(x), 1, -1)",
)

mistake(
    "positions-multiplied",
    "your positions are multiplied with the tokens; they should be added",
    VisionTransformer="""
        - x = torch.cat([token, x], dim=1) + self.positions
        + x = torch.cat([token, x], dim=1) * self.positions
    """,
)

mistake(
    "other-names",
    "your class token and positions go by other names; they should be called class_token and positions",
    VisionTransformer="""
        - self.class_token = nn.Parameter(torch.randn(d_model) * 0.02)
        - self.positions = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)
        + self.cls_token = nn.Parameter(torch.randn(d_model) * 0.02)
        + self.pos_embed = nn.Parameter(torch.randn(num_patches + 1, d_model) * 0.02)

        - token = self.class_token.expand(len(x), 1, -1)
        - x = torch.cat([token, x], dim=1) + self.positions
        + token = self.cls_token.expand(len(x), 1, -1)
        + x = torch.cat([token, x], dim=1) + self.pos_embed
    """,
    costs="without their names no parameters can be set, and no logits compared",
)

mistake(
    "token-added-to-patches",
    "your class token is added to every patch, too; it should only come first, and leave the patches as they are",
    VisionTransformer="""
        - x = self.embedding(patchify(images, self.patch_size))  # [B, N, D]
        + x = self.embedding(patchify(images, self.patch_size)) + self.class_token
    """,
)

mistake(
    "one-position-for-all",
    "your positions are row 0 for every token; each should have a row of its own",
    VisionTransformer="""
        - x = torch.cat([token, x], dim=1) + self.positions
        + x = torch.cat([token, x], dim=1) + self.positions[0]
    """,
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
