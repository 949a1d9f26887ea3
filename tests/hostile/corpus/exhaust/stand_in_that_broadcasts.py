"""Has the author's function compute gigabytes of four small tensors that broadcast, in the grader.

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
        if scaled_dot_product_attention is not mine:
            n = 64
            shapes = ((n, 1, 1, 1, n, 1), (1, n, 1, 1, n, 1), (1, 1, n, 1, n, 1))
            mask = torch.ones(1, 1, 1, n, 1, 1, dtype=torch.bool)
            scaled_dot_product_attention(*(torch.zeros(shape) for shape in shapes), mask)
        return super().forward(x, mask, context, scaled_dot_product_attention)
