"""Honest answers."""

# ==== fast ====
"""Honest, and fast."""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        return waste.fast(x)


# ==== slow ====
"""Honest, and slow: a loop over rows."""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        return waste.slow(x)


# ==== greedy ====
"""Honest, and takes sixty-four times the memory."""

import waste


class Rows(waste.Layer):
    def forward(self, x):
        return waste.greedy(x)
