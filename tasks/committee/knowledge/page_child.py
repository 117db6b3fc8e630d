"""Reads one web page from standard input and writes its main text to standard output.

Runs in a process of its own, because a page may be hostile: memory, processor time and files are
limited before it is touched. Imports nothing of this project; runs no script and fetches nothing.
Exit codes are the contract with `reader.py`.
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
