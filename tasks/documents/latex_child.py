"""Reads one LaTeX source from standard input and writes the document to standard output, as JSON.

Runs in a process of its own, because a source may be hostile: memory, processor time and files are
limited before it is touched. Exit codes are the contract with `latex.py`; a refusal writes its
reason and its words to standard error.
"""

import resource
import sys

from tasks.documents.child import EXIT_MEMORY

EXIT_REFUSED = 10


def main() -> int:
    """`latex_child CPU_SECONDS MEMORY_BYTES [source]`: the document, or with `source` its LaTeX as
    one text.
    """
    cpu_seconds, memory_bytes = (int(argument) for argument in sys.argv[1:3])
    as_source = sys.argv[3:] == ["source"]
    from tasks.documents.latex_files import LatexError, read_files
    from tasks.documents.latex_source import whole_source
    from tasks.documents.latex_text import document_of_latex, source_of_latex

    for kind, amount in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (amount, amount))
    try:
        files = read_files(sys.stdin.buffer.read())
        answer = (
            source_of_latex(whole_source(files), files)
            if as_source
            else document_of_latex(whole_source(files))
        )
    except MemoryError:
        return EXIT_MEMORY
    except LatexError as error:
        sys.stderr.write(f"{error.reason} {error}")
        return EXIT_REFUSED
    sys.stdout.write(answer.model_dump_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
