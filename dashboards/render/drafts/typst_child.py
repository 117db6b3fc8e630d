"""Child process for Typst: `typst_child SOURCE PDF PACKAGES [accessible]`.

PACKAGES is an empty folder.
"""

import sys
from pathlib import Path

import typst

from schemas.text.patterns import bounded

_PLACE = bounded(r"\u250c\u2500 ([^\n:]{1,200}:\d{1,7}):\d{1,7}")
_DOWNLOAD = "failed to download"
_NOT_SHOWN = bounded(r"the text `\"(.{1,40})\"` could not be displayed")
_MOST_NAMED = 30


def main(source: str, pdf: str, packages: str, accessible: str = "") -> str:
    """Set `source`; return nothing, or Typst's error in one line."""
    compiler = typst.Compiler(
        source, root=str(Path(source).parent), package_path=packages, package_cache_path=packages
    )
    try:
        if accessible:
            _compile_accessible(compiler, pdf)
        else:
            compiler.compile(output=pdf)
    except typst.TypstError as error:
        place = _PLACE.search(error.diagnostic)
        place_text = f"{place.group(1)}: " if place else ""
        if _DOWNLOAD in error.message:
            return f"{place_text}packages are not fetched: put its files into the template"
        return f"{place_text}{error.message}"
    return ""


def _compile_accessible(compiler: typst.Compiler, pdf: str) -> None:
    """Try PDF/UA-1, which refuses missing characters, then a PDF that lists them."""
    try:
        compiler.compile(output=pdf, pdf_standards=["ua-1"])
    except typst.TypstError as error:
        characters = sorted(set("".join(_NOT_SHOWN.findall(error.diagnostic))))
        code_points = ", ".join(f"U+{ord(each):04X}" for each in characters[:_MOST_NAMED])
        more = len(characters) - _MOST_NAMED
        missing = f"{code_points} and {more} more" if more > 0 else code_points
        compiler.compile(output=pdf, sys_inputs={"missing": missing})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) or 0)
