"""`kata pack bundle` for what evaluates and trains models: Harbor, Inspect, verifiers and OpenEnv."""

ADDS = {
    "pack bundle harbor": "grader.extras.environments.environments:HARBOR",
    "pack bundle inspect": "grader.extras.environments.environments:INSPECT",
    "pack bundle verifiers": "grader.extras.environments.environments:VERIFIERS",
    "pack bundle openenv": "grader.extras.environments.openenv_package:OPENENV",
}
