"""Draft of a task: facts about the idea, and marks where a person has to decide."""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import ValidationError

from schemas.base import Noun, first_fault
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.judgement.contribution import closest_overlaps
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import ConcernSeverity, standing
from schemas.literature.naming import INVISIBLE
from schemas.literature.recommendation import Recommendation, ResourceKind
from schemas.works.experiment import KnownIdea, KnownWork
from tasks.experiments.task_folder import BASELINES, EVALUATE, FILL_IN, IDEA, PROGRAM, TASK
from warehouse.scrubbing import one_line

MOST_CONCERNS, MOST_WORKS = 20, 20
_COMMENT_CHARACTERS = 2_000
_TITLE_CHARACTERS = 500
_NAME_CHARACTERS = 40


def known_of(idea: Idea, evaluation: IdeaEvaluation | None = None) -> KnownIdea:
    """Return an idea with its standing concerns and closest works, as a task stores it.

    Raises:
        ConfigurationError: it exceeds what a task may keep.
    """
    concerns = [
        f"{each.point} {each.why}".strip()[:_COMMENT_CHARACTERS]
        for each in standing(evaluation.concerns if evaluation else ())
        if each.remaining_severity is not ConcernSeverity.QUESTION
    ]
    works = []
    if evaluation is not None and evaluation.contribution is not None:
        titles = {paper.paper_id: paper.title for paper in evaluation.papers}
        comparisons = closest_overlaps(evaluation.contribution.comparisons)[:MOST_WORKS]
        for number, each in enumerate(comparisons, start=1):
            title = titles.get(each.paper_id) or str(each.paper_id)
            title, comparison = title[:_TITLE_CHARACTERS], each.comparison[:_COMMENT_CHARACTERS]
            works.append(KnownWork(key=f"K{number}", title=title, said=comparison))
    try:
        return KnownIdea(
            idea_id=idea.idea_id,
            run_id=evaluation.run_id if evaluation is not None else "",
            text=idea.text,
            concerns=tuple(concerns)[:MOST_CONCERNS],
            works=tuple(works),
        )
    except ValidationError as error:
        raise ConfigurationError(
            f"idea {idea.idea_id} cannot be a task's: {first_fault(error)}"
        ) from error


def write_draft(
    folder: Path, idea: KnownIdea, plan: Sequence[str], recommendations: Iterable[Recommendation]
) -> tuple[Path, ...]:
    """Write the draft into a new folder; return its files.

    It is refused as a task until all marks are filled in.

    Args:
        plan: lines of the idea's own test plan.

    Raises:
        ConfigurationError: the folder exists, or cannot be created.
    """
    by_kind: dict[ResourceKind, list[Recommendation]] = {kind: [] for kind in ResourceKind}
    for each in recommendations:
        by_kind[each.kind].append(each)
    texts = {
        TASK: _render(TASK, idea=idea, plan=plan, metrics=by_kind[ResourceKind.METRIC]),
        PROGRAM: _render(PROGRAM),
        EVALUATE: _render(EVALUATE, data_sets=by_kind[ResourceKind.DATA_SET]),
        IDEA: idea.model_dump_json(indent=2) + "\n",
    }
    for number, baseline in enumerate(by_kind[ResourceKind.BASELINE], start=1):
        path = f"{BASELINES}/{_file_name(baseline.name, number)}.py"
        texts[path] = _render("baseline.py", baseline=baseline)
    try:
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
    except FileExistsError as error:
        raise ConfigurationError(f"{folder} is there already: name a folder that is not") from error
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be made: {error}") from error
    return tuple(folder / name for name in texts)


def _file_name(name: str, number: int) -> str:
    """Return a valid module name; the number separates equal names."""
    plain_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = "".join(each if each.isalnum() else " " for each in plain_name).split()
    return f"baseline_{number}_{'_'.join(words)}"[:_NAME_CHARACTERS].rstrip("_")


def _render(name: str, **values: str | Noun | Sequence[str] | Sequence[Noun]) -> str:
    return _templates().get_template(f"{name}.jinja").render(mark=FILL_IN, **values)


@cache
def _templates() -> Environment:
    # Comments of programs, not HTML: the filter `told` keeps any text to one line.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("tasks.experiments", "draft"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters["told"] = lambda text: one_line(INVISIBLE.sub(" ", str(text)))
    return environment
