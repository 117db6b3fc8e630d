"""Read API of the lake for dashboards, reports and the command line.

Only published runs are visible.

with warehouse.queries() as queries:
    for row in queries.ranking(queries.latest_run().run_id): …
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from schemas.base import Noun
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.literature.recommendation import Resource
from schemas.people.ledger import LedgerHead
from schemas.profile import ScoreWeights
from schemas.run import Run, ValidationRow
from schemas.tables import IDEA_TABLES
from warehouse.catalogue.connection import Connection
from warehouse.lake import one_snapshot, rows_in
from warehouse.ledger import head_of
from warehouse.row_models import (
    AnsweringModel,
    DroppedParameter,
    FailureGroup,
    FailureRow,
    IdeaReview,
    IdeaScore,
    JudgeAgreement,
    LeftOutGroup,
    ModuleCost,
    RankedIdea,
    RunCost,
    StepCost,
)
from warehouse.rows import Row, noun_of
from warehouse.statements import statement, table_statement

if TYPE_CHECKING:
    import polars  # slow import, used only by the dashboard

NounT = TypeVar("NounT", bound=Noun)
_IDEAS_AT_ONCE = 40


def _about_run(name: str, kind: type[NounT]) -> "Callable[[Queries, RunId], tuple[NounT, ...]]":
    """Build a method that runs `sql/queries/<name>.sql` for one published run."""

    def nouns(queries: "Queries", run_id: RunId) -> tuple[NounT, ...]:
        queries.run(run_id)
        return queries._nouns(name, kind, run_id=run_id)

    # The dashboard caches results by function name (`dashboards/app/data.py`).
    nouns.__name__, nouns.__qualname__ = name, f"Queries.{name}"
    return nouns


@dataclass(frozen=True, slots=True)
class Queries:
    """Queries on an open lake.

    Every method raises ConfigurationError for a run that is not published.

    Attributes:
        warehouse: value of `--warehouse`.
    """

    connection: Connection
    warehouse: str
    _runs: dict[RunId, Run] = field(default_factory=dict, init=False, repr=False, compare=False)

    # By group and rank; ideas without a score come last, without a rank.
    ranking = _about_run("ranking", RankedIdea)
    idea_scores = _about_run("idea_scores", IdeaScore)
    # Rejected entries of the idea file first.
    failures = _about_run("failures", FailureRow)
    # Rejected entries of the idea file, in file order.
    rejections = _about_run("rejections", FailureRow)
    # Failures of accepted ideas by stage and reason, most frequent first.
    failure_groups = _about_run("failure_groups", FailureGroup)
    # Papers that were left out, by reason.
    left_out_groups = _about_run("left_out_groups", LeftOutGroup)
    # Calls, tokens and cost by step and model; empty without model calls.
    step_costs = _about_run("step_costs", StepCost)
    # The same by module, in total and per idea.
    module_costs = _about_run("module_costs", ModuleCost)
    # By step; empty if no step had several judges.
    judge_agreement = _about_run("judge_agreement", JudgeAgreement)
    # Answering models by step; empty without model calls.
    answering_models = _about_run("answering_models", AnsweringModel)
    # Parameters that a model does not support, by model.
    dropped_parameters = _about_run("dropped_parameters", DroppedParameter)

    def list_runs(self) -> tuple[Run, ...]:
        """Return the published runs, newest first."""
        return tuple(_run(row) for row in self.rows("list_runs"))

    def latest_run(self) -> Run:
        """Return the run that started last. Raises UnknownNameError if none is published."""
        runs = self.list_runs()
        if not runs:
            raise UnknownNameError("the lake holds no run yet: publish one with `assay evaluate`")
        return runs[0]

    def run(self, run_id: RunId) -> Run:
        """Return a published run; cached, since every query on a run starts here."""
        if run_id in self._runs:
            return self._runs[run_id]
        runs = self.list_runs()
        for run in runs:
            if run.run_id == run_id:
                self._runs[run_id] = run
                return run
        self._refuse_other_work(run_id)
        newest = ", ".join(run.run_id for run in runs[:3]) or "none"
        raise UnknownNameError(f"no published run {run_id}; the newest are: {newest}")

    def _refuse_other_work(self, run_id: RunId) -> None:
        """Raise ConfigurationError if the name belongs to work of another kind."""
        # Late import: it imports every kind.
        from warehouse.units.published_work import published_kind

        try:
            kind = published_kind(self.connection, run_id)
        except UnknownNameError:
            return
        raise ConfigurationError(
            f"{kind.title(run_id)} is no run of ideas: see the table {kind.head_table}, or"
            f" `assay report {run_id}`"
        )

    def ledger_head(self) -> LedgerHead:
        return head_of(self.connection)

    def run_cost(self, run_id: RunId) -> RunCost:
        self.run(run_id)
        (cost,) = self.run_costs([run_id])
        return cost

    def run_costs(self, run_ids: Sequence[RunId]) -> tuple[RunCost, ...]:
        """Return the costs of the published ones of these runs, unordered."""
        return self._nouns("run_costs", RunCost, run_ids=list(run_ids))

    def spent(self, run_id: RunId, since: datetime, until: datetime) -> float | None:
        """Return the cost of a run's calls in a period, in US dollars.

        0 for a missing run; None if partly unknown.
        """
        (row,) = self.rows("spent", run_id=run_id, since=since, until=until)
        return None if row["unknown_price_calls"] else float(row["cost_usd"])

    def validations(self, run_id: RunId) -> tuple[ValidationRow, ...]:
        """Return the results of expectations, broken ones first."""
        self.run(run_id)
        return self.validations_of([run_id])

    def validations_of(self, run_ids: Sequence[RunId]) -> tuple[ValidationRow, ...]:
        """Return the results for the published ones of these runs, broken ones first."""
        return self._nouns("validations", ValidationRow, run_ids=list(run_ids))

    def latency_by_step(self, run_id: RunId) -> tuple[Row, ...]:
        """Return durations of the run's model calls, by step and model."""
        self.run(run_id)
        return tuple(self.rows("latency_by_step", run_id=run_id))

    def source_health(self, run_id: RunId) -> tuple[Row, ...]:
        self.run(run_id)
        return tuple(self.rows("source_health", run_id=run_id))

    def idea_review(self, run_id: RunId, idea_id: IdeaId) -> IdeaReview:
        """Return the data of a full report on one idea.

        Raises:
            UnknownNameError: the run has no such idea.
        """
        places = self._places(run_id, (idea_id,))
        for review in self._reviews(self.run(run_id), places, (idea_id,)):
            return review
        raise UnknownNameError(
            f"run {run_id} has no evaluation of idea {idea_id}; `assay rank {run_id} --scores`"
            " lists its ideas"
        )

    def idea_reviews(
        self, run_id: RunId, idea_ids: Sequence[IdeaId] | None = None
    ) -> Iterator[IdeaReview]:
        """Yield the reviews of a run's ideas, best ranked first; 40 are in memory at a time.

        Args:
            idea_ids: None: all.
        """
        yield from self._reviews(self.run(run_id), self._places(run_id, idea_ids), idea_ids)

    def _places(self, run_id: RunId, idea_ids: Sequence[IdeaId] | None) -> list[Row]:
        return self.rows("ranking_of_ideas", run_id=run_id, idea_ids=_as_list(idea_ids))

    def _reviews(
        self, run: Run, places: Sequence[Row], idea_ids: Sequence[IdeaId] | None
    ) -> Iterator[IdeaReview]:
        idea_scores = self._nouns(
            "idea_scores_of", IdeaScore, run_id=run.run_id, idea_ids=_as_list(idea_ids)
        )
        scores = {score.idea_id: score for score in idea_scores}
        for start in range(0, len(places), _IDEAS_AT_ONCE):
            batch = places[start : start + _IDEAS_AT_ONCE]
            names = {"run_id": run.run_id, "idea_ids": [place["idea_id"] for place in batch]}
            with one_snapshot(self.connection):
                rows = self._idea_rows(run.run_id, names["idea_ids"])
                costs = {row["idea_id"]: row for row in self.rows("idea_costs", **names)}
            for place in batch:
                idea_id = place["idea_id"]
                cost = costs.get(idea_id)
                yield _review(self.warehouse, run, place, scores[idea_id], rows[idea_id], cost)

    def rows(self, name: str, **parameters: object) -> list[Row]:
        """Return the rows of `sql/queries/<name>.sql`."""
        return self.answers(statement("queries", name), **parameters)

    def read(self, kind: type[NounT], name: str, **parameters: object) -> tuple[NounT, ...]:
        """Return the rows of `sql/queries/<name>.sql` as nouns."""
        return tuple(noun_of(kind, row) for row in self.rows(name, **parameters))

    def answers(self, sql: str, **parameters: object) -> list[Row]:
        _check_names(parameters)
        return rows_in(self.connection, sql, parameters)

    def page_frame(self, name: str, **parameters: object) -> "polars.DataFrame":
        """Return the rows of `sql/pages/<name>.sql`, aggregated for dashboard pages."""
        _check_names(parameters)
        return self.connection.sql(statement("pages", name), params=parameters).pl()

    def _idea_rows(
        self, run_id: RunId, idea_ids: Sequence[IdeaId]
    ) -> dict[IdeaId, dict[str, list[Row]]]:
        rows_of: dict[IdeaId, dict[str, list[Row]]] = {idea_id: {} for idea_id in idea_ids}
        for table in IDEA_TABLES:
            sql = table_statement("rows_of_ideas", table=table.name)
            for row in self.answers(sql, run_id=run_id, idea_ids=list(idea_ids)):
                # A rejected duplicate has the id of an accepted idea.
                if row.get("recorded_by") != "read_ideas":
                    rows_of[row["idea_id"]].setdefault(table.name, []).append(row)
        return rows_of

    def _nouns(self, name: str, kind: type[NounT], **parameters: object) -> tuple[NounT, ...]:
        return tuple(
            kind.model_validate(row, strict=False) for row in self.rows(name, **parameters)
        )


def resources_of_papers(
    connection: Connection, paper_ids: Sequence[PaperId]
) -> tuple[Resource, ...]:
    """Return the resources that published evaluations extracted from papers, without duplicates."""
    sql = statement("queries", "resources_of_papers")
    return tuple(
        noun_of(Resource, row) for row in rows_in(connection, sql, {"paper_ids": list(paper_ids)})
    )


def _check_names(parameters: Mapping[str, object]) -> None:
    """Raise UnknownNameError for a name with a NUL, at which DuckLake's SQL would end."""
    for value in parameters.values():
        members = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(each, str) and "\0" in each for each in members):
            raise UnknownNameError("nothing has such a name")


def _as_list(idea_ids: Sequence[IdeaId] | None) -> list[IdeaId] | None:
    return None if idea_ids is None else list(idea_ids)


def _run(row: dict[str, Any]) -> Run:
    weights = ScoreWeights(**{name: row[f"{name}_weight"] for name in ScoreWeights.model_fields})
    fields = {name: row[name] for name in Run.model_fields if name in row}
    return Run.model_validate(fields | {"score_weights": weights}, strict=False)


def _review(
    warehouse: str,
    run: Run,
    place: Row,
    score: IdeaScore,
    rows: dict[str, list[Row]],
    cost: Row | None,
) -> IdeaReview:
    from warehouse.kinds.runs.landing import RUNS  # slow import
    from warehouse.units.unit_rows import unit_of

    evaluation = unit_of(RUNS, rows["ideas"][0]["evaluation_key"], rows)
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    cited_ids = dict.fromkeys(
        citation.paper_id for citation in evaluation.citations if citation.paper_id is not None
    )
    return IdeaReview(
        warehouse=warehouse,
        run=run,
        evaluation=evaluation,
        score=score,
        rank=place["rank"],
        group_size=place["group_size"],
        bibliography=tuple(papers[each] for each in cited_ids if each in papers),
        cost_usd=cost["cost_usd"] if cost else 0.0,
        unknown_price_calls=cost["unknown_price_calls"] if cost else 0,
    )
