"""Ends the process with success at import."""

import os

os._exit(0)
