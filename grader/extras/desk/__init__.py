"""`kata desk`: pages on this machine for those who mark, served to one browser. It writes what commands write.

`guard` decides who may ask, `routes` which address shows or does what, `queries` what a page shows, `actions` what a
form writes; the pages' templates are in `templates/`. No learner's code, markup or script is ever run.
"""

ADDS = {"desk": "grader.extras.desk.command:desk", "gradebook assign": "grader.extras.desk.command:assign"}
