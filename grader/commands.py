"""The commands of the command line, by name: it finds them here, and so does what prints them for people to type."""

COMMANDS = {
    "list": "grader.cli.list:list_katas",
    "start": "grader.cli.start:start",
    "show": "grader.cli.show:show",
    "check": "grader.cli.check:check",
    "try": "grader.cli.try_:try_",
    "watch": "grader.cli.watch:watch",
    "hint": "grader.cli.hint:hint",
    "solution": "grader.cli.solution:solution",
    "reset": "grader.cli.reset:reset",
    "demo": "grader.cli.demo:demo",
    "doctor": "grader.cli.doctor:doctor",
    "completion": "grader.cli.completion:completion",
    "course": "grader.cli.course:course",
    "grade": "grader.cli.grade:grade",
    "regrade": "grader.cli.regrade:regrade",
    "gradebook": "grader.cli.gradebook:gradebook",
    "report": "grader.cli.report:report",
    "similar": "grader.cli.similar:similar",
    "desk": "grader.cli.desk:desk",
    "pack": "grader.cli.pack:pack",
}
"""Where each command lives; a module is imported when its command is used."""
