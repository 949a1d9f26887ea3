"""Questions about a learner's own code that passes: made from its syntax tree, answered by running it in workers."""

ADDS = {
    "questions": "grader.extras.questions.command:questions",
    "gradebook questions": "grader.extras.questions.class_commands:questions",
    "gradebook quiz-results": "grader.extras.questions.class_commands:quiz_results",
}
