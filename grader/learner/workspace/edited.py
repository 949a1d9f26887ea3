"""What of a submission was edited since the latest check."""

from __future__ import annotations

import ast
import hashlib

from grader.engine.host.source import MAX_CODE, UNPARSED, Source, body_of


def code_of(source: Source) -> dict[str, str]:
    """Return a digest of each function and class; what is only laid out or commented otherwise has the same."""
    if len(source.data) > MAX_CODE:
        return {}
    try:
        made = [node for node in body_of(source) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return {node.name: hashlib.sha256(ast.dump(node).encode()).hexdigest()[:8] for node in made}
    except UNPARSED:
        return {}
