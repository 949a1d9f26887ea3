"""Prints twenty megabytes."""

for _ in range(200):
    print("x" * 100_000)
