"""Typst in a process of its own: `typst_child SOURCE PDF PACKAGES`, the last an empty folder."""

import sys
from pathlib import Path

import typst

from schemas.text.patterns import bounded

_PLACE = bounded(r"\u250c\u2500 ([^\n:]{1,200}:\d{1,7}):\d{1,7}")
_DOWNLOAD = "failed to download"


def main(source: str, pdf: str, packages: str) -> str:
    """Set `source`; return nothing or Typst's error in one line."""
    try:
        typst.compile(
            source,
            output=pdf,
            root=str(Path(source).parent),
            package_path=packages,
            package_cache_path=packages,
        )
    except typst.TypstError as error:
        place = _PLACE.search(error.diagnostic)
        where = f"{place.group(1)}: " if place else ""
        if _DOWNLOAD in error.message:
            return f"{where}packages are not fetched: put its files into the template"
        return f"{where}{error.message}"
    return ""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) or 0)
