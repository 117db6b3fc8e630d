"""Studies: suites that only development runs, with the options of `assay benchmark`.

    python -m tests.benchmarks.studies concepts --data DIR
    python -m tests.benchmarks.studies ideation --run RUN --engine litellm:MODEL

A study is a `Suite`: it runs, resumes, lands, publishes and reports as any other.
"""

import sys

from flows.cli.command_line import main
from tasks.benchmarks.registry import SUITES
from tests.benchmarks.studies.registry import STUDIES

if __name__ == "__main__":
    if not set(sys.argv[1:2]) <= {*STUDIES, "--help"}:
        sys.exit(f"no study {sys.argv[1]}; there are: {', '.join(STUDIES)}")
    SUITES.update(STUDIES)
    sys.argv[1:] = ["benchmark", *sys.argv[1:]]
    main()
