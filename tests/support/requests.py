"""Requests of runs and rankings, by the names of their fields and parameters alike."""

from pathlib import Path
from typing import Any

from schemas.identifiers import RunId
from schemas.judgement.ranking import RankParameters, RankRequest, RunToRank
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest


def run_request(*, ideas_path: Path, **said: Any) -> RunRequest:
    units = (GivenIdeas(path=ideas_path),)
    return RunRequest(units=units, **_sorted(said, EvaluationParameters))


def rank_request(*, run_id: RunId, **said: Any) -> RankRequest:
    return RankRequest(units=(RunToRank(run_id=run_id),), **_sorted(said, RankParameters))


def _sorted(said: dict[str, Any], kind: type[Any]) -> dict[str, Any]:
    names = kind.model_fields.keys()
    parameters = kind(**{name: said[name] for name in said.keys() & names})
    return {"parameters": parameters, **{name: said[name] for name in said.keys() - names}}
