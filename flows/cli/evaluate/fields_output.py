"""Output of `--fields`: the reading of each column of an idea file."""

from flows.cli.answer import print_answer
from flows.cli.evaluate.run_output import print_rejections
from flows.cli.exit_codes import EXIT_DONE, EXIT_USAGE
from flows.cli.output import print_table
from flows.cli.talk import print_warning
from schemas.judgement.run_request import RunRequest
from tasks.ideas.read import read_ideas


def print_fields(request: RunRequest, *, as_json: bool) -> int:
    """Print the columns of the idea file, and what of it is not judged; nothing is paid.

    The exit code is that of a usage error where no entry can be evaluated.
    """
    batch = read_ideas(
        request.ideas.path, default_cutoff=request.cutoff_date, fields=request.ideas.fields
    )
    code = EXIT_DONE if batch.ideas else EXIT_USAGE
    if as_json:
        print_answer(
            "read",
            batch.fields,
            warnings=batch.warnings,
            ideas=len(batch.ideas),
            rejected_entries=batch.rejected,
        )
        return code
    rows: list[list[object]] = [
        [each.file, each.column, each.read_as, each.filled, each.longest_characters, each.example]
        for each in batch.fields
    ]
    print_table(["file", "column", "read as", "filled", "characters, at most", "example"], rows)
    print_rejections([(each.location, each.reason, each.detail) for each in batch.rejected])
    for line in batch.remarks:
        print_warning(line)
    return code
