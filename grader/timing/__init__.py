"""Fair speed: clocks that a submission cannot reach, rounds against a baseline, a verdict with a stated error rate."""
