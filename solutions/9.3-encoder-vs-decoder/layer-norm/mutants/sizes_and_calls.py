"""A norm that is right for a narrow vector, or for the first batch.

All features of a position count, however many there are, and those of this very call.
"""


class first_features_alone:
    """your mean is that of the first 1024 features: wider vectors have more

    Fails: test_contract
    Unnamed: no visible vector is as wide
    """

    class LayerNorm:
        forward = """
            - centred = x - x.mean(dim=-1, keepdim=True)
            + centred = x - x[..., :1024].mean(dim=-1, keepdim=True)
        """


class weight_kept:
    """your module keeps a copy of its weight from the first call: what is loaded or learned later does nothing

    Fails: test_gradient_of_parameters, test_contract
    """

    class LayerNorm:
        forward = """
            + if not hasattr(self, "kept"):
            +     self.kept = self.weight.detach().clone()
            - return centred / torch.sqrt(variance + self.eps) * self.weight + self.bias
            + return centred / torch.sqrt(variance + self.eps) * self.kept.to(x) + self.bias
        """
