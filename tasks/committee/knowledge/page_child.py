"""Child process that extracts the main text of a web page.

It reads the page from stdin and writes the text to stdout.

A page may be hostile, so memory, processor time and files are limited before parsing. Runs no
script, fetches nothing, and imports nothing of this project. `reader.py` depends on the exit codes.
"""

import sys

import trafilatura


def main() -> int:
    text = trafilatura.extract(
        sys.stdin.buffer.read(),
        include_comments=False,
        include_tables=True,
        include_links=False,
    )
    sys.stdout.buffer.write((text or "")[: int(sys.argv[1])].encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
