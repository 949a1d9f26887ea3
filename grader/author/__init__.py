"""Tools for authors: the gate that proves a pack."""
