"""`kata similar`: what hand-ins share."""
