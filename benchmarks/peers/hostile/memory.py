"""Takes a gigabyte and a half of memory and holds on to it until it is stopped or done."""

_kept = [bytearray(64 << 20) for _ in range(24)]
