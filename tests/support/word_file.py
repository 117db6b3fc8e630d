"""Reads a Word document as its XML says it."""

import zipfile
from io import BytesIO

from defusedxml import ElementTree

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def word_text(file: bytes) -> str:
    """A line per paragraph, in the order of the document."""
    root = ElementTree.fromstring(zipfile.ZipFile(BytesIO(file)).read("word/document.xml"))
    return "\n".join(
        "".join(text.text or "" for text in paragraph.iter(f"{_WORD}t"))
        for paragraph in root.iter(f"{_WORD}p")
    )
