"""What the rest of the model gets wrong.

A linear layer for patches, the encoder with the sizes that were asked for, a linear layer for the answer.
"""

mistake(
    "embedding-without-bias",
    "your embedding has no bias; it should have one",
    VisionTransformer="channels * patch_size**2, d_model -> channels * patch_size**2, d_model, bias=False",
)

mistake(
    "side-not-checked",
    "your model accepts sides that are not a multiple of patch_size, so it fails late or never; raise ValueError",
    VisionTransformer="""
        - if image_size % patch_size:
        -     raise ValueError(f"image_size ({image_size}) must be a multiple of patch_size ({patch_size})")
    """,
)

mistake(
    "softmax-in-the-model",
    "your model returns probabilities; return logits, as cross-entropy does its own softmax",
    VisionTransformer="self.head(self.encoder(x)[:, 0]) -> self.head(self.encoder(x)[:, 0]).softmax(dim=-1)",
)

mistake(
    "post-norm",
    "your encoder is post-norm; leave the options of Encoder as they are",
    VisionTransformer="num_heads, d_ff -> num_heads, d_ff, norm_first=False",
)

mistake(
    "gelu-inside",
    "your encoder's networks use GELU; leave the options of Encoder as they are",
    VisionTransformer='num_heads, d_ff -> num_heads, d_ff, activation="gelu"',
)

mistake(
    "one-head",
    "your encoder always has one head; it should have num_heads heads",
    VisionTransformer="num_heads, d_ff -> 1, d_ff",
)

mistake(
    "layers-ignored",
    "your encoder always has two layers; it should have num_layers layers",
    VisionTransformer="Encoder(num_layers, d_model, num_heads, d_ff) -> Encoder(2, d_model, num_heads, d_ff)",
)

mistake(
    "norm-too-many",
    "your model normalises once more before the head; leave that out, as the encoder already ends in a norm",
    VisionTransformer="""
        - self.head = nn.Linear(d_model, num_classes)
        + self.norm = nn.LayerNorm(d_model)
        + self.head = nn.Linear(d_model, num_classes)

        - return self.head(self.encoder(x)[:, 0])
        + return self.head(self.norm(self.encoder(x)[:, 0]))
    """,
)

mistake(
    "token-sees-no-patch",
    "your class token sees no patch, by a causal mask or with batch and sequence exchanged; it should see all patches",
    VisionTransformer="""
        - return self.head(self.encoder(x)[:, 0])
        + past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        + return self.head(self.encoder(x, past)[:, 0])
    """,
)

mistake(
    "embedding-detached",
    "your patches are detached after the embedding, so it never learns; let the gradient go through to the embedding",
    VisionTransformer="""
        - x = self.embedding(patchify(images, self.patch_size))
        + x = self.embedding(patchify(images, self.patch_size)).detach()
    """,
)

mistake(
    "log-softmax-in-the-model",
    "your model returns logarithms of probabilities; it should return logits, the numbers before the softmax",
    VisionTransformer="""
        - return self.head(self.encoder(x)[:, 0])
        + return self.head(self.encoder(x)[:, 0]).log_softmax(dim=-1)
    """,
)

mistake(
    "widths-exchanged",
    "your encoder gets d_ff for d_model, and d_model for d_ff; exchange the two",
    VisionTransformer="d_model, num_heads, d_ff -> d_ff, num_heads, d_model",
    costs="no call of the model returns",
)

mistake(
    "squeezed",
    "your logits are squeezed, so with one image the axis of the batch is gone; return [B, K]",
    VisionTransformer="self.head(self.encoder(x)[:, 0]) -> self.head(self.encoder(x)[:, 0]).squeeze()",
)

mistake(
    "logits-for-every-token",
    "your model gives logits for every token; it should give only those of the class token",
    VisionTransformer="self.encoder(x)[:, 0] -> self.encoder(x)",
    costs="no logits [B, K] are there to be compared, and no loss to be trained by",
)

mistake(
    "encoder-left-out",
    "your model never calls its encoder, so the class token cannot look at the patches; call it before the head",
    VisionTransformer="self.encoder(x) -> x",
)

mistake(
    "dropout-in-the-model",
    "your model drops numbers in train mode; it should have no dropout",
    VisionTransformer="""
        - x = torch.cat([token, x], dim=1) + self.positions
        + x = nn.functional.dropout(torch.cat([token, x], dim=1) + self.positions, 0.1, self.training)
    """,
)

mistake(
    "kept-from-the-first-call",
    "your model stores the first images of each shape and returns their logits ever after; use the images of each call",
    VisionTransformer="""
        - x = self.embedding(patchify(images, self.patch_size))
        + if not hasattr(self, "kept") or self.kept.shape != images.shape:
        +     self.kept = images
        + x = self.embedding(patchify(self.kept, self.patch_size))
    """,
)

mistake(
    "torchs-encoder",
    "your model is built on torch's transformer; it should be built on the Encoder that is given",
    VisionTransformer="""
        - self.encoder = Encoder(num_layers, d_model, num_heads, d_ff)
        + layer = nn.TransformerEncoderLayer(d_model, num_heads, d_ff, 0.0, batch_first=True, norm_first=True)
        + self.encoder = nn.TransformerEncoder(layer, num_layers, nn.LayerNorm(d_model), enable_nested_tensor=False)
    """,
    costs="what is not built on the given Encoder is not an answer to this kata",
)

mistake(
    "head-of-two-layers",
    "your head has two layers; it should be a single nn.Linear",
    VisionTransformer="""
        - self.head = nn.Linear(d_model, num_classes)
        + self.head = nn.Sequential(nn.Linear(d_model, d_model), nn.Tanh(), nn.Linear(d_model, num_classes))
    """,
    costs="the parameters of two layers cannot be loaded into one, nor their logits compared",
)
# kata canary 7c1e5f0a-93d4-4b58-a2f6-0d8be47c9a31: never part of training data
