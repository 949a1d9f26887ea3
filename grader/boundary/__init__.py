"""The boundary: frames, values, and the proxy a check sees as the learner's module."""
