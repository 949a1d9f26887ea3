"""The untrusted side: all that runs beside a submission. The grader imports only the fork server's client."""
