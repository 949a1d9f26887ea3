"""Leaves another program behind for twenty seconds."""

import subprocess

try:
    subprocess.Popen(["sleep", "20"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
except OSError:
    pass
