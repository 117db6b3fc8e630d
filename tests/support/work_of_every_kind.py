"""A small piece of work of every kind, to be landed unit by unit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schemas.base import Noun, replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.benchmark import BenchmarkItem, BenchmarkRun, BenchmarkScore
from schemas.judgement.evaluation import Receipt
from schemas.judgement.ranking import GroupReceipt
from schemas.run import UnitReceipt
from schemas.work_schema import WorkSchema
from schemas.works.check_run import CHECKS
from schemas.works.curation_run import CURATIONS
from schemas.works.draft_run import DRAFTS
from schemas.works.experiment_run import EXPERIMENTS
from schemas.works.ideation_run import IDEATIONS
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm
from schemas.works.survey_run import SURVEYS
from tests.support.benchmark_lake import make_benchmark, make_benchmark_head
from tests.support.catalogues import with_catalogue
from tests.support.check_lake import check_head
from tests.support.curation_lake import make_curation, make_curation_head
from tests.support.draft_lake import make_draft, make_draft_head
from tests.support.evaluations import START, make_evaluation, make_llm_call, make_run
from tests.support.experiment_lake import make_experiment, make_experiment_head
from tests.support.ideation_lake import make_ideation_head, make_round
from tests.support.lakes import PROVENANCE, made
from tests.support.rankings import land_group, make_call, make_head, make_ranked_group
from tests.support.survey_lake import make_survey, make_survey_head, with_review
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.kind import Kind, kind_of
from warehouse.units.publish import publish
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class Work:
    """How a piece of work comes about.

    Attributes:
        names: of the work.
        land: lands its unit of that number, with a call of that name; 0 is the first unit.
        head: what it is published with, once its units have landed.
        prepare: what has to be there before, in a lake of that catalogue.
    """

    kind: Kind[Any, Any, Any]
    names: tuple[str, ...]
    land: Callable[[Warehouse, int, str], UnitReceipt]
    head: Callable[[Warehouse], Noun]
    prepare: Callable[..., object] = lambda *_: None


def _land_idea(warehouse: Warehouse, number: int, call: str) -> Receipt:
    evaluation = make_evaluation(number)
    calls = (make_llm_call(evaluation.idea.idea_id, 0, call_id=call),)
    return land(warehouse, replace(evaluation, llm_calls=calls))


def _ideas(number: int) -> list[IdeaId]:
    return [make_evaluation(2 * number + place).idea.idea_id for place in range(2)]


def _group(number: int, call: str) -> Any:
    group = make_ranked_group(_ideas(number), group=f"group {number}")
    judge = group.matches[0].judge
    return replace(group, llm_calls=(make_call(call, _ideas(number)[0], judge),))


def _land_group(warehouse: Warehouse, number: int, call: str) -> GroupReceipt:
    return land_group(warehouse, _group(number, call))


def _publish_run(warehouse: Warehouse, catalogue_url: str | None = None) -> None:
    for number in range(4):
        _land_idea(warehouse, number, f"call-{number}")
    assert publish(with_catalogue(warehouse, catalogue_url), RUNS, make_run(ideas=4)).published


def _units(
    kind: Kind[Any, Any, Any], run_id: RunId, make: Callable[[int], Noun]
) -> Callable[[Warehouse, int, str], UnitReceipt]:
    """What lands the units that `make` makes by their number."""
    calls = "llm_calls" if "llm_calls" in kind.noun.model_fields else "calls"

    def land(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
        unit = make(number)
        name = IdeaId(getattr(unit, kind.name_column))
        unit = replace(unit, **{calls: (make_llm_call(name, 0, call_id=call),)})
        return land_unit(warehouse, kind, run_id, unit, START, START)

    return land


def _manuscript(number: int) -> ManuscriptCheck:
    return ManuscriptCheck(
        manuscript_id=f"paper {number}",
        title="A proof",
        form=ManuscriptForm.TEXT,
        content_sha256="ab" * 32,
        word_count=100,
        attempts=(Attempt(attempt=1, problem_count=0),),
        problems=(),
        failures=(),
    )


def _suite(number: int) -> BenchmarkRun:
    suite = ("decisions", "pairs")[number]
    item = BenchmarkItem(item_id="i", task="decision", system="assay", gold="yes", answer="yes")
    score = BenchmarkScore(suite=suite, metric="accuracy", system="assay", value=1.0, count=1)
    return make_benchmark(suite, scores=(score,), items=(item,))


def _of(schema: WorkSchema, make: Callable[[int], Noun], head: Any) -> Work:
    kind = kind_of(schema)
    return Work(kind, (head.run_id,), _units(kind, head.run_id, make), lambda _: head)


_WORKS = (
    Work(RUNS, ("run-a",), _land_idea, lambda _: make_run(ideas=2)),
    Work(
        RANKINGS,
        ("run-a", "ranking-a"),
        _land_group,
        lambda warehouse: make_head(warehouse, [_group(0, "a"), _group(1, "b")]),
        _publish_run,
    ),
    _of(CHECKS, _manuscript, check_head()),
    _of(SURVEYS, lambda n: with_review(make_survey(f"question-{n}")), make_survey_head()),
    _of(CURATIONS, lambda n: make_curation(f"paper-{n}"), make_curation_head()),
    _of(EXPERIMENTS, lambda n: make_experiment(f"task-{n}"), make_experiment_head()),
    _of(IDEATIONS, lambda n: make_round(n + 1), make_ideation_head()),
    _of(DRAFTS, lambda n: make_draft(f"idea-{n}"), make_draft_head()),
    Work(
        BENCHMARKS,
        ("benchmark-a",),
        _units(BENCHMARKS, RunId("benchmark-a"), _suite),
        lambda _: make_benchmark_head(),
    ),
)


def _made(kind: Kind[Any, Any, Any]) -> Work:
    """A piece of work of a kind that has none here, made of what its nouns say."""
    run_id = RunId(f"{kind.word}-a")

    def unit(number: int) -> Noun:
        apart = dict.fromkeys(("failures", "api_calls"), ())
        given = {kind.name_column: f"{kind.unit_noun}-{number}", "provenance": PROVENANCE, **apart}
        known = {name: given[name] for name in given.keys() & kind.noun.model_fields.keys()}
        return made(kind.noun, **known)

    return Work(
        kind, (run_id,), _units(kind, run_id, unit), lambda _: made(kind.head, run_id=run_id)
    )


_HERE = {work.kind for work in _WORKS}
WORKS = (*_WORKS, *(_made(kind) for kind in KINDS if kind not in _HERE))
