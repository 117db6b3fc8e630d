"""Identifiers as distinct types, so that swapping two arguments is a type error."""

import hashlib
from typing import NewType

IdeaId = NewType("IdeaId", str)
PaperId = NewType("PaperId", str)
RunId = NewType("RunId", str)
EvaluationKey = NewType("EvaluationKey", str)
"""Names one evaluation of one idea: 32 hexadecimal digits over everything that could change its result."""


def content_hash(*parts: str, length: int = 64) -> str:
    """Hexadecimal SHA-256 over `parts`, kept apart by their lengths so that ("ab", "c") differs from ("a", "bc")."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()[:length]
