"""Raises a SyntaxError that claims to stand in another file, far to the right, for whoever shows that line.

kata = "insertion-sort"
status = "error"
words = ["SyntaxError"]
"""

import linecache

linecache.cache["/etc/passwd"] = (1, None, ["shown\n"] * 10, "/etc/passwd")
raise SyntaxError("look there", ("/etc/passwd", 1 << 30, 1 << 30, "x" * 1_000_000, -5, -5))
