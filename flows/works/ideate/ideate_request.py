"""The options of `assay ideate`, resolved into an `IdeationRequest`: every mistake named in one
line.
"""

from pathlib import Path

from flows.works.evaluate.given_ideas import print_remarks
from flows.works.evaluate.request import resolve_request
from schemas.errors import ConfigurationError, IdeaFileError
from schemas.options.commands import IdeateOptions, RunOptions
from schemas.settings import Settings
from schemas.works.ideation_run import IdeationParameters, IdeationRequest
from tasks.ideas.read import read_ideas
from warehouse.app.database import ServiceDatabase
from warehouse.app.people import participant
from warehouse.warehouse import Warehouse


def resolve_ideation(seeds: Path, options: IdeateOptions, settings: Settings) -> IdeationRequest:
    """Resolve the options of `assay ideate`; a seed is an entry of any file that ideas stand in.

    Raises:
        ConfigurationError: an option that cannot be understood or met, or literature without a
            snapshot, from which concepts are read.
        IdeaFileError: a seed that cannot be read, or none.
        UnknownNameError: who is to be asked is no participant.
    """
    asked = {name: getattr(options, name) for name in RunOptions.model_fields}
    evaluation = resolve_request(seeds, RunOptions(**asked), settings)
    if evaluation.literature.snapshot is None:
        raise ConfigurationError(
            f"--literature {evaluation.literature.text}: concepts are read from a snapshot;"
            " name one"
            " as snapshot:PATH"
        )
    batch = read_ideas(
        evaluation.ideas_path, default_cutoff=evaluation.cutoff_date, fields=options.field
    )
    print_remarks(batch.remarks)
    if batch.rejected:
        first = batch.rejected[0]
        raise IdeaFileError(f"{first.location} is no seed: {first.detail}")
    if not batch.ideas:
        raise IdeaFileError(f"{seeds} holds no seed: write one on each line")
    if options.ask:
        with ServiceDatabase(Warehouse(evaluation.warehouse, settings).existing()) as database:
            for each in options.ask:
                participant(database, each)
    return IdeationRequest(
        seeds=batch.ideas,
        parameters=IdeationParameters(
            rounds=options.rounds,
            per_seed=options.per_seed,
            maximum_keywords=options.keywords,
            neighbours_per_keyword=options.neighbours,
        ),
        evaluation=evaluation,
        asked_of=options.ask,
        workers=options.workers,
        scheduler_address=options.scheduler,
    )
