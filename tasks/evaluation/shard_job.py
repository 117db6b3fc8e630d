"""Job of a shard of ideas, and evaluation keys.

An evaluation key is a hash of everything that affects a result.
"""

from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, RunId, content_hash
from schemas.judgement.contribution import NOVELTY_RULE, EarlierJudgements
from schemas.judgement.run_request import RunRequest
from schemas.literature.paper import LITERATURE_RULES
from schemas.run import Module
from schemas.settings import Settings
from schemas.works.experimental_result import ExperimentalResult
from tasks.curation.paper_parts import PaperParts
from tasks.evaluation.modules import steps_of
from tasks.evaluation.preparation import preparation_of
from tasks.evaluation.surveyed_literature import IDEA_SURVEY, PAPERS_PER_SEARCH
from tasks.judging.identity import embedding_identity, model_bounds, prompts_of
from tasks.judging.step import Step
from tasks.literature.field_coverage import coverage_condition
from tasks.literature.versions import publication_names
from tasks.shards.work import Shard

_KNOWN_BY_CONTENT: dict[str, bool | set[str]] = {
    "committee": {"personas_file"},
    "novelty": {"calibrator", "exemplars"},
}
"""Fields with file paths: `conditions` hashes the contents instead."""


def conditions(request: RunRequest, settings: Settings) -> tuple[str, ...]:
    """Return the settings that could change a result.

    Limits, addresses and secrets are not among them.
    """
    values = [embedding_identity(settings)]
    if not request.engine.is_baseline:
        values.append(model_bounds(settings))
    if request.full_text:
        documents = settings.documents
        sources = (
            f"grobid {settings.grobid_url is not None} unpaywall"
            f" {settings.unpaywall_email is not None}"
        )
        values.append(f"documents {sources} {documents.maximum_bytes} {documents.maximum_pages}")
    if request.parameters.again is not None:
        values.append(f"again {request.parameters.again}")
    if request.parameters.survey:
        values.append(f"survey {IDEA_SURVEY.model_dump_json()} {PAPERS_PER_SEARCH}")
    if Module.CONTRIBUTION in request.parameters.modules:
        values.append(f"novelty by {NOVELTY_RULE}")
    if Module.COMMITTEE in request.parameters.modules:
        from tasks.committee.planning import committee_conditions

        values += committee_conditions(request.profile.committee, settings)
    if Module.NOVELTY in request.parameters.modules:
        from tasks.novelty.profile_files import novelty_conditions

        values += novelty_conditions(request.profile.novelty)
    return tuple(values)


def evaluation_key(
    idea: Idea,
    request: RunRequest,
    literature: str,
    steps: tuple[Step[Any, Any], ...],
    conditions: tuple[str, ...] = (),
    results: tuple[ExperimentalResult, ...] = (),
) -> EvaluationKey:
    """Return the key of an evaluation.

    Evaluations with equal keys have equal results. The key covers the idea (identifier, text,
    cutoff, authors, publication identifiers such as the DOI), the profile's part for the requested
    modules, engine and model, literature with its reading and coverage rules, modules, full text,
    label, conditions, experimental results, and the version and prompt of every step; not page
    URLs, group, other metadata, warehouse or workers.
    """
    steps_involved = [
        *steps_of(request.parameters.modules, steps, surveyed=request.parameters.survey),
        *preparation_of(idea),
    ]
    judging = request.profile.judging
    assignments = (
        []
        if request.engine.is_baseline
        else [
            f"{step.name}:{judging.assignment(step.name, step.kind, step.answer_tokens)}"
            for step in steps_involved
        ]
    )
    return EvaluationKey(
        content_hash(
            idea.idea_id,
            idea.content_sha256,
            *publication_names(idea.publications),
            request.profile.model_dump_json(
                include={
                    "name",
                    "seed",
                    "temperature",
                    "resources",
                    *(module.value for module in request.parameters.modules),
                },
                exclude=_KNOWN_BY_CONTENT,
            ),
            request.engine.text,
            request.api_base or "",
            literature,
            LITERATURE_RULES,
            coverage_condition(literature),
            ",".join(sorted(request.parameters.modules)),
            str(request.full_text),
            request.parameters.label,
            *conditions,
            *(result.model_dump_json() for result in results),
            *sorted(prompts_of(steps_involved)),
            *sorted(assignments),
            length=32,
        )
    )


def run_id_for(
    request: RunRequest,
    keys: list[EvaluationKey],
    descriptions: list[str],
    rejected: list[str],
) -> RunId:
    """Return the run id by content, so that commands resume runs.

    Args:
        descriptions: `Idea.description_sha256` of its ideas. A batch with other titles, groups or
            metadata is another run, which reuses the evaluations.
    """
    stem = (
        "".join(
            c if c.isascii() and c.isalnum() else "-" for c in request.ideas.path.stem.lower()
        ).strip("-")[:40]
        or "ideas"
    )
    weights = request.profile.score_weights.model_dump_json()
    parts = (weights, *sorted(keys), *sorted(descriptions), *sorted(rejected))
    return RunId(f"{stem}-{content_hash(*parts, length=10)}")


class PlannedIdea(Noun):
    """An idea with its evaluation key, reusable judgements, and experimental results.

    Attributes:
        paper: the parts of its manuscript; None: it was given as an idea.
    """

    idea: Idea
    evaluation_key: EvaluationKey
    paper: PaperParts | None = None
    before: EarlierJudgements | None = None
    experimental_results: tuple[ExperimentalResult, ...] = ()


class ShardJob(Shard):
    """Ideas of one run for one worker."""

    request: RunRequest
    gateway_url: str = Field(description="Where the gateway answers.")
    literature: str = Field(description="Identity of the literature behind the gateway.")
    knows_references: bool = Field(
        default=True,
        description="False: it is a snapshot without references, which nobody need ask for any.",
    )
    ideas: tuple[PlannedIdea, ...]

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(planned_idea.evaluation_key for planned_idea in self.ideas)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse

    @property
    def files(self) -> tuple[Path, ...]:
        return self.request.profile.files
