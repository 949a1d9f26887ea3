"""`kata mcp`: the commands of a learner as tools for an assistant (Model Context Protocol)."""

ADDS = {"mcp": "grader.extras.mcp.mcp_server:mcp"}
