"""Raises SystemExit at import, which a test runner in the same process would take for its own.

kata = "insertion-sort"
status = "error"
words = ["SystemExit"]
"""

import sys

sys.exit(0)
