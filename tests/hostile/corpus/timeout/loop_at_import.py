"""Never ends while it is imported.

kata = "insertion-sort"
status = "timeout"
words = ["did not finish loading"]
timeout_s = 0.5
"""

while True:
    pass
