"""Page “Votes”: blind pairwise votes, and the standings of contests."""

import random
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.fields import Field, form, option_in_address, run_field, run_in_address
from dashboards.app.site import PageContent, Visit, controls, markup, with_query
from dashboards.app.site_pages.decide import PATH, parts, read_remark
from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.prose import prose
from dashboards.render.wording import first_sentences
from schemas.errors import ConfigurationError, ConflictError, RateLimitedError
from schemas.identifiers import RunId
from schemas.people.decisions import LONGEST_REASON
from schemas.people.vote_report import Board
from schemas.people.votes import Choice, Contest, Offer, Standing, Track
from schemas.run import Run
from warehouse.app.contests import Part, contests_of, describe_contender, makers, text_of
from warehouse.app.database import services_file
from warehouse.app.voting import (
    MOST_PER_DAY,
    add_contests,
    answered_in_a_day,
    cast,
    next_pair,
    offer,
    open_offer,
    skip,
    standing_of,
)
from warehouse.queries import Queries

# Of either side. The rest is folded, and there is always a fold, so that length does not show.
WORDS_SHOWN = 120
SKIP = "skip"
_ANSWERS = (
    (Choice.FIRST, "A is better", "a"),
    (Choice.SECOND, "B is better", "b"),
    (Choice.BOTH_GOOD, "Both are good", "g"),
    (Choice.BOTH_BAD, "Both are bad", "x"),
    (SKIP, "Skip", "s"),
)
_NO_CONTEST = (
    "There is nothing to vote on yet: ideas meet within a group of a run; reviews, surveys and"
    " findings once two runs made them of the same thing."
)

Sides = tuple[tuple[Part, ...], tuple[Part, ...]]


def vote(visit: Visit) -> PageContent | Response:
    """Record a vote or a skip, and redirect to the next pair.

    Raises:
        NotAllowedError: the pair was not offered to this voter.
        ConfigurationError: the form is invalid.
    """
    voter, choice, reason = visit.pseudonym, choice_of(visit), read_remark(visit)
    database = services_of(visit.lake.warehouse)
    try:
        if choice is None:
            skip(database, voter, visit.form_text("offer"))
        else:
            cast(database, voter, visit.form_text("offer"), choice, reason)
    except ConflictError:  # sent twice: only the first one counts
        pass
    except RateLimitedError as error:
        return show(visit, str(error))
    return RedirectResponse(with_query(f"{PATH}/votes", **visit.query), 303)


def show_standings(visit: Visit) -> PageContent:
    """Show the standings by votes, contest by contest."""
    head = parts(visit)
    track, run, fields = _choices(visit)
    if track is None:
        return PageContent("Standings", (pg.text(_NO_CONTEST),), head)
    contests = _contests(visit, track, run)
    standings_with_votes: list[tuple[Contest, Standing]] = []
    if services_file(visit.lake.warehouse).exists():
        database = services_of(visit.lake.warehouse)
        standings = ((contest, standing_of(database, contest)) for contest in contests)
        standings_with_votes = [
            (contest, one) for contest, one in standings if one is not None and one.vote_count
        ]
    titles = visit.lake.ask(_titles, track, None if run is None else run.run_id)
    blocks = [
        block for contest, one in standings_with_votes for block in _standing(contest, one, titles)
    ]
    none = [pg.text("Nobody has voted here yet.")]
    return PageContent("Standings", blocks or none, head + form(*fields))


def choice_of(visit: Visit) -> Choice | None:
    """Return the answer of a ballot; None: a skip.

    Raises:
        ConfigurationError: there is no such answer.
    """
    word = visit.form_text("choice")
    if word != SKIP and word not in set(Choice):
        raise ConfigurationError("there is no such answer: vote on the pair that you are shown")
    return None if word == SKIP else Choice(word)


def ballot(
    action: str,
    pair: Offer,
    sides: Sides,
    fields: Mapping[str, str],
    *,
    reason: str = "",
    check_share: float = 0.0,
) -> Markup:
    """Render both sides and the answer buttons, without naming who made them.

    Args:
        action: the URL that takes the answer.
        fields: further hidden fields.
        check_share: share of pairs that are attention checks, which voters are informed of.
    """
    folded_sides = [fold(_without_repeated_title(side)) for side in sides]
    same_start = pair.scrambled is None and folded_sides[0][0] == folded_sides[1][0]
    if pair.scrambled is not None:
        number = (Choice.FIRST, Choice.SECOND).index(pair.scrambled)
        folded_sides[number] = fold(scramble(_without_repeated_title(sides[number]), pair.offer_id))
    return controls(
        "ballot",
        action=action,
        fields={"offer": pair.offer_id, **fields},
        sides=[
            (letter, markup(blocks_of(opening)), markup(blocks_of(rest)))
            for letter, (opening, rest) in zip("AB", folded_sides, strict=True)
        ],
        alike=same_start,
        answers=_ANSWERS,
        reason=reason,
        longest=LONGEST_REASON,
        checks=round(1 / check_share) if check_share else 0,
    )


def blocks_of(texts: Sequence[Part]) -> Iterator[pg.Block]:
    """Yield the parts of an untrusted text, one below the other."""
    for part in texts:
        if part.heading:
            yield pg.heading(part.heading, level=3)
        yield from prose(part.text)


def fold(
    texts: Sequence[Part], words: int = WORDS_SHOWN
) -> tuple[list[Part], list[Part]]:  # fmt: skip
    """Split texts after a sentence near `words` words: opening and rest."""
    opening: list[Part] = []
    rest: list[Part] = []
    for part in _paragraphs(texts):
        if rest:
            rest.append(part)
            continue
        begin, end = first_sentences(part.text, words, at_least_one=not opening)
        words -= len(begin.split())
        if begin:
            opening.append(Part(part.heading, begin))
        if end or not begin:
            rest.append(Part("" if begin else part.heading, end))
    while rest and opening and opening[-1].text.startswith("#"):  # a heading of the folded text
        rest.insert(0, opening.pop())
    return opening, rest


def scramble(texts: Sequence[Part], seed: str) -> tuple[Part, ...]:
    """Shuffle the words of texts, in the same order for the same seed."""
    draw = random.Random(seed)  # noqa: S311 no secret

    def shuffled(words: str) -> str:
        word_list = words.split()
        draw.shuffle(word_list)
        return " ".join(word_list)

    return tuple(Part(shuffled(part.heading), shuffled(part.text)) for part in texts)


def _paragraphs(texts: Sequence[Part]) -> Iterator[Part]:
    for part in texts:
        heading = part.heading
        for paragraph in part.text.strip().split("\n\n"):
            yield Part(heading, paragraph)
            heading = ""


def _without_repeated_title(texts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Drop a first line that repeats the heading, as ideas often do."""
    if not texts or not texts[0].heading:
        return texts
    heading, text = texts[0]
    first, _, further = text.lstrip().partition("\n")
    is_repeated = first.strip("#* \t").casefold() == " ".join(heading.split()).casefold()
    return (
        (Part(heading, further.lstrip()), *texts[1:]) if is_repeated and further.strip() else texts
    )


def show(visit: Visit, note: str = "") -> PageContent:
    """Show a pair that the voter has not seen.

    Args:
        note: why the last answer was refused.
    """
    voter, warehouse = visit.pseudonym, visit.lake.warehouse
    head = parts(visit)
    track, run, fields = _choices(visit)
    if track is None:
        return PageContent("Vote", (pg.text(_NO_CONTEST),), head)
    contests = _contests(visit, track, run)
    current_offer = _next_offer(visit, voter, contests)
    database, settings = services_of(warehouse), warehouse.settings.voting
    answered_count = answered_in_a_day(database, voter)
    pair = Markup()
    if current_offer is not None:
        first, second = (
            visit.lake.ask(text_of, current_offer.track, side.contender)
            for side in (current_offer.first, current_offer.second)
        )
        pair = ballot(
            with_query(f"{PATH}/votes", **visit.query),
            current_offer,
            (first, second),
            {},
            reason=visit.form_text("reason"),
            check_share=settings.check_share,
        )
    choosing = form(*fields)
    vote_markup = controls(
        "votes",
        parts=head,
        choosing=choosing,
        chosen=track if run is None else f"{track} of {run.run_id}",
        opened=not answered_count,
        answered=answered_count,
        most=MOST_PER_DAY,
        note=note,
        pair=pair,
    )
    return PageContent("Vote", (), vote_markup)


def _next_offer(visit: Visit, voter: str, contests: tuple[Contest, ...]) -> Offer | None:
    """Return the voter's open pair, else a new one; None: all were seen."""
    warehouse = visit.lake.warehouse
    database = services_of(warehouse)
    current = open_offer(database, voter, contests)
    if current is not None:
        return current
    add_contests(database, contests)
    next_contest = next_pair(database, voter, contests)
    if next_contest is None:
        return None
    contest, names = next_contest
    by_name = {contender.name: contender for contender in contest.contenders}
    one, other = (
        describe_contender(by_name[name], visit.lake.ask(text_of, contest.track, by_name[name]))
        for name in names
    )
    try:
        return offer(database, voter, contest, (one, other), warehouse.settings.voting)
    except ConflictError:  # the voter opened a pair in another window
        return open_offer(database, voter, contests)


def _choices(visit: Visit) -> tuple[Track | None, Run | None, list[Field | None]]:
    """Return track, run and controls of a vote; no track: there are no contests."""
    run = run_in_address(visit)
    tracks = [track for track in Track if visit.lake.exists and _contests(visit, track, run)]
    if not tracks:
        return None, None, []
    track = Track(option_in_address(visit, "track", list(Track), tracks[0]))
    options = [(each.value, each.capitalize()) for each in Track]
    fields: list[Field | None] = [Field("track", "What meets", track, tracks[0], options)]
    if track is not Track.IDEAS or run is None:
        return track, None, fields
    return track, run, [*fields, run_field(visit, run)]


def _contests(visit: Visit, track: Track, run: Run | None) -> tuple[Contest, ...]:
    if track is Track.IDEAS and run is None:
        return ()
    return visit.lake.ask(contests_of, track, None if run is None else run.run_id)


def _titles(queries: Queries, track: Track, run_id: RunId | None) -> dict[str, str]:
    """Return display names by contender: titles of ideas, else engine and profile."""
    if run_id is not None:
        rows = queries.rows("ideas_of_run", run_id=run_id)
        return {f"{run_id}/{row['idea_id']}": row["title"] for row in rows}
    runs = {
        run_id: f"{engine_and_profile[Board.ENGINES]}, {engine_and_profile[Board.PROFILES]}, {run_id}"
        for run_id, engine_and_profile in makers(queries).items()
    }
    return {
        contender.name: runs.get(contender.run_id, contender.run_id)
        for contest in contests_of(queries, track)
        for contender in contest.contenders
    }


def _standing(
    contest: Contest, standing: Standing, titles: Mapping[str, str]
) -> Iterator[pg.Block]:
    yield pg.heading(contest.group)
    yield pg.text(f"{figures.plural(standing.vote_count, 'vote')}, attention checks left out")
    columns = ("Rank:", "What", "Strength:", "from:", "to:", "Elo:", "Votes:")
    yield pg.table(
        columns,
        (
            (one.rank, titles.get(one.name, one.name), figures.decimals(one.strength), figures.decimals(one.lower),
             figures.decimals(one.upper), round(one.elo), one.vote_count)
            for one in standing.strengths
        ),
    )  # fmt: skip
