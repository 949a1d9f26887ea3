"""Answers at once and goes on working in threads, at everybody's expense.

kata = "insertion-sort"
status = "fail"
earns = ["test_empty"]
"""

import threading

from wrong import *


def work():
    while True:
        sum(range(1000))


for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
