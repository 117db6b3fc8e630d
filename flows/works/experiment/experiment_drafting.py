"""Drafts an experiment task from an idea, its evaluation and recommended resources."""

from dataclasses import dataclass
from pathlib import Path

from flows.works.evaluate.idea_input import print_remarks
from flows.works.literature.recommendation import recommend_about
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.options.commands import DraftOptions, RecommendOptions
from schemas.settings import Settings
from schemas.works.experiment import KnownIdea
from tasks.experiments.drafting import known_of, write_draft
from tasks.ideas.read import read_ideas
from tasks.recommendation.recommend import Recommended
from tasks.text.words import sentences
from warehouse.warehouse import Warehouse

RECOMMENDED = 3
_SENTENCES = 12


@dataclass(frozen=True, slots=True)
class DraftedTask:
    paths: tuple[Path, ...]
    idea: KnownIdea
    recommended: Recommended


def draft_experiment(
    folder: Path, source: str, options: DraftOptions, settings: Settings
) -> DraftedTask:
    """Draft a task in `folder` from an idea file or the id of an evaluated idea.

    Raises:
        ConfigurationError: no such idea, or the folder exists.
        IdeaFileError: the file cannot be read.
    """
    if folder.exists():
        raise ConfigurationError(f"{folder} is there already: name a folder that is not")
    idea, evaluation = _idea(source, options, settings)
    known_idea = known_of(idea, evaluation)
    lookup = RecommendOptions(
        warehouse=options.warehouse, literature=options.literature, limit=RECOMMENDED
    )
    recommendation = recommend_about(idea.text, idea.cutoff_date, lookup, settings)
    plan = [
        line
        for text in (idea.problem, idea.experiment)
        if text is not None
        for line in sentences(text)[:_SENTENCES]
    ]
    paths = write_draft(folder, known_idea, plan, recommendation.recommendations)
    return DraftedTask(paths, known_idea, recommendation)


def _idea(
    source: str, options: DraftOptions, settings: Settings
) -> tuple[Idea, IdeaEvaluation | None]:
    if Path(source).is_file():
        batch = read_ideas(Path(source), default_cutoff=None, fields=options.field)
        print_remarks(batch.remarks)
        if not batch.ideas and batch.rejected:
            first = batch.rejected[0]
            raise ConfigurationError(f"{first.location} is no idea: {first.detail}")
        if len(batch.ideas) != 1:
            count = f"holds {len(batch.ideas)} ideas"
            raise ConfigurationError(
                f"{source} {count}: evaluate it, and name one by its identifier"
            )
        return batch.ideas[0], None
    warehouse = Warehouse(options.warehouse.resolve(), settings)
    with warehouse.queries() as queries:
        run_id = options.run
        if run_id is None:
            rows = queries.rows("newest_run_of_idea", idea_id=source)
            if not rows:
                raise ConfigurationError(
                    f"no run in {warehouse.address} evaluated an idea {source}, and no file is called"
                    " so: `assay rank --scores` lists ideas of a run"
                )
            run_id = rows[0]["run_id"]
        evaluation = queries.idea_review(RunId(run_id), IdeaId(source)).evaluation
    return evaluation.idea, evaluation
