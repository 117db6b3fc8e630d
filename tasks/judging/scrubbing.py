"""Keeps secrets out of rows, errors and cache keys."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_PATTERNS = (
    re.compile(r"\b(?:sk|pk|rk|key|hf|gsk|xai|AIza)[-_][A-Za-z0-9*_\-.]{6,}"),
    re.compile(r"\bAIza[A-Za-z0-9_-]{10,}"),
    re.compile(r"(?<=[Bb]earer )\S+"),
    re.compile(r"(?<=[?&])((?:api[-_]?)?key|token|access_token)=[^&\s\"']+", re.IGNORECASE),
    re.compile(r"(?<=://)[^/\s@]+(?=@)"),
)
_LINE_LENGTH = 300


def scrub(text: str) -> str:
    """`text` with everything that looks like a key, and every secret of the environment, replaced by `***`."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET_NAME.search(name):
            text = text.replace(value, "***")
    for pattern in _PATTERNS:
        text = pattern.sub("***", text)
    return text


def one_line(error: BaseException | str) -> str:
    """An error as one scrubbed line of at most 300 characters."""
    line = " ".join(scrub(str(error)).split())
    return line if len(line) <= _LINE_LENGTH else line[: _LINE_LENGTH - 1] + "…"


def without_secrets(url: str) -> str:
    """`url` without user, password and query: what may enter a cache key or a row."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
