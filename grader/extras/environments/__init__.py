"""`kata pack bundle` for what evaluates and trains models: tasks for Harbor, packages for Inspect and for verifiers."""

ADDS = {
    "pack bundle harbor": "grader.extras.environments.environments:HARBOR",
    "pack bundle inspect": "grader.extras.environments.environments:INSPECT",
    "pack bundle verifiers": "grader.extras.environments.environments:VERIFIERS",
}
