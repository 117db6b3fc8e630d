"""Admission of ideas to a stage, by a project's rules or by decisions of people.

No process waits: requests are stored, and the same command resumes once they are answered.
"""

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from schemas.base import first_fault
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import IdeaId, RunId
from schemas.people.decisions import Decision, Project, Request, Stage, Verdict
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decide_by_rule, decisions, request_for_stage
from warehouse.app.people import participant, reason_of
from warehouse.app.records import fold_into_lake
from warehouse.ledger import parts_by_unit, parts_of_report
from warehouse.queries import Queries
from warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Admission:
    """Result of an admission to a stage.

    Attributes:
        waiting: requests without an answer.
        left_out: rejected ideas, each with a sentence on the rejection; key of a whole run: empty.
    """

    waiting: tuple[Request, ...]
    left_out: dict[IdeaId, str]


def load_project(path: Path) -> Project:
    """Load a project from a TOML file.

    Raises:
        ConfigurationError: it cannot be read, has an unknown key, or a stage without deciders.
    """
    try:
        document = tomllib.loads(path.read_text("utf-8"))
        project = Project.model_validate_json(json.dumps(document, default=str))
    except OSError as error:
        raise ConfigurationError(f"project {path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"project {path} cannot be read: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(f"project {path}: {first_fault(error)}") from error
    for stage in project.stages:
        if not project.deciders(stage):
            raise ConfigurationError(
                f"project {path}: nobody may decide on {stage}: let a participant approve and"
                " reject"
            )
        rule = project.stages[stage]
        if stage.of_runs and (rule.approve_from is not None or rule.reject_below is not None):
            raise ConfigurationError(
                f"project {path}: {stage} is about whole runs, which have no score: leave out"
                " approve_from and reject_below"
            )
    return project


def admit(warehouse: Warehouse, project: Project, stage: Stage, run_id: RunId) -> Admission:
    """Create missing requests, apply the rules, and return who is admitted.

    An idea is requested again if its evaluation or the deciders have changed.

    Raises:
        UnknownNameError: the run is not published, or a participant does not exist, so that a
            request would wait forever.
    """
    if stage not in project.stages:
        return Admission((), {})
    with warehouse.queries() as queries:
        drafts = tuple(_requests(queries, project, stage, run_id))
        scores = {each.idea_id: each.score for each in queries.idea_scores(run_id)}
    with ServiceDatabase(warehouse) as database:
        for each in project.participants:
            participant(database, each)
        requests = request_for_stage(database, drafts)
        decisions_by_request = decisions(database)
        rule_verdicts = {}
        for request in requests:
            rule = _by_rule(project, stage, scores.get(IdeaId(request.unit_id)))
            if rule is not None and request.request_id not in decisions_by_request:
                rule_verdicts[request.request_id] = (request, *rule)
        decide_by_rule(database, rule_verdicts)
        decisions_by_request = decisions(database)
        decision_of = {each.unit_id: decisions_by_request.get(each.request_id) for each in requests}
        left_out = {
            IdeaId(idea_id): _rejection_sentence(database, decision)
            for idea_id, decision in decision_of.items()
            if decision is not None and decision.verdict is Verdict.REJECTED
        }
    fold_into_lake(warehouse)
    open_requests = tuple(each for each in requests if each.request_id not in decisions_by_request)
    return Admission(open_requests, left_out)


def _requests(queries: Queries, project: Project, stage: Stage, run_id: RunId) -> Iterator[Request]:
    now, rule = datetime.now(UTC), project.stages[stage]
    queries.run(run_id)
    for idea_id, parts in _parts(queries, stage, run_id).items():
        yield Request(
            request_id="new",
            run_id=run_id,
            unit_id=idea_id,
            stage=stage,
            criteria=rule.criteria,
            parts=parts,
            asked_by=None,
            asked_of=project.deciders(stage),
            requested_at=now,
        )


def _parts(queries: Queries, stage: Stage, run_id: RunId) -> dict[str, tuple[str, ...]]:
    """Return the parts that a decision is about, by idea; of a whole run under an empty key."""
    if not stage.of_runs:
        return parts_by_unit(queries.connection, run_id)
    parts = parts_of_report(queries.connection, run_id)
    if not parts:
        raise UnknownNameError(f"the ledger has nothing of {run_id}: no idea of it was evaluated")
    return {"": parts}


def _by_rule(project: Project, stage: Stage, score: float | None) -> tuple[Verdict, str] | None:
    """Return the verdict of a stage's thresholds with its reason; None: a person decides."""
    rule = project.stages[stage]
    if score is None:
        return None
    if rule.approve_from is not None and score >= rule.approve_from:
        return Verdict.APPROVED, f"score {score:.2f} is at least {rule.approve_from:g}"
    if rule.reject_below is not None and score < rule.reject_below:
        return Verdict.REJECTED, f"score {score:.2f} is below {rule.reject_below:g}"
    return None


def _rejection_sentence(database: ServiceDatabase, decision: Decision) -> str:
    if decision.participant_id is None:
        return f"rejected by rule: {decision.rule}"
    reason = reason_of(database, decision.reason_sha256)
    reason_text = "no reason is kept" if reason is None else reason
    return f"rejected by {decision.participant_id}: {reason_text}"
