"""`kata gradebook push` and `pull`: marks into Canvas or Moodle, and times from there, over the network."""

ADDS = {
    "gradebook push": "grader.extras.push.command:push",
    "gradebook pull": "grader.extras.push.command:pull",
}
