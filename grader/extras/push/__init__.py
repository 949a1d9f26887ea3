"""`kata gradebook push`: a class's marks into Canvas or Moodle, over the network."""

ADDS = {"gradebook push": "grader.extras.push.command:push"}
