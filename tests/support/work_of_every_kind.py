"""A small piece of work of every kind, to be landed unit by unit."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schemas.base import Noun, replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from schemas.judgement.evaluation import Receipt
from schemas.judgement.ranking import GroupReceipt
from schemas.run import UnitReceipt
from schemas.works.check_run import CHECKS
from schemas.works.curation_run import CURATIONS
from schemas.works.draft_run import DRAFTS
from schemas.works.experiment_run import EXPERIMENTS
from schemas.works.ideation_run import IDEATIONS
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm
from schemas.works.survey_run import SURVEYS
from tests.support.benchmark_lake import make_benchmark, make_benchmark_head
from tests.support.catalogues import with_catalogue
from tests.support.check_lake import CHECK, check_head
from tests.support.curation_lake import CURATION, make_curation, make_curation_head
from tests.support.draft_lake import DRAFT, make_draft, make_draft_head
from tests.support.evaluations import START, make_evaluation, make_llm_call, make_run
from tests.support.experiment_lake import EXPERIMENT, make_experiment, make_experiment_head
from tests.support.ideation_lake import IDEATION, make_ideation_head, make_round
from tests.support.made_nouns import PROVENANCE, made
from tests.support.rankings import land_group, make_call, make_head, make_ranked_group
from tests.support.survey_lake import SURVEY, make_survey, make_survey_head, with_review
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.registry import KINDS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.kind import Kind, kind_of
from warehouse.units.publish import publish
from warehouse.units.record import land_unit
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


def _land_manuscript(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"paper {number}"
    check = ManuscriptCheck(
        manuscript_id=name,
        title="A proof",
        form=ManuscriptForm.TEXT,
        content_sha256="ab" * 32,
        word_count=100,
        attempts=(Attempt(attempt=1, problem_count=0),),
        problems=(),
        failures=(),
        llm_calls=(make_llm_call(IdeaId(name), 0, call_id=call),),
    )
    return land_unit(warehouse, kind_of(CHECKS), CHECK, check, START, START)


def _land_question(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"question-{number}"
    survey = with_review(make_survey(name))
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    return land_unit(
        warehouse, kind_of(SURVEYS), SURVEY, replace(survey, llm_calls=calls), START, START
    )


def _land_curated_paper(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"paper-{number}"
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    curation = replace(make_curation(name), llm_calls=calls)
    return land_unit(warehouse, kind_of(CURATIONS), CURATION, curation, START, START)


def _land_task(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"task-{number}"
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    experiment = replace(make_experiment(name), llm_calls=calls)
    return land_unit(warehouse, kind_of(EXPERIMENTS), EXPERIMENT, experiment, START, START)


def _land_round(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    made = make_round(number + 1)
    calls = (make_llm_call(IdeaId(made.round_id), 0, call_id=call),)
    made = replace(made, llm_calls=calls)
    return land_unit(warehouse, kind_of(IDEATIONS), IDEATION, made, START, START)


def _land_draft(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"idea-{number}"
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    draft = replace(make_draft(name), llm_calls=calls)
    return land_unit(warehouse, kind_of(DRAFTS), DRAFT, draft, START, START)


def _land_benchmark(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    suite = ("decisions", "pairs")[number]
    item = BenchmarkItem(item_id="i", task="decision", system="assay", gold="yes", answer="yes")
    score = BenchmarkScore(suite=suite, metric="accuracy", system="assay", value=1.0, count=1)
    calls = (make_llm_call(IdeaId("i"), 0, call_id=call),)
    run = make_benchmark(suite, scores=(score,), items=(item,), calls=calls)
    return land_unit(warehouse, BENCHMARKS, RunId("benchmark-a"), run, START, START)


_WORKS = (
    Work(RUNS, ("run-a",), _land_idea, lambda _: make_run(ideas=2)),
    Work(
        RANKINGS,
        ("run-a", "ranking-a"),
        _land_group,
        lambda warehouse: make_head(warehouse, [_group(0, "a"), _group(1, "b")]),
        _publish_run,
    ),
    Work(kind_of(CHECKS), ("check-a",), _land_manuscript, lambda _: check_head()),
    Work(kind_of(SURVEYS), ("survey-a",), _land_question, lambda _: make_survey_head()),
    Work(kind_of(CURATIONS), ("curation-a",), _land_curated_paper, lambda _: make_curation_head()),
    Work(kind_of(EXPERIMENTS), ("experiment-a",), _land_task, lambda _: make_experiment_head()),
    Work(kind_of(IDEATIONS), ("ideation-a",), _land_round, lambda _: make_ideation_head()),
    Work(kind_of(DRAFTS), ("draft-a",), _land_draft, lambda _: make_draft_head()),
    Work(BENCHMARKS, ("benchmark-a",), _land_benchmark, lambda _: make_benchmark_head()),
)


def _made(kind: Kind[Any, Any, Any]) -> Work:
    """A piece of work of a kind that has none here, made of what its nouns say."""
    run_id = RunId(f"{kind.word}-a")

    def unit(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
        name = f"{kind.unit_noun}-{number}"
        calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
        apart = {name: () for name in ("failures", "api_calls") if name in kind.noun.model_fields}
        given = {kind.name_column: name, "llm_calls": calls, "provenance": PROVENANCE, **apart}
        known = {name: given[name] for name in given.keys() & kind.noun.model_fields.keys()}
        return land_unit(warehouse, kind, run_id, made(kind.noun, **known), START, START)

    return Work(kind, (run_id,), unit, lambda _: made(kind.head, run_id=run_id))


_HERE = {work.kind for work in _WORKS}
WORKS = (*_WORKS, *(_made(kind) for kind in KINDS if kind not in _HERE))
