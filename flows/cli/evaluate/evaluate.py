"""`assay evaluate`: evaluation of a batch of ideas."""

from flows.cli.options import IdeasOrNone, Json, Output, ShowFields
from flows.run.requests import request_of
from flows.works.evaluate.idea_input import idea_file
from schemas.errors import ConfigurationError
from schemas.options.commands import EvaluateOptions
from schemas.settings import Settings


def evaluate(
    options: EvaluateOptions,
    ideas: IdeasOrNone = None,
    fields: ShowFields = False,
    output: Output = None,
    json: Json = False,
) -> int:
    """Evaluate a batch of ideas, publish the results, and rank the ideas by score.

    The same command resumes, and costs nothing when everything is done.
    With --again the ideas of an earlier run are compared with newer papers: earlier judgements
    are reused, and the report begins with what changed.
    """
    from flows.cli.works import run

    if options.again is not None:
        if ideas is not None:
            raise ConfigurationError("--again takes the ideas of the run: leave out IDEAS")
        if fields:
            raise ConfigurationError(
                "--fields is about columns of a file: leave it out with --again"
            )
        return run("evaluate", (None,), options, output, as_json=json)
    if ideas is None:
        raise ConfigurationError(
            "name the IDEAS, or an earlier run with --again; `assay evaluate --help` tells more"
        )
    with idea_file(ideas) as path:
        if not fields:
            return run("evaluate", (path,), options, output, as_json=json)
        from flows.cli.evaluate.run_output import print_fields
        from tasks.evaluation.work import EVALUATE

        return print_fields(request_of(EVALUATE, (path,), options, Settings()), as_json=json)
