"""Uploaded files: endings, texts and names."""

from pathlib import PurePosixPath

from schemas.errors import ConfigurationError

_NAME_CHARACTERS = 50


def ending_of(filename: str) -> str:
    """Return the ending of a file name in lower case, without its dot; empty without one."""
    return PurePosixPath(filename.replace("\\", "/")).suffix.removeprefix(".").lower()


def text_of(content: bytes) -> str:
    """Return the text of a file.

    Raises:
        ConfigurationError: the file is not UTF-8, or empty.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if not text.strip() or "\x00" in text:
        raise ConfigurationError("the file is no UTF-8 text, or empty")
    return text


def plain_name(filename: str, otherwise: str) -> str:
    """Return a name of letters, digits and hyphens for a file name."""
    stem = PurePosixPath(filename.replace("\\", "/")).stem
    plain_stem = "".join(each if each.isascii() and each.isalnum() else " " for each in stem)
    return "-".join(plain_stem.split())[:_NAME_CHARACTERS].strip("-") or otherwise
