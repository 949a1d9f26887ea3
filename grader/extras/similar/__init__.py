"""`kata similar`: what hand-ins share beyond what everybody was given: ranked by how rare it is."""

ADDS = {"similar": "grader.extras.similar.command:similar", "look-alikes": "grader.extras.similar.pages"}
