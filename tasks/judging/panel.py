"""Steps answered by assigned models or judged by a panel of models."""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from schemas.base import Noun, Reply, replace
from schemas.identifiers import content_hash
from schemas.judging import FINDING, JudgeVote, JudgingParameters
from schemas.outcome import Outcome, Scored, Unscored
from tasks.accounting.ledger import Ledger
from tasks.judging.findings_of_judges import FindingsReply, join_findings
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.packing import side_by_side
from tasks.judging.step import Step

OutputT = TypeVar("OutputT", bound=Reply)

_SCORE = "score"
_IDENTIFIERS = ("key", "dimension", "criterion")
"""Fields that identify the subject of an entry in a judge's list."""


class AssignedEngine:
    """Implements `Engine` with the models and judges assigned by the profile.

    Several judges answer the same question concurrently. The reply has the median of their scores
    and the words of the judge nearest to it. Where the score is computed from the rest of a reply,
    the lower median counts, so that one judge's reply stays unchanged. With fewer than half of the
    judges scored, the step is unscored. Findings are joined, as soon as one judge has answered:
    what any of them raised counts. Every judge's scores and findings are recorded in the ledger. A
    step without either is answered by the first judge alone.
    """

    def __init__(
        self,
        default: LiteLLMEngine,
        engines: Mapping[str, LiteLLMEngine],
        judging: JudgingParameters,
        ledger: Ledger,
        *,
        repetition: int = 1,
    ) -> None:
        """Initialize.

        Args:
            engines: one for every model in `judging`.
            repetition: above 1, votes are recorded separately.
        """
        self._default = default
        self._engines = engines
        self._judging = judging
        self._ledger = ledger
        self._repetition = repetition

    @property
    def name(self) -> str:
        return self._default.name

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        models = models_of_step(step, self._judging)
        if len(models) < 2:
            engine = self._engines[models[0]] if models else self._default
            return await engine.run(step, inputs)
        outcomes = await side_by_side(self._engines[model].run(step, inputs) for model in models)
        return self._settle(step, inputs, models, outcomes)

    def _settle(
        self,
        step: Step[Any, OutputT],
        inputs: Noun,
        judges: Sequence[str],
        outcomes: Sequence[Outcome[OutputT]],
    ) -> Outcome[OutputT]:
        again = [str(self._repetition)] if self._repetition > 1 else []
        question = content_hash(step.name, inputs.model_dump_json(), *again, length=16)
        scored_outcomes = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
        call_ids = tuple(call for one in outcomes for call in one.provenance.call_ids)
        joins = issubclass(step.output_model, FindingsReply)
        replies: list[tuple[str, Any]] = [
            (judge, outcome.value)
            for judge, outcome in zip(judges, outcomes, strict=True)
            if isinstance(outcome, Scored)
        ]
        joined = join_findings(replies) if joins and replies else None
        for judge, outcome in zip(judges, outcomes, strict=True):
            self._ledger.judge_votes.extend(_votes(step.name, question, judge, outcome, joined))
        if joined is not None:
            provenance = replace(scored_outcomes[0].provenance, call_ids=call_ids)
            return Scored(joined, provenance)
        if 2 * len(scored_outcomes) < len(judges):
            missing = [
                (judge, outcome)
                for judge, outcome in zip(judges, outcomes, strict=True)
                if isinstance(outcome, Unscored)
            ]
            reason, _ = Counter(outcome.reason for _, outcome in missing).most_common(1)[0]
            reasons = "; ".join(f"{judge}: {each.reason.value}" for judge, each in missing)
            nothing = "did not answer" if joins else "gave no score"
            detail = f"{len(missing)} of {len(judges)} judges {nothing}: {reasons}"
            provenance = replace(missing[0][1].provenance, call_ids=call_ids)
            return Unscored(reason, detail, provenance)
        medians = _medians(
            [dict(scores(one.value)) for one in scored_outcomes],
            len(judges),
            statistics.median_low if score_follows(step.output_model) else statistics.median,
        )
        nearest_outcome = min(
            scored_outcomes, key=lambda one: _distance(dict(scores(one.value)), medians)
        )
        provenance = replace(nearest_outcome.provenance, call_ids=call_ids)
        return Scored(with_scores(nearest_outcome.value, medians), provenance)


def models_of_step(step: Step[Any, Any], judging: JudgingParameters) -> tuple[str, ...]:
    """Return the models that answer the step, empty for `--engine`.

    Several models answer only steps with scores or findings.
    """
    models = judging.assignment(step.name, step.kind, step.answer_tokens).models
    return models if takes_judges(step.output_model) else models[:1]


def takes_judges(output_model: type[Reply]) -> bool:
    """Return whether the replies of several judges can be settled: by scores or by joining."""
    return issubclass(output_model, FindingsReply) or gives_scores(output_model)


def gives_scores(output_model: type[Reply]) -> bool:
    """Return whether replies of this type or their entries have a `score`."""
    if score_follows(output_model):
        return True
    schema = output_model.model_json_schema()
    return any(
        _SCORE in one.get("properties", {}) for one in (schema, *schema.get("$defs", {}).values())
    )


def score_follows(output_model: type[Reply]) -> bool:
    """Return whether the reply's score is computed from other fields."""
    return isinstance(getattr(output_model, _SCORE, None), property)


def scores(reply: Reply, place: str = "") -> Iterator[tuple[str, float]]:
    """Yield (subject, score) of a reply and its lists' entries.

    Missing scores are omitted.
    """
    if score_follows(type(reply)):
        yield place, float(getattr(reply, _SCORE))
    for name in type(reply).model_fields:
        value = getattr(reply, name)
        if name == _SCORE and value is not None:
            yield place, float(value)
        elif isinstance(value, list | tuple):
            for entry in value:
                if isinstance(entry, Reply):
                    yield from scores(entry, _place(place, entry))


def with_scores(reply: OutputT, final_scores: Mapping[str, float], place: str = "") -> OutputT:
    """Return `reply` with the scores of `final_scores`; entries without one are omitted.

    Where scores are whole numbers, a median between two of them is rounded towards zero.
    """
    changes: dict[str, Any] = {}
    for name in type(reply).model_fields:
        value = getattr(reply, name)
        if name == _SCORE and value is not None:
            changes[name] = type(value)(final_scores[place])
        elif isinstance(value, list | tuple) and any(isinstance(one, Reply) for one in value):
            changes[name] = type(value)(
                with_scores(one, final_scores, _place(place, one))
                for one in value
                if _stays(one, final_scores, _place(place, one))
            )
    return reply.model_copy(update=changes)


def _stays(entry: Reply, final_scores: Mapping[str, float], place: str) -> bool:
    """Return whether the entry has a final score or no score."""
    items = [item for item, _ in scores(entry, place)]
    return not items or any(item in final_scores for item in items)


def _place(outer: str, entry: Reply) -> str:
    identifier = next(
        (str(getattr(entry, name)) for name in _IDENTIFIERS if hasattr(entry, name)), ""
    )
    return f"{outer}/{identifier}" if outer else identifier


def _medians(
    judge_scores: Sequence[Mapping[str, float]],
    judge_count: int,
    median: Callable[[Sequence[float]], float] = statistics.median,
) -> dict[str, float]:
    """Return medians of items scored by at least half of the judges."""
    items = dict.fromkeys(item for scores_given in judge_scores for item in scores_given)
    scores_by_item = {item: [one[item] for one in judge_scores if item in one] for item in items}
    return {
        item: median(values)
        for item, values in scores_by_item.items()
        if 2 * len(values) >= judge_count
    }


def _distance(judge_scores: Mapping[str, float], medians: Mapping[str, float]) -> tuple[int, float]:
    """Return a judge's distance from the medians.

    It is (number of items not scored, sum of differences).
    """
    missing = sum(item not in judge_scores for item in medians)
    return missing, sum(
        abs(judge_scores[item] - medians[item]) for item in medians if item in judge_scores
    )


def _votes(
    step: str, question: str, judge: str, outcome: Outcome[Any], joined: FindingsReply | None
) -> Iterator[JudgeVote]:
    """Yield a judge's votes on the scored items, or on the findings of all judges."""
    item_scores: Iterable[tuple[str, float | None]]
    if isinstance(outcome, Unscored):
        item_scores = [("", None)]
    elif joined is not None:
        item_scores = [
            (f"{FINDING}{number}", float(judge in finding.found_by))
            for number, finding in enumerate(getattr(joined, joined.LIST), start=1)
        ]
    else:
        item_scores = scores(outcome.value)
    for item, score in item_scores:
        yield JudgeVote(
            step=step,
            question=question,
            item=item,
            judge=judge,
            model_answered=outcome.provenance.model_answered,
            score=score,
            unscored_reason=outcome.reason if isinstance(outcome, Unscored) else None,
            unscored_detail=outcome.detail if isinstance(outcome, Unscored) else "",
            call_ids=outcome.provenance.call_ids,
        )
