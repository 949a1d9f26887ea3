"""The commands of the command line, by name: it finds them here, and so does what prints them for people to type."""

COMMANDS = {
    "list": "grader.cli.learner.list:list_katas",
    "start": "grader.cli.learner.start:start",
    "show": "grader.cli.learner.show:show",
    "check": "grader.cli.learner.check:check",
    "try": "grader.cli.learner.try_:try_",
    "questions": "grader.cli.learner.questions:questions",
    "watch": "grader.cli.learner.watch:watch",
    "hint": "grader.cli.learner.hint:hint",
    "solution": "grader.cli.learner.solution:solution",
    "reset": "grader.cli.learner.reset:reset",
    "demo": "grader.cli.learner.demo:demo",
    "run": "grader.cli.learner.run:run",
    "data": "grader.cli.learner.data:data",
    "mcp": "grader.cli.learner.mcp:mcp",
    "doctor": "grader.cli.doctor:doctor",
    "completion": "grader.cli.completion:completion",
    "course": "grader.cli.instructor.course:course",
    "grade": "grader.cli.instructor.grade:grade",
    "regrade": "grader.cli.instructor.grade:regrade",
    "gradebook": "grader.cli.instructor.gradebook:gradebook",
    "report": "grader.cli.instructor.report:report",
    "similar": "grader.cli.instructor.similar:similar",
    "desk": "grader.cli.instructor.desk:desk",
    "pack": "grader.cli.author.pack:pack",
}
"""Where each command lives; a module is imported when its command is used."""
