"""Output of `--fields`: the reading of each column of an idea file."""

from flows.commands.answer import print_answer
from flows.commands.output import print_table
from flows.commands.run_output import print_rejections
from flows.given_ideas import print_remarks
from schemas.run import RunRequest
from tasks.ideas.read import read_ideas


def print_fields(request: RunRequest, *, as_json: bool) -> int:
    """Print the columns of the idea file, and what of it is not judged; nothing is paid."""
    batch = read_ideas(
        request.ideas_path, default_cutoff=request.cutoff_date, fields=request.fields
    )
    if as_json:
        rejected = [f"{each.location}: {each.detail}" for each in batch.rejected]
        print_answer(
            "read",
            batch.fields,
            warnings=[*rejected, *batch.remarks],
            ideas=len(batch.ideas),
            rejected_entries=batch.rejected,
        )
        return 0
    rows: list[list[object]] = [
        [each.file, each.column, each.read_as, each.filled, each.longest_characters, each.example]
        for each in batch.fields
    ]
    print_table(["file", "column", "read as", "filled", "characters, at most", "example"], rows)
    print_rejections([(each.location, each.reason, each.detail) for each in batch.rejected])
    print_remarks(batch)
    return 0
