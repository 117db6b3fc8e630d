"""Runner of a Python file or module on possibly hostile input, with limits.

Usage: `limited_child.py CPU_SECONDS MEMORY_BYTES PROGRAM ARGUMENTS…`. Processor time, memory and
files are limited. Imports nothing of this project.
"""

import runpy
import sys

EXIT_MEMORY = 13
"""Exit code of a program that ran out of memory."""


def limit(cpu_seconds: int, memory_bytes: int) -> None:
    """Limit this process: processor time, memory, and no file written.

    What the system lacks or refuses is left out; a lower limit of the machine stays.
    """
    try:
        import resource
    except ImportError:
        return
    for kind, amount in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        capped_amount = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        try:
            resource.setrlimit(kind, (capped_amount, capped_amount))
        except (ValueError, OSError):  # macOS has no RLIMIT_AS: processor time still ends the child
            continue


def main() -> None:
    limit(int(sys.argv[1]), int(sys.argv[2]))
    sys.argv = sys.argv[3:]
    run = runpy.run_path if sys.argv[0].endswith(".py") else runpy.run_module
    try:
        run(sys.argv[0], run_name="__main__")
    except MemoryError:
        sys.exit(EXIT_MEMORY)


if __name__ == "__main__":
    main()
