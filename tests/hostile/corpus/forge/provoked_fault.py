"""Has the author's function, which stands in for its own wrong one, compute more than any machine has room for.

kata = "masked-attention"
status = "fail"
earns = [
    "test_arguments",
    "test_dtypes",
    "test_from_scratch",
    "test_indivisible",
    "test_modes",
    "test_parameters",
    "test_shapes",
    "test_without_bias",
]
"""

import torch
import wrong
from wrong import scaled_dot_product_attention

mine = scaled_dot_product_attention


class MultiHeadAttention(wrong.MultiHeadAttention):
    def forward(self, x, mask=None, context=None):
        if scaled_dot_product_attention is not mine:  # eight axes, which broadcast to 64 to the sixth entries
            shapes = ([64 if place in pair else 1 for place in range(8)] for pair in ((0, 1), (2, 3), (4, 5)))
            scaled_dot_product_attention(*(torch.zeros(shape) for shape in shapes))
        return super().forward(x, mask, context, scaled_dot_product_attention)
