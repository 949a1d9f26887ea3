"""The untrusted side: the zygote, the launchers, and the loop that answers calls."""
