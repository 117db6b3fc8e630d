"""What the report on a ranking shows, put together from the warehouse's answers."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dashboards.render.charts.interval_chart import interval_chart
from dashboards.render.page import Figure
from dashboards.render.wording import reason, what_leads_among
from dashboards.views.sensitivity import Sensitivity, sensitivity_of
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import GroupSummary, Match, RankingHead, Rating, Winner
from schemas.run import Run
from schemas.text import patterns
from warehouse.answers import RankedIdea
from warehouse.kinds.rankings.queries import (
    compared_across,
    group_summaries,
    matches_of,
    ranked_by,
    ranking_shown,
    ratings_of,
)
from warehouse.queries import Queries

OVERALL = "overall"
MATRIX_IDEAS = 12
"""Ideas of a group shown in the match matrix, the best: wider tables are for SQL."""
TITLES_OF_FIRST = 2
"""Ideas named that share the first rank of a group; more are counted."""
BEST_ACROSS = 20
"""Ideas shown of all groups together."""
DUELS_SHOWN = 4
"""Ideas of which it is said why they beat the next one below them."""
_GROUPS_AT_ONCE = 20
_LETTERED = patterns.bounded(r"\b([Ii])dea ([AB])\b")


@dataclass(frozen=True, slots=True)
class Profile:
    """One idea's rank along each dimension, in the order of the dimensions; `–` without one."""

    title: str
    ranks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """One idea's overall verdicts against each of the others: `2–0`, `2 tied`, `·` where they did
    not meet.
    """

    place: int
    title: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the winner of a duel won along one dimension; Markdown with rendered citations, the
    winner called this idea.
    """

    dimension: str
    text: str


@dataclass(frozen=True, slots=True)
class Duel:
    """An idea and one below it, and what was said for the better one."""

    better: str
    worse: str
    tally: str
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class RankedGroupPart:
    """The ranking of one group."""

    number: int
    name: str
    ideas: tuple[RankedIdea, ...]
    summary: GroupSummary | None
    chart: Figure | None
    profiles: tuple[Profile, ...]
    matrix: tuple[MatrixRow, ...]
    duels: tuple[Duel, ...]
    unscored: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class RankingPage:
    """Everything `ranking.md.jinja` prints."""

    run: Run
    head: RankingHead
    what_leads: str
    by_matches: bool
    groups: tuple[RankedGroupPart, ...]
    sensitivity: Sensitivity | None
    across: str | None
    best_across: tuple[RankedIdea, ...]

    @property
    def firsts(self) -> tuple[tuple[str, int, str], ...]:
        """Of every group: its name, how many ideas it has, and who is first."""
        return tuple((group.name, len(group.ideas), _first(group.ideas)) for group in self.groups)


def ranking_page(
    queries: Queries, run_id: RunId, head: RankingHead | None = None
) -> RankingPage | None:
    """The ranking `head` of a run, or the one that `group_rankings` shows; None when the run has
    none.

    Raises:
        ConfigurationError: no such published run.
    """
    head = head or ranking_shown(queries, run_id)
    if head is None:
        return None
    ranked = ranked_by(queries, head)
    return RankingPage(
        run=queries.run(run_id),
        head=head,
        what_leads=what_leads_among(ranked),
        by_matches=any(idea.by_matches for idea in ranked),
        groups=tuple(_groups(queries, head)),
        sensitivity=sensitivity_of(queries.idea_scores(run_id)),
        across=_across(queries, head),
        best_across=_best_across(queries, head),
    )


def _groups(queries: Queries, head: RankingHead) -> Iterator[RankedGroupPart]:
    summaries = {summary.group: summary for summary in group_summaries(queries, head)}
    ratings: dict[str, list[Rating]] = defaultdict(list)
    group_of: dict[IdeaId, str] = {}
    for rating in ratings_of(queries, head, head.method):
        ratings[rating.group].append(rating)
        group_of[rating.idea_id] = rating.group
    members: dict[str, list[RankedIdea]] = defaultdict(list)
    for idea in ranked_by(queries, head):
        members[group_of.get(idea.idea_id, idea.group or "")].append(idea)
    names = list(members)
    for start in range(0, len(names), _GROUPS_AT_ONCE):
        part = names[start : start + _GROUPS_AT_ONCE]
        matches: dict[str, list[Match]] = defaultdict(list)
        for match in matches_of(queries, head, part):
            matches[match.group].append(match)
        for number, name in enumerate(part, start=start + 1):
            yield _part(
                number,
                name,
                members[name],
                summaries.get(name),
                ratings[name],
                matches[name],
                head.dimensions,
            )


def _across(queries: Queries, head: RankingHead) -> str | None:
    """Whether strengths compare across groups; None where there is one group."""
    if head.group_count < 2:
        return None
    said = compared_across(group_summaries(queries, head))
    return said[:1].upper() + said[1:]


def _best_across(queries: Queries, head: RankingHead) -> tuple[RankedIdea, ...]:
    found = [idea for idea in ranked_by(queries, head) if idea.rank_across_groups is not None]
    found.sort(key=lambda idea: -(idea.strength_across_groups or 0.0))
    return tuple(found[:BEST_ACROSS])


def _first(ideas: Sequence[RankedIdea]) -> str:
    leading = [_title(idea) for idea in ideas if idea.rank == 1]
    if len(leading) > TITLES_OF_FIRST:
        return f"{len(leading)} ideas share the first rank"
    return "; ".join(leading) or "nobody is ranked"


def _part(
    number: int,
    name: str,
    ideas: Sequence[RankedIdea],
    summary: GroupSummary | None,
    ratings: Sequence[Rating],
    matches: Sequence[Match],
    dimensions: Sequence[str],
) -> RankedGroupPart:
    shown = [idea for idea in ideas if idea.strength is not None][:MATRIX_IDEAS]
    ordered = [idea for idea in shown if idea.by_matches]  # the scores of the others order them
    unscored = Counter(
        reason(match.unscored_reason) for match in matches if match.unscored_reason is not None
    )
    return RankedGroupPart(
        number=number,
        name=name or "Ideas without a group",
        ideas=tuple(ideas),
        summary=summary,
        chart=interval_chart(f"intervals-{number}", ideas),
        profiles=_profiles(ideas, ratings, dimensions),
        matrix=_matrix(shown, matches),
        duels=tuple(_duels(ordered, matches))[:DUELS_SHOWN],
        unscored=tuple(unscored.most_common()),
    )


def _profiles(
    ideas: Sequence[RankedIdea], ratings: Sequence[Rating], dimensions: Sequence[str]
) -> tuple[Profile, ...]:
    ranks = {(rating.idea_id, rating.dimension): rating.rank for rating in ratings}
    return tuple(
        Profile(
            _title(idea),
            tuple(_dash(ranks.get((idea.idea_id, dimension))) for dimension in dimensions),
        )
        for idea in ideas
        if idea.strength is not None
    )


def _matrix(ideas: Sequence[RankedIdea], matches: Sequence[Match]) -> tuple[MatrixRow, ...]:
    won: Counter[tuple[IdeaId, IdeaId]] = Counter()
    tied: Counter[frozenset[IdeaId]] = Counter()
    for match in matches:
        pair = (match.first_idea_id, match.second_idea_id)
        if match.dimension == OVERALL and match.winner is not None:
            if match.winner is Winner.TIE:
                tied[frozenset(pair)] += 1
            else:
                won[pair if match.winner is Winner.FIRST else pair[::-1]] += 1

    def cell(one: IdeaId, other: IdeaId) -> str:
        ties = tied[frozenset((one, other))]
        wins, losses = won[one, other], won[other, one]
        if one == other or wins + losses + ties == 0:
            return "·"
        if wins + losses == 0:
            return f"{ties} tied"
        return f"{wins}–{losses}" + (f", {ties} tied" if ties else "")

    return tuple(
        MatrixRow(place, _title(idea), tuple(cell(idea.idea_id, other.idea_id) for other in ideas))
        for place, idea in enumerate(ideas, start=1)
    )


def _duels(ideas: Sequence[RankedIdea], matches: Sequence[Match]) -> Iterator[Duel]:
    """Each idea against the next below it that it beat, as far as any."""
    met: dict[frozenset[IdeaId], list[Match]] = defaultdict(list)
    for match in matches:
        if match.winner is not None:
            met[frozenset((match.first_idea_id, match.second_idea_id))].append(match)
    for place, better in enumerate(ideas):
        below = (idea for idea in ideas[place + 1 :] if idea.rank != better.rank)
        found = (
            _duel(better, worse, met[frozenset((better.idea_id, worse.idea_id))]) for worse in below
        )
        first = next((duel for duel in found if duel is not None), None)
        if first is not None:
            yield first


def _duel(better: RankedIdea, worse: RankedIdea, matches: Sequence[Match]) -> Duel | None:
    """What judges said for `better`, the whole first; None when it never won over `worse` on the
    whole.
    """
    reasons: dict[str, Reason] = {}
    wins: Counter[str] = Counter()
    for match in matches:
        letter, idea_id = (
            ("A", match.first_idea_id)
            if match.winner is Winner.FIRST
            else ("B", match.second_idea_id)
        )
        if match.winner is not Winner.TIE and idea_id == better.idea_id:
            wins[match.dimension] += 1
            if match.rationale.strip():
                reasons.setdefault(
                    match.dimension,
                    Reason(match.dimension.replace("_", " "), _named(match.rationale, letter)),
                )
    if not wins[OVERALL]:
        return None
    ordered = sorted(
        reasons, key=lambda dimension: (dimension != OVERALL, -wins[dimension], dimension)
    )
    overall = sum(match.dimension == OVERALL for match in matches)
    return Duel(
        better=_title(better),
        worse=_title(worse),
        tally=f"{wins[OVERALL]} of {overall} overall verdicts",
        reasons=tuple(reasons[dimension] for dimension in ordered),
    )


def _named(rationale: str, winner: str) -> str:
    """A judge knows the ideas as A and B, in the order it was shown them; a reader knows which of
    them the text speaks for.
    """

    def name(found: patterns.Match[str]) -> str:
        words = "this idea" if found[2].upper() == winner else "the other idea"
        return words.capitalize() if found[1] == "I" else words

    return _LETTERED.sub(name, rationale)


def _title(idea: RankedIdea) -> str:
    return idea.title.strip() or idea.idea_id


def _dash(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
