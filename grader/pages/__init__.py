"""Self-contained HTML: the class report, the feedback for each learner. No server, no network, no torch."""
