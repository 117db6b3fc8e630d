"""Report on a ranking by matches."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import interval_chart
from dashboards.render.charts.score_chart import NO_GROUP
from dashboards.render.prose import prose_line
from dashboards.views.sensitivity import sensitivity_blocks, sensitivity_of
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import (
    Grouping,
    GroupSummary,
    Match,
    RankingHead,
    Rating,
    RatingMethod,
    Winner,
)
from schemas.text import patterns
from warehouse.kinds.rankings.queries import (
    comparability,
    default_ranking,
    group_summaries,
    ideas_by_ranking,
    matches_of,
    ratings_of,
)
from warehouse.queries import Queries
from warehouse.row_models import RankedIdea

OVERALL = "overall"
# Best ideas of a group in its match matrix; wider tables are for SQL.
MATRIX_IDEAS = 12
# More ideas that share the first rank are only counted.
TITLES_OF_FIRST = 2
# Rows of the table over all groups.
BEST_ACROSS = 20
# Ideas with reasons why they beat one ranked below them.
DUELS_SHOWN = 4
# With more groups, a table of leaders comes first.
GROUPS_AT_A_GLANCE = 2
_GROUPS_AT_ONCE = 20
_RANGES = (
    " holds every rank that the 95 % intervals allow. Both orders in which a pair was shown are one"
    " observation: two ideas that met once, won 2–0, still have the range 1–2. An idea without a"
    " scored match has no rank."
)
_IDEA_LETTER = patterns.bounded(r"\b([Ii])dea ([AB])\b")


def ranking_view(
    queries: Queries, run_id: RunId, head: RankingHead | None = None
) -> pg.Page | None:
    """Return leaderboards, dimension profiles, match matrices and reasons.

    Args:
        head: None: the ranking that `group_rankings` shows; without any, None is returned.

    Raises:
        ConfigurationError: there is no such published run.
    """
    head = head or default_ranking(queries, run_id)
    if head is None:
        return None
    title = f"Ranking of run {run_id}"
    return pg.Page(pg.line(title), tuple(_blocks(queries, run_id, head)), title)


def _blocks(queries: Queries, run_id: RunId, head: RankingHead) -> Iterator[pg.Block]:
    run, ranked_ideas = queries.run(run_id), ideas_by_ranking(queries, head)
    clusters = head.grouping is Grouping.CLUSTERS
    grouping = "found by what the ideas are about" if clusters else "as given"
    method = "Elo" if head.method is RatingMethod.ELO else "Bradley–Terry"
    votes = f"; {figures.plural(head.vote_count, 'human vote')}" if head.vote_count else ""
    yield pg.text(
        f"{figures.plural(head.idea_count, 'idea')} in"
        f" {figures.plural(head.group_count, 'group')}, {grouping}; ratings: {method}{votes}. Until ",
        *(head.finished_at, "."),
    )
    yield pg.facts(
        pg.line("Engine ", pg.code(head.engine)),
        pg.line("profile ", pg.code(head.profile)),
        f"seed {head.seed}",
        pg.code(head.ranking_id),
    )
    yield from map(pg.note, wording.banners(head.engine, run.literature, run.literature_name))
    if head.incomplete_reason is not None:
        yield pg.note(
            f"The ranking ended early: {wording.reason(head.incomplete_reason)}. What is missing is"
            " unscored, not lost; the same command resumes it."
        )
    range_of = "The range next to a rank"
    if any(idea.by_matches for idea in ranked_ideas):
        range_of = "Ideas that the matches cannot separate share a rank; the range next to it"
    comparable = comparability(group_summaries(queries, head)) if head.group_count > 1 else ""
    yield pg.text(
        f"Ideas of a group met in pairs. {range_of}{_RANGES} {wording.what_leads_among(ranked_ideas)}"
        + (f" {comparable[:1].upper()}{comparable[1:]}." if comparable else "")
    )
    yield from _across_groups(queries, head)
    groups = _members(queries, head, ranked_ideas)
    if len(groups) > GROUPS_AT_A_GLANCE:
        yield pg.heading("Who is first")
        firsts = [(name or NO_GROUP, len(ideas), _first(ideas)) for name, ideas in groups.items()]
        yield pg.table(("Group", "Ideas:", "First"), firsts)
    yield pg.heading("Groups")
    if not groups:
        yield pg.text("The ranking has no group.")
    yield from _groups(queries, head, groups)
    yield from sensitivity_blocks(sensitivity_of(queries.idea_scores(run_id)))


def _members(
    queries: Queries, head: RankingHead, ideas: Iterable[RankedIdea]
) -> dict[str, list[RankedIdea]]:
    group_of = {each.idea_id: each.group for each in ratings_of(queries, head, head.method)}
    members: dict[str, list[RankedIdea]] = defaultdict(list)
    for idea in ideas:
        members[group_of.get(idea.idea_id, idea.group or "")].append(idea)
    return members


def _groups(
    queries: Queries, head: RankingHead, groups: Mapping[str, list[RankedIdea]]
) -> Iterator[pg.Block]:
    summaries = {summary.group: summary for summary in group_summaries(queries, head)}
    ratings: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings_of(queries, head, head.method):
        ratings[rating.group].append(rating)
    names = list(groups)
    for start in range(0, len(names), _GROUPS_AT_ONCE):
        part = names[start : start + _GROUPS_AT_ONCE]
        matches: dict[str, list[Match]] = defaultdict(list)
        for match in matches_of(queries, head, part):
            matches[match.group].append(match)
        for number, name in enumerate(part, start=start + 1):
            yield pg.heading(name or NO_GROUP, level=3)
            if (chart := interval_chart(f"intervals-{number}", groups[name])) is not None:
                yield chart
            yield _leaderboard(groups[name])
            yield from _profiles(groups[name], ratings[name], head.dimensions)
            yield from _meetings(groups[name], matches[name])
            if name in summaries:
                yield _summary(summaries[name], matches[name])


def _across_groups(queries: Queries, head: RankingHead) -> Iterator[pg.Block]:
    ideas = [one for one in ideas_by_ranking(queries, head) if one.rank_across_groups is not None]
    ideas.sort(key=lambda idea: -(idea.strength_across_groups or 0.0))
    if not ideas:
        return
    yield pg.heading("The best over all groups")
    columns = ("Rank:", "Idea", "Group", "Strength over all groups:", "95 % interval")
    yield pg.table(columns, (
        (idea.rank_across_groups, _title(idea), idea.group or NO_GROUP,
         figures.decimals(idea.strength_across_groups),
         figures.between(idea.strength_across_groups_lower, idea.strength_across_groups_upper))
        for idea in ideas[:BEST_ACROSS]
    ))  # fmt: skip


def _leaderboard(ideas: Sequence[RankedIdea]) -> pg.Table:
    rows = []
    for idea in ideas:
        reason = idea.unranked_reason
        if reason is None and idea.basis == "scores":
            reason = wording.score_placement(idea)
        lower, upper = idea.strength_lower, idea.strength_upper
        rows.append(
            (
                idea.rank,
                None if idea.best_rank is None else f"{idea.best_rank}–{idea.worst_rank}",
                _title(idea) + (f" – {reason}" if reason is not None else ""),
                "unranked" if idea.strength is None else figures.decimals(idea.strength),
                figures.between(lower, upper),
                None if idea.wins is None else f"{idea.wins:g}",
                None if idea.losses is None else f"{idea.losses:g}",
                idea.ties,
                idea.unscored_match_count,
                figures.mean(idea.score),
            )
        )
    columns = ("Rank:", "Range", "Idea", "Strength:", "95 % interval", "Won:", "Lost:", "Tied:")
    return pg.table((*columns, "Unscored:", "Score:"), rows)


def _profiles(
    ideas: Sequence[RankedIdea], ratings: Sequence[Rating], dimensions: Sequence[str]
) -> Iterator[pg.Block]:
    ranks = {(rating.idea_id, rating.dimension): rating.rank for rating in ratings}
    rows = [
        (_title(idea), *(ranks.get((idea.idea_id, each)) for each in dimensions))
        for idea in ideas
        if idea.strength is not None
    ]
    if rows:
        yield pg.text("Ranks along each dimension:")
        yield pg.table(("Idea", *(f"{each.replace('_', ' ')}:" for each in dimensions)), rows)


def _meetings(ideas: Sequence[RankedIdea], matches: Sequence[Match]) -> Iterator[pg.Block]:
    """Yield verdicts between the best ideas, and why some beat those below."""
    rated_ideas = [idea for idea in ideas if idea.strength is not None]
    leading_ideas = rated_ideas[:MATRIX_IDEAS]
    if len(leading_ideas) > 1:
        best = (
            f" (the best {len(leading_ideas)} ideas)"
            if len(rated_ideas) > len(leading_ideas)
            else ""
        )
        yield pg.text(f"Overall verdicts, won and lost by the idea of the row{best}:")
        places = (f"{place}:" for place in range(1, len(leading_ideas) + 1))
        yield pg.table((":", "Idea", *places), _matrix(leading_ideas, matches))
    ideas_by_matches = [
        idea for idea in leading_ideas if idea.by_matches
    ]  # the others are ordered by scores
    for place, duel in enumerate(islice(_duels(ideas_by_matches, matches), DUELS_SHOWN)):
        if place == 0:
            yield pg.text("Why an idea beats another below it; “this idea” is the better one:")
        yield from duel


def _summary(summary: GroupSummary, matches: Sequence[Match]) -> pg.Block:
    unscored_reasons = Counter(
        wording.reason(match.unscored_reason)
        for match in matches
        if match.unscored_reason is not None
    )
    why = ", ".join(f"{times:,}: {reason}" for reason, times in unscored_reasons.most_common())
    end_note = f", {summary.ended_because}" if summary.ended_because else ""
    bias = "Position bias was not measured."
    if summary.position_bias is not None:
        bias = (
            f"Position bias {figures.with_sign(summary.position_bias)} (+1: the idea shown first always"
            " wins, 0: order does not matter)."
        )
    if summary.order_agreement_0_to_1 is not None:
        share = figures.percent(summary.order_agreement_0_to_1)
        bias += f" {share} of pairs were judged alike in both orders."
    if summary.island_count > 1:
        bias += (
            f" No chain of matches joins the {summary.island_count} parts of this group: ranks"
            " compare within a part only."
        )
    return pg.text(
        f"{figures.plural(summary.match_count, 'verdict')}, {summary.unscored_match_count:,}"
        f" unscored{f' ({why})' if why else ''}; schedule:"
        f" {summary.schedule.replace('_', ' ')}{end_note}. {bias}"
    )


def _first(ideas: Sequence[RankedIdea]) -> str:
    leading_titles = [_title(idea) for idea in ideas if idea.rank == 1]
    if len(leading_titles) > TITLES_OF_FIRST:
        return f"{len(leading_titles)} ideas share the first rank"
    return "; ".join(leading_titles) or "nobody is ranked"


def _matrix(ideas: Sequence[RankedIdea], matches: Sequence[Match]) -> Iterator[list[pg.Part]]:
    """Yield results of each pair: `2–0`, `2 tied`, or `·` if they did not meet."""
    wins_over: Counter[tuple[IdeaId, IdeaId]] = Counter()
    ties_of: Counter[frozenset[IdeaId]] = Counter()
    for match in matches:
        pair = (match.first_idea_id, match.second_idea_id)
        if match.dimension == OVERALL and match.winner is not None:
            if match.winner is Winner.TIE:
                ties_of[frozenset(pair)] += 1
            else:
                wins_over[pair if match.winner is Winner.FIRST else pair[::-1]] += 1

    def cell(one: IdeaId, other: IdeaId) -> str:
        ties = ties_of[frozenset((one, other))]
        wins, losses = wins_over[one, other], wins_over[other, one]
        if one == other or wins + losses + ties == 0:
            return "·"
        if wins + losses == 0:
            return f"{ties} tied"
        return f"{wins}–{losses}" + (f", {ties} tied" if ties else "")

    for place, idea in enumerate(ideas, start=1):
        yield [place, _title(idea), *(cell(idea.idea_id, other.idea_id) for other in ideas)]


def _duels(ideas: Sequence[RankedIdea], matches: Sequence[Match]) -> Iterator[tuple[pg.Block, ...]]:
    """Yield, for each idea, the next one below that it beat, with reasons."""
    matches_of_pair: dict[frozenset[IdeaId], list[Match]] = defaultdict(list)
    for match in matches:
        if match.winner is not None:
            matches_of_pair[frozenset((match.first_idea_id, match.second_idea_id))].append(match)
    for place, better in enumerate(ideas):
        lower_ideas = (idea for idea in ideas[place + 1 :] if idea.rank != better.rank)
        duels = (
            _duel(better, worse, matches_of_pair[frozenset((better.idea_id, worse.idea_id))])
            for worse in lower_ideas
        )
        yield from islice(filter(None, duels), 1)


def _duel(better: RankedIdea, worse: RankedIdea, matches: Sequence[Match]) -> tuple[pg.Block, ...]:
    """Return the reasons for `better`, overall first; empty if it never won overall."""
    reasons: dict[str, str] = {}
    wins: Counter[str] = Counter()
    for match in matches:
        first = match.winner is Winner.FIRST
        idea_id = match.first_idea_id if first else match.second_idea_id
        if match.winner is not Winner.TIE and idea_id == better.idea_id:
            wins[match.dimension] += 1
            if match.rationale.strip():
                reasons.setdefault(
                    match.dimension, _name_ideas(match.rationale, "A" if first else "B")
                )
    if not wins[OVERALL]:
        return ()
    dimensions = sorted(
        reasons, key=lambda dimension: (dimension != OVERALL, -wins[dimension], dimension)
    )
    overall = sum(match.dimension == OVERALL for match in matches)
    tally = f" ({wins[OVERALL]} of {overall} overall verdicts)"
    return (
        pg.text(pg.strong(_title(better)), " over ", pg.strong(_title(worse)), tally),
        *pg.bullets(
            pg.line(f"{dimension.replace('_', ' ')}: ", prose_line(reasons[dimension]))
            for dimension in dimensions
        ),
    )


def _name_ideas(rationale: str, winner: str) -> str:
    """Replace A and B, a judge's names by display order, by “this/the other idea”."""

    def name(match: patterns.Match[str]) -> str:
        words = "this idea" if match[2].upper() == winner else "the other idea"
        return words.capitalize() if match[1] == "I" else words

    return _IDEA_LETTER.sub(name, rationale)


def _title(idea: RankedIdea) -> str:
    return idea.title.strip() or idea.idea_id
