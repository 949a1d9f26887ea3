#!/bin/sh
exec python3 -I -B /tests/verify.py
