"""Masks secrets in rows, errors, caches and cache keys.

In errors everything that looks like a key is masked. In texts of others, such as reviews, only
known secrets are: guesses would change the text.
"""

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import chain, combinations, product
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from schemas.errors import ConfigurationError
from schemas.secrets import QUOTATION_MARKS
from schemas.text.patterns import IGNORECASE, bounded

MASK = "***"
WHERE_KEYS_BELONG = (
    "keys belong in the environment, such as OPENAI_API_KEY for litellm:openai/MODEL"
)
_SECRET_WORDS = (
    "KEY",
    "KEYS",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "CREDENTIALS",
)
_FEWEST_CHARACTERS = 8
_LONGEST_WORD = 20
ValueT = TypeVar("ValueT")
_PATTERNS = (
    bounded(r"\b(?:sk|pk|rk|key|hf|gsk|xai|AIza)[-_][A-Za-z0-9*_\-.]{6,}"),
    bounded(r"\bAIza[A-Za-z0-9_-]{10,}"),
    bounded(r"(?<=[Bb]earer )\S+"),
    bounded(r"(?<=[?&])((?:api[-_]?)?key|token|access_token)=[^&\s\"']+", IGNORECASE),
    bounded(r"(?<=://)[^/\s@]++(?=@)", because="a run holds no `/`, so one start reads it"),
)
_LINE_LENGTH = 300
_URL_SAFE = str.maketrans("+/", "-_")
_ESCAPED_TOGETHER = ("+", "/", "=", "\"&'<>`")
"""Punctuation that servers escape or leave, in groups that differ by encoder."""
_DIGITS_OF_ESCAPES = bounded(
    r"(?<=%)[0-9A-Fa-f]{2}|(?<=\\u)[0-9A-Fa-f]{4}|(?<=&#x)[0-9A-Fa-f]{1,6}"
)
_LINE_LENGTHS_OF_BASE64 = (64, 76)
_LINE_ENDS = ("\n", "\r\n", "\\n", "\\r\\n")


def known_secrets() -> tuple[str, ...]:
    """Return the secrets of the environment, longest first.

    These are values of variables such as `OPENAI_API_KEY`, and passwords in addresses. Short
    values, plain numbers and plain words are left out: masking them would change ordinary text.
    """
    values: set[str] = set()
    for name, value in os.environ.items():
        if is_secret(name):
            values.add(value)
        elif "://" in value and "@" in value:
            values.add(value.partition("://")[2].rpartition("@")[0].partition(":")[2])
    spellings = {spelling for value in values for spelling in _spellings(value)}
    return tuple(sorted(spellings, key=lambda spelling: (-len(spelling), spelling)))


@cache
def _spellings(secret: str) -> frozenset[str]:
    """Return a secret in the forms in which servers repeat it."""
    stripped_secret = secret.strip()
    forms = (secret, stripped_secret, stripped_secret.strip(QUOTATION_MARKS))
    return frozenset(each for form in forms if _is_maskable(form) for each in _encodings(form))


def _encodings(form: str) -> Iterator[str]:
    yield from (form, unquote(form))
    for escaped_form in _escaped_forms(form):
        yield escaped_form
        yield _DIGITS_OF_ESCAPES.sub(lambda digits: digits[0].lower(), escaped_form)
        yield _DIGITS_OF_ESCAPES.sub(lambda digits: digits[0].upper(), escaped_form)
    # Base64 depends on the offset, as in `Basic user:password`: three forms.
    for before in range(3):
        base64_text = b64encode(bytes(before) + form.encode("utf-8", "surrogateescape")).decode()
        code = base64_text.rstrip("=")[-(-before * 8 // 6) :]
        # The last bits of a padded code depend on what follows.
        code = code[:-1] if base64_text.endswith("=") else code
        yield from (code, code.translate(_URL_SAFE))
        if not before:
            for length, end in product(_LINE_LENGTHS_OF_BASE64, _LINE_ENDS):
                yield end.join(code[at : at + length] for at in range(0, len(code), length))


def _escaped_forms(form: str) -> Iterator[str]:
    """Yield a secret as addresses, JSON and HTML escape it."""
    yield from (quote(form), quote(form, safe=""), form.replace("/", "\\/"))
    groups = [group for group in _ESCAPED_TOGETHER if not set(group).isdisjoint(form)]
    subsets = chain.from_iterable(combinations(groups, n) for n in range(len(groups) + 1))
    for escaped_signs in map("".join, subsets):
        for choice in (True, False):
            text = "".join(
                f"\\u{ord(each):04x}"
                if each in escaped_signs
                else json.dumps(each, ensure_ascii=choice)[1:-1]
                for each in form
            )
            yield from (text, text.replace("/", "\\/"))  # as PHP escapes `/`
            number = "x{:x}" if choice else "{}"
            for quotes in (True, False):
                yield "".join(
                    f"&#{number.format(ord(each))};"
                    if each in escaped_signs
                    else escape(each, quotes)
                    for each in form
                )


def is_secret(variable: str) -> bool:
    """Return whether an environment variable holds a secret, by its name."""
    return any(word.endswith(_SECRET_WORDS) for word in variable.upper().split("_"))


def strip_secrets() -> None:
    """Strip white space around secrets in the environment, which libraries read too."""
    for name, value in os.environ.items():
        if is_secret(name) and value != value.strip():
            os.environ[name] = value.strip()


def _is_maskable(value: str) -> bool:
    is_plain = value.isdigit() or (
        value.isalpha()
        and len(value) < _LONGEST_WORD
        and value.lower() in (value, value.swapcase())
    )
    return len(value) >= _FEWEST_CHARACTERS and not is_plain


def mask_secrets(value: ValueT, secrets: tuple[str, ...] | None = None) -> ValueT:
    """Return `value` with every known secret replaced by `***`.

    Args:
        value: text, bytes, or nested lists and mappings of texts.
        secrets: result of `known_secrets`, for callers with many values.
    """
    known_values = known_secrets() if secrets is None else secrets
    return _mask_secrets(value, known_values) if known_values else value


def _mask_secrets(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, MASK)
    elif isinstance(value, bytes):
        for secret in secrets:
            value = value.replace(secret.encode("utf-8", "surrogateescape"), MASK.encode())
    elif isinstance(value, list | tuple):
        return type(value)(_mask_secrets(each, secrets) for each in value)
    elif isinstance(value, dict):
        return {
            _mask_secrets(name, secrets): _mask_secrets(each, secrets)
            for name, each in value.items()
        }
    return value


def check_address(option: str, url: str, remedy: str) -> None:
    """Refuse an address that contains a secret, since it is stored and displayed.

    Raises:
        ConfigurationError: the address has a user, password, query or known secret; ends with
            `remedy`.
    """
    parts = urlsplit(url) if _splits(url) else None
    has_secret = parts is not None and (bool(parts.query or parts.fragment) or "@" in parts.netloc)
    if has_secret or mask_secrets(url) != url:
        masked_url = mask_secrets(without_secrets(url)) if parts is not None else "…"
        raise ConfigurationError(
            f"{option} {masked_url}: leave out user, password, key and what follows a `?`; {remedy}"
        )


def _splits(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def scrub(text: str) -> str:
    """Mask every secret of the environment and everything that looks like a key."""
    text = mask_secrets(text)
    for pattern in _PATTERNS:
        text = pattern.sub(MASK, text)
    return text


def one_line(error: BaseException | str) -> str:
    """Return an error as one masked line of at most 300 characters."""
    line = " ".join(scrub(str(error)).split())
    return line if len(line) <= _LINE_LENGTH else line[: _LINE_LENGTH - 1] + "…"


def without_secrets(url: str) -> str:
    """Return `url` without user, password and query, for cache keys and rows."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # a `/` in a password ends the host too early
        return f"{url.partition('://')[0]}://…" if "://" in url else "…"
    return urlunsplit(
        (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", "")
    )
