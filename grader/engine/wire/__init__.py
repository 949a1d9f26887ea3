"""What is on the wire between grader and worker: messages, values, the record of uses. It trusts nothing.

Imports nothing of ours, because both sides do: whatever it imported would run in a submission's process too.
"""
