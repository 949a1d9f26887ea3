"""Raises SystemExit at import."""

raise SystemExit(0)
