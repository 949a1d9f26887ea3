"""Questions about a learner's own code that passes: made from its syntax tree, answered by running it in workers."""
