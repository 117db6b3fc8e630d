"""Child process that reads a web page from stdin and writes its main text to stdout.

A page may be hostile, so memory, processor time and files are limited before parsing. Runs no
script, fetches nothing, and imports nothing of this project. `reader.py` depends on the exit codes.
"""

import sys

import trafilatura

EXIT_MEMORY = 13


def main() -> int:
    maximum_characters = int(sys.argv[1])
    try:
        text = (
            trafilatura.extract(
                sys.stdin.buffer.read(),
                include_comments=False,
                include_tables=True,
                include_links=False,
            )
            or ""
        )
    except MemoryError:
        return EXIT_MEMORY
    sys.stdout.buffer.write(text[:maximum_characters].encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
