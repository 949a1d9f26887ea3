"""Tests of what "from scratch" excludes."""
