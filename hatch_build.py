"""Puts the addresses of the repository that makes a release into its metadata: `[project.urls]`.

A fork that releases under its own name names itself; a build elsewhere, from the sdist too, names none.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGES = {
    "Homepage": "",
    "Documentation": "/tree/HEAD/docs",
    "Source": "",
    "Changelog": "/blob/HEAD/CHANGELOG.md",
    "Issues": "/issues",
    "Security": "/security/policy",
}


class RepositoryUrls(MetadataHookInterface):
    """Called by hatchling when it writes metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the addresses, by what GitHub's workflows have in their environment."""
        server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
        metadata["urls"] = {page: f"{server}/{name}{path}" for page, path in PAGES.items()} if server and name else {}
