"""Files of the novelty profile: labeled ideas as exemplars, and a calibrator."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
from pydantic import Field

from schemas.base import Noun, replace
from schemas.errors import ConfigurationError
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import content_hash
from schemas.judgement.calibration import Calibrator
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.profile import NoveltyParameters
from schemas.reasons import Reason
from tasks.calibration.calibrator_files import calibrate, load_calibrator
from tasks.calibration.examples import item_sha256, novelty_features
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness
from tasks.novelty.related_works import STAGE
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY, ExemplarShown
from tasks.text.words import shorten_words

NOVELTY = "novelty"
JUDGED_BY = f"{JUDGE_NOVELTY.name}:{JUDGE_NOVELTY.version}"


def judged_by() -> str:
    return f"{JUDGED_BY}:{JUDGE_NOVELTY.prompt_sha256}"


def check_calibrator(path: str, engine: str) -> Calibrator:
    """Load a calibrator for the novelty judgements of `engine`.

    Raises:
        ConfigurationError: it cannot be read, predicts something else, or was fitted on judgements
            of another engine or prompt.
    """
    calibrator = load_calibrator(path)
    if calibrator.target != NOVELTY or not all(1 <= one.value <= 5 for one in calibrator.labels):
        raise ConfigurationError(
            f"calibrator {path} predicts {calibrator.target}, not novelty from 1 to 5"
        )
    if calibrator.engine != engine:
        raise ConfigurationError(
            f"calibrator {path} was fitted on judgements of {calibrator.engine}, not of {engine}:"
            " fit one for it"
        )
    if calibrator.judged_by != judged_by():
        raise ConfigurationError(
            f"calibrator {path} was fitted on judgements made with another prompt of judge_novelty:"
            " fit it again"
        )
    return calibrator


def with_calibration(
    evaluation: NoveltyEvaluation, idea: Idea, path: str | None, engine: str
) -> NoveltyEvaluation:
    """Add the calibrated score, except for an idea in the calibrator's training data.

    Raises:
        ConfigurationError: see `check_calibrator`.
    """
    judgement = evaluation.judgement
    if path is None or judgement.score_1_to_5 is None:
        return evaluation
    calibrator = check_calibrator(path, engine)
    if item_sha256(idea.text) in calibrator.training_items:
        detail = (
            f"calibrator {calibrator.sha256[:12]} was fitted on this idea, so that its score is"
            " left uncalibrated"
        )
        failure = Failure(
            stage=STAGE, subject="calibration", reason=Reason.FITTED_ON_IT, detail=detail
        )
        return replace(evaluation, failures=(*evaluation.failures, failure))
    prediction = calibrate(calibrator, novelty_features(evaluation))
    calibrated_judgement = replace(
        judgement,
        calibrated_score_1_to_5=min(max(prediction.expected, 1.0), 5.0),
        calibrated_label_1_to_5=prediction.for_f1,
        calibrated_lower_1_to_5=prediction.lower,
        calibrated_upper_1_to_5=prediction.upper,
        calibrator_sha256=calibrator.sha256,
    )
    return replace(evaluation, judgement=calibrated_judgement)


PER_LABEL = 1
MOST_IDEA_WORDS = 160
MOST_REASON_WORDS = 60
FOLDS = 5
LABELS: Mapping[int, str] = {
    1: "1, not novel",
    2: "2, marginally novel",
    3: "3, somewhat novel",
    4: "4, novel",
    5: "5, highly novel",
}
_NOVEL, _NOT_NOVEL = ("novel (4 or 5)", (4, 5)), ("not novel (1 to 3)", (1, 2, 3))


_PARTS = (
    ("problem_statement", "Problem"),
    ("objective", "Objective"),
    ("solution_approach", "Solution approach"),
)


def text_of_parts(idea: Mapping[str, object]) -> str:
    parts = [
        (heading, text)
        for name, heading in _PARTS
        if isinstance(text := idea.get(name), str) and text.strip()
    ]
    parts += [
        (name, text)
        for name, text in idea.items()
        if name not in dict(_PARTS) and isinstance(text, str) and text.strip()
    ]
    return "\n\n".join(f"## {heading}\n\n{text.strip()}" for heading, text in parts)


class Exemplar(Noun):
    """A labelled idea.

    `scores` are those from 1 to 5 that its label may mean.
    """

    idea: str = Field(min_length=1)
    label: str
    reason: str
    scores: tuple[int, ...]


def fold_of(idea: str) -> int:
    return int(item_sha256(idea)[:8], 16) % FOLDS


def read_exemplars(path: str | Path) -> tuple[Exemplar, ...]:
    """Read labeled ideas from JSON lines or a JSON list.

    An entry has `idea`, `score` (1 to 5) or `novel` (true or false), and optionally `reason`.
    RINoBench's field names are accepted (`research_idea`, `novelty_score`, `novelty_reasoning`).
    Entries without a label are skipped.

    Raises:
        ConfigurationError: the file cannot be read, or an entry is no labeled idea.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"exemplars {path} cannot be read ({error.strerror}): check [novelty] exemplars"
        ) from error
    return _parse(str(path), content)


def exemplars_sha256(path: str | Path) -> str:
    return content_hash(*(one.model_dump_json() for one in read_exemplars(path)))


@functools.lru_cache(maxsize=4)
def _parse(name: str, content: bytes) -> tuple[Exemplar, ...]:
    try:
        if content.lstrip().startswith(b"["):
            entries = orjson.loads(content)
        else:
            entries = [orjson.loads(line) for line in content.splitlines() if line.strip()]
    except orjson.JSONDecodeError as error:
        raise ConfigurationError(
            f"exemplars {name} are neither JSON lines nor a JSON list ({error})"
        ) from error
    numbered_entries = enumerate(entries, start=1)
    exemplars = tuple(
        one for place, entry in numbered_entries if (one := _exemplar(entry, place, name))
    )
    if not exemplars:
        raise ConfigurationError(f"exemplars {name}: no entry has an idea with a label")
    return exemplars


def _exemplar(entry: object, place: int, name: str) -> Exemplar | None:
    if not isinstance(entry, dict):
        raise ConfigurationError(f"exemplars {name}: entry {place} is no JSON object")
    idea = entry.get("idea", entry.get("research_idea"))
    if isinstance(idea, dict):
        idea = text_of_parts(idea)
    if not isinstance(idea, str) or not idea.strip():
        raise ConfigurationError(f"exemplars {name}: entry {place} has no text under `idea`")
    score, novel = entry.get("score", entry.get("novelty_score")), entry.get("novel")
    if score is None and novel is None:
        return None
    scores: tuple[int, ...]
    if isinstance(novel, bool):
        label, scores = _NOVEL if novel else _NOT_NOVEL
    elif isinstance(score, int) and score in LABELS:
        label, scores = LABELS[score], (score,)
    else:
        raise ConfigurationError(
            f"exemplars {name}: entry {place} has neither a `score` from 1 to 5 nor `novel`"
        )
    reason = entry.get("reason", entry.get("novelty_reasoning"))
    return Exemplar(
        idea=idea.strip(),
        label=label,
        reason=reason.strip() if isinstance(reason, str) else "",
        scores=scores,
    )


async def nearest_exemplars(
    idea: str, exemplars: Sequence[Exemplar], embedder: Embedder
) -> tuple[ExemplarShown, ...]:
    """Return the nearest exemplar of every label, nearest first.

    Exemplars of the idea's own fold are excluded: when ideas of the file are scored, their labels
    must not be in the prompt.
    """
    fold = fold_of(idea)
    other_exemplars = [one for one in exemplars if fold_of(one.idea) != fold]
    similarities = (
        await Nearness(idea, embedder).of([one.idea for one in other_exemplars])
        if other_exemplars
        else []
    )
    by_label: dict[str, list[tuple[float, Exemplar]]] = {}
    ranked_pairs = sorted(
        zip(similarities, other_exemplars, strict=True), key=lambda pair: (-pair[0], pair[1].idea)
    )
    for similarity, one in ranked_pairs:
        by_label.setdefault(one.label, []).append((similarity, one))
    nearest_pairs = [pair for similar in by_label.values() for pair in similar[:PER_LABEL]]
    return tuple(
        ExemplarShown(
            idea=shorten_words(one.idea, MOST_IDEA_WORDS)[0],
            label=one.label,
            reason=shorten_words(one.reason, MOST_REASON_WORDS)[0],
            scores=one.scores,
            similarity_0_to_1=min(max(similarity, 0.0), 1.0),
        )
        for similarity, one in sorted(nearest_pairs, key=lambda pair: -pair[0])
    )


def novelty_conditions(parameters: NoveltyParameters) -> tuple[str, ...]:
    """Return hashes of the profile's files. Raises ConfigurationError for an unreadable file."""
    conditions = []
    if parameters.calibrator is not None:
        conditions.append(f"calibrator {load_calibrator(parameters.calibrator).sha256}")
    if parameters.exemplars is not None:
        conditions.append(f"exemplars {exemplars_sha256(parameters.exemplars)}")
    return tuple(conditions)
