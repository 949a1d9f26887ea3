"""What is on the wire between grader and worker: messages, values, the audit channel. It believes nobody."""
