"""Reports: what leaves the program, and how it looks on a terminal."""
