"""The versions of ideas round by round, a lane for each idea, laid out for
`templates/lineage.svg.jinja`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboards.render.wording import shortened
from schemas.works.ideation import IdeaVersion, Move

LEFT, TOP, LANE_HEIGHT, ROUND_WIDTH, WIDTH_OF_LABELS = 230, 34, 56, 190, 220
_NAME_CHARACTERS = 30


@dataclass(frozen=True, slots=True)
class Stop:
    """A version. `label` stands beside it: its score, or why it goes no further."""

    x: float
    y: float
    label: str
    more: str
    kept: bool
    title: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """Positions in the units of the drawing; `number` keeps names apart on one page."""

    number: int
    width: int
    height: int
    lanes: tuple[tuple[float, str], ...]
    rounds: tuple[tuple[float, str], ...]
    stops: tuple[Stop, ...]
    lines: tuple[tuple[Stop, Stop], ...]
    description: str
    title: str = "Versions of each idea, round by round"
    caption: str = (
        "Each dot is a version, joined to the one it grew from, with its score and what it added."
        " Small ones went no further."
    )


def lineage(
    number: int, versions: Sequence[IdeaVersion], scores: Mapping[str, float | None]
) -> Lineage:
    """All versions of a run; scores by version, from 0 to 10."""
    places = list(dict.fromkeys((version.seed_id, version.slot) for version in versions))
    rounds = sorted({version.round for version in versions})
    stops = {
        str(version.version_id): Stop(
            x=LEFT + ROUND_WIDTH * rounds.index(version.round),
            y=TOP + LANE_HEIGHT * (places.index((version.seed_id, version.slot)) + 0.5),
            label=label(version, scores.get(version.version_id)),
            more=change(version),
            kept=version.kept,
            title=version.title or "no text",
        )
        for version in versions
    }
    return Lineage(
        number=number,
        width=LEFT + ROUND_WIDTH * max(len(rounds) - 1, 0) + WIDTH_OF_LABELS,
        height=TOP + LANE_HEIGHT * len(places) + 10,
        lanes=tuple(
            (
                TOP + LANE_HEIGHT * (place + 0.5),
                shortened(f"{seed_id}, idea {slot}", _NAME_CHARACTERS),
            )
            for place, (seed_id, slot) in enumerate(places)
        ),
        rounds=tuple(
            (float(LEFT + ROUND_WIDTH * place), f"round {each}")
            for place, each in enumerate(rounds)
        ),
        stops=tuple(stops.values()),
        lines=tuple(
            (stops[version.parent_id or ""], stops[version.version_id])
            for version in versions
            if version.parent_id in stops
        ),
        description="; ".join(
            f"{version.version_id}: {label(version, scores.get(version.version_id))}"
            for version in versions
        ),
    )


def label(version: IdeaVersion, score: float | None) -> str:
    """Its score, or why it has none."""
    if version.text is None:
        return "not made"
    if version.dropped_reason is not None:
        return version.dropped_reason.value.replace("_", " ")
    if version.move is Move.LEAD:
        return "a lead"
    return "no score" if score is None else f"{score:.1f} of 10"


def change(version: IdeaVersion) -> str:
    """What it does with the version before: the concept it brings, or its move."""
    if version.added_keyword is None:
        return version.move.value.replace("_", " ")
    given_up = f" for {version.replaced_keyword}" if version.replaced_keyword else ""
    return shortened(f"+ {version.added_keyword}{given_up}", _NAME_CHARACTERS)
