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
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm
from tests.support.benchmark_lake import make_benchmark, make_benchmark_head
from tests.support.catalogues import with_catalogue
from tests.support.check_lake import CHECK, check_head
from tests.support.curation_lake import CURATION, make_curation, make_curation_head
from tests.support.draft_lake import DRAFT, make_draft, make_draft_head
from tests.support.evaluations import START, make_evaluation, make_llm_call, make_run
from tests.support.experiment_lake import EXPERIMENT, make_experiment, make_experiment_head
from tests.support.ideation_lake import IDEATION, make_ideation_head, make_round
from tests.support.rankings import land_group, make_call, make_head, make_ranked_group
from tests.support.survey_lake import SURVEY, make_survey, make_survey_head, with_review
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.kinds.curations.landing import CURATIONS
from warehouse.kinds.drafts import DRAFTS
from warehouse.kinds.experiments import EXPERIMENTS
from warehouse.kinds.ideations import IDEATIONS
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.kinds.surveys import SURVEYS
from warehouse.units.kind import Kind
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
    return land_unit(warehouse, CHECKS, CHECK, check, START, START)


def _land_question(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"question-{number}"
    survey = with_review(make_survey(name))
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    return land_unit(warehouse, SURVEYS, SURVEY, replace(survey, llm_calls=calls), START, START)


def _land_curated_paper(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"paper-{number}"
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    curation = replace(make_curation(name), llm_calls=calls)
    return land_unit(warehouse, CURATIONS, CURATION, curation, START, START)


def _land_task(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"task-{number}"
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    experiment = replace(make_experiment(name), llm_calls=calls)
    return land_unit(warehouse, EXPERIMENTS, EXPERIMENT, experiment, START, START)


def _land_round(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    made = make_round(number + 1)
    calls = (make_llm_call(IdeaId(made.round_id), 0, call_id=call),)
    made = replace(made, llm_calls=calls)
    return land_unit(warehouse, IDEATIONS, IDEATION, made, START, START)


def _land_draft(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    name = f"idea-{number}"
    calls = (make_llm_call(IdeaId(name), 0, call_id=call),)
    draft = replace(make_draft(name), llm_calls=calls)
    return land_unit(warehouse, DRAFTS, DRAFT, draft, START, START)


def _land_benchmark(warehouse: Warehouse, number: int, call: str) -> UnitReceipt:
    suite = ("decisions", "pairs")[number]
    item = BenchmarkItem(item_id="i", task="decision", system="assay", gold="yes", answer="yes")
    score = BenchmarkScore(suite=suite, metric="accuracy", system="assay", value=1.0, count=1)
    calls = (make_llm_call(IdeaId("i"), 0, call_id=call),)
    run = make_benchmark(suite, scores=(score,), items=(item,), calls=calls)
    return land_unit(warehouse, BENCHMARKS, RunId("benchmark-a"), run, START, START)


WORKS = (
    Work(RUNS, ("run-a",), _land_idea, lambda _: make_run(ideas=2)),
    Work(
        RANKINGS,
        ("run-a", "ranking-a"),
        _land_group,
        lambda warehouse: make_head(warehouse, [_group(0, "a"), _group(1, "b")]),
        _publish_run,
    ),
    Work(CHECKS, ("check-a",), _land_manuscript, lambda _: check_head()),
    Work(SURVEYS, ("survey-a",), _land_question, lambda _: make_survey_head()),
    Work(CURATIONS, ("curation-a",), _land_curated_paper, lambda _: make_curation_head()),
    Work(EXPERIMENTS, ("experiment-a",), _land_task, lambda _: make_experiment_head()),
    Work(IDEATIONS, ("ideation-a",), _land_round, lambda _: make_ideation_head()),
    Work(DRAFTS, ("draft-a",), _land_draft, lambda _: make_draft_head()),
    Work(BENCHMARKS, ("benchmark-a",), _land_benchmark, lambda _: make_benchmark_head()),
)
