"""Dossiers without content, judges that decide as a test says, and matches without an engine."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from schemas.identifiers import IdeaId
from schemas.judgement.calibration import (
    Calibrator,
    CalibratorFeature,
    CalibratorLabel,
    CalibratorTerm,
    Prior,
)
from schemas.judgement.ranking import Match, Winner
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.profile import RankingParameters
from schemas.reasons import Reason
from tasks.calibration.calibrator_files import write_fitted
from tasks.calibration.examples import item_sha256
from tasks.calibration.text import WORDS
from tasks.judging.step import Step
from tasks.ranking.dossier import Dossier
from tasks.ranking.steps.compare_ideas import DimensionVerdict, PairReply

Decides = Callable[[str, str], str | Reason]
"""From the titles of A and B (their idea ids) to A, B, tie or a reason."""
PERCENT = {"A": 99, "B": 1, "tie": 50}


def parameters(**changes: Any) -> RankingParameters:
    return RankingParameters(**changes)


def dossier(idea_id: str, group: str | None = "g", text: str = "", **fields: Any) -> Dossier:
    # The prompt leaves the title out; two ideas of one text would be one question.
    text = text or f"An idea, the {sum(map(ord, idea_id))}th."
    return Dossier(idea_id=IdeaId(idea_id), group=group, title=idea_id, text=text, **fields)


def by_name(first: str, second: str) -> str:
    """The judge to whom a later name is better."""
    return "A" if first > second else "B"


class FakeJudge:
    """An engine that decides by the two titles, counts what it was asked, and answers in a
    scrambled order.
    """

    def __init__(self, decides: Decides = by_name, name: str = "fake") -> None:
        self._decides = decides
        self.name = name
        self.asked: list[tuple[str, str]] = []

    async def run(self, step: Step[Any, Any], inputs: Any) -> Outcome[Any]:
        first, second = inputs.first.title, inputs.second.title
        self.asked.append((first, second))
        for _ in range(hash((first, second)) % 3):
            await asyncio.sleep(0)
        decided = self._decides(first, second)
        provenance = Provenance(
            step=step.name,
            step_version=step.version,
            prompt_sha256=step.prompt_sha256,
            engine=self.name,
            model_requested=self.name,
            model_answered=self.name,
            seed=7,
            created_at=datetime.now(UTC),
        )
        if isinstance(decided, Reason):
            return Unscored(decided, f"the fake says {decided}", provenance)
        verdicts = [
            DimensionVerdict(
                dimension=one.name, reason="Because.", a_better_percent=PERCENT[decided]
            )
            for one in inputs.dimensions
        ]
        return Scored(PairReply(verdicts=verdicts), provenance)


MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)


def match(first: str, second: str, winner: Winner | None, number: int = 1, **fields: Any) -> Match:
    """A match of group `g` along `overall` by engine `fake`."""
    values: dict[str, Any] = {
        "match_id": f"{first}-{second}-{number}",
        "group": "g",
        "first_idea_id": IdeaId(first),
        "second_idea_id": IdeaId(second),
        "dimension": "overall",
        "winner": winner,
        "round": number,
        "judge": "fake",
        "unscored_reason": None if winner else Reason.REFUSED,
        "created_at": MIDNIGHT + timedelta(minutes=number),
    }
    return Match(**{**values, **fields})


def matches(results: Iterable[tuple[str, str, Winner | None]]) -> list[Match]:
    return [
        match(first, second, winner, number)
        for number, (first, second, winner) in enumerate(results, start=1)
    ]


def write_prior(
    path: Path,
    words: Sequence[str],
    *,
    fitted_on: Sequence[str] = (),
    engine: str = "extractive",
    feature: str = WORDS,
) -> None:
    """A prior that expects more of ideas that say one of `words`; `fitted_on`: texts of ideas."""
    calibrator = Calibrator(
        target="outcome",
        engine=engine,
        judged_by="evidence",
        features=(CalibratorFeature(name=feature, mean=0.0, scale=1.0, coefficient=1.0),),
        terms=tuple(CalibratorTerm(term=word, weight=1.0, coefficient=1.0) for word in words),
        labels=(
            CalibratorLabel(label="no", value=0.0, count=10),
            CalibratorLabel(label="yes", value=1.0, count=10),
        ),
        thresholds=(0.0,),
        decision_rules={},
        cut_points=(0.5,),
        ridge=2.0,
        training_source="made up",
        training_items=tuple(item_sha256(text) for text in fitted_on),
        training_sha256="ab" * 32,
        assay_version="0",
        created_at=MIDNIGHT,
    )
    write_fitted(Prior(calibrator=calibrator, pair_slope=1.0, pair_count=100), path)
