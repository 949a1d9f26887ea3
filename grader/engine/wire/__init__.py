"""What is on the wire between grader and worker: messages, values, the record of uses. It believes nobody."""
