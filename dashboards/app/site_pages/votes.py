"""Votes: two things side by side, blind; and how the contests stand."""

import random
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.choosing import Field, chosen, chosen_run, form, run_field
from dashboards.app.site import Shown, Visit, controls, markup, with_query
from dashboards.app.site_pages.decide import PATH, parts, written
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

WORDS_SHOWN = 120
"""Of either side; the rest is folded, also where there is none, so that length does not show."""
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


def vote(visit: Visit) -> Shown | Response:
    """Take a vote or a skip, and lead to the next pair.

    Raises:
        NotAllowedError: the pair was not offered to this voter.
        ConfigurationError: the form is none of this page.
    """
    voter, choice, reason = visit.pseudonym, choice_of(visit), written(visit)
    database, settings = services_of(visit.lake.warehouse), visit.lake.warehouse.settings.voting
    try:
        if choice is None:
            skip(database, voter, visit.word("offer"), settings)
        else:
            cast(database, voter, visit.word("offer"), choice, reason, settings)
    except ConflictError:  # sent twice: the first counts, and the next pair is shown
        pass
    except RateLimitedError as error:
        return show(visit, str(error))
    return RedirectResponse(with_query(f"{PATH}/votes", **visit.query), 303)


def show_standings(visit: Visit) -> Shown:
    """What the votes so far come to, contest by contest."""
    head = parts(visit)
    track, run, fields = _chosen(visit)
    if track is None:
        return Shown("How contests stand", (pg.text(_NO_CONTEST),), head)
    found = _contests(visit, track, run)
    voted: list[tuple[Contest, Standing]] = []
    if services_file(visit.lake.warehouse).exists():
        database = services_of(visit.lake.warehouse)
        standings = ((contest, standing_of(database, contest)) for contest in found)
        voted = [(contest, one) for contest, one in standings if one is not None and one.vote_count]
    titles = visit.lake.ask(_titles, track, None if run is None else run.run_id)
    blocks = [block for contest, one in voted for block in _standing(contest, one, titles)]
    none = [pg.text("Nobody has voted here yet.")]
    return Shown("How contests stand", blocks or none, head + form(*fields))


def choice_of(visit: Visit) -> Choice | None:
    """The answer that a form of `ballot` sends; None: a skip.

    Raises:
        ConfigurationError: it is none.
    """
    word = visit.word("choice")
    if word != SKIP and word not in set(Choice):
        raise ConfigurationError("there is no such answer: vote on the pair that you are shown")
    return None if word == SKIP else Choice(word)


def ballot(
    action: str,
    found: Offer,
    sides: Sides,
    fields: Mapping[str, str],
    *,
    reason: str = "",
    check_share: float = 0.0,
) -> Markup:
    """Both sides and the buttons that answer; nothing in it says who made which, or how.

    Args:
        action: the address that takes the answer.
        fields: further ones that the form sends.
        check_share: how many pairs of one are attention checks, which voters are told.
    """
    opened = [folded(_titled_once(side)) for side in sides]
    alike = found.scrambled is None and opened[0][0] == opened[1][0]
    if found.scrambled is not None:
        number = (Choice.FIRST, Choice.SECOND).index(found.scrambled)
        opened[number] = folded(scrambled(_titled_once(sides[number]), found.offer_id))
    return controls(
        "ballot",
        action=action,
        fields={"offer": found.offer_id, **fields},
        sides=[
            (letter, markup(blocks_of(opening)), markup(blocks_of(rest)))
            for letter, (opening, rest) in zip("AB", opened, strict=True)
        ],
        alike=alike,
        answers=_ANSWERS,
        reason=reason,
        longest=LONGEST_REASON,
        checks=round(1 / check_share) if check_share else 0,
    )


def blocks_of(said: Sequence[Part]) -> Iterator[pg.Block]:
    """Parts of a text that nobody has vouched for, one below the other."""
    for part in said:
        if part.heading:
            yield pg.heading(part.heading, level=3)
        yield from prose(part.text)


def folded(
    said: Sequence[Part], words: int = WORDS_SHOWN
) -> tuple[list[Part], list[Part]]:  # fmt: skip
    """What is read at once, which ends with a sentence, and the rest."""
    opening: list[Part] = []
    rest: list[Part] = []
    for part in _paragraphs(said):
        if rest:
            rest.append(part)
            continue
        begin, end = first_sentences(part.text, words, at_least_one=not opening)
        words -= len(begin.split())
        if begin:
            opening.append(Part(part.heading, begin))
        if end or not begin:
            rest.append(Part("" if begin else part.heading, end))
    while rest and opening and opening[-1].text.startswith("#"):  # a heading of what is folded
        rest.insert(0, opening.pop())
    return opening, rest


def scrambled(said: Sequence[Part], seed: str) -> tuple[Part, ...]:
    """The same words in an order that says nothing; the same one each time the pair is drawn."""
    draw = random.Random(seed)  # noqa: S311 no secret

    def shuffled(words: str) -> str:
        listed = words.split()
        draw.shuffle(listed)
        return " ".join(listed)

    return tuple(Part(shuffled(part.heading), shuffled(part.text)) for part in said)


def _paragraphs(said: Sequence[Part]) -> Iterator[Part]:
    for part in said:
        heading = part.heading
        for paragraph in part.text.strip().split("\n\n"):
            yield Part(heading, paragraph)
            heading = ""


def _titled_once(said: tuple[Part, ...]) -> tuple[Part, ...]:
    """Ideas often begin with the title that stands above them."""
    if not said or not said[0].heading:
        return said
    heading, text = said[0]
    first, _, further = text.lstrip().partition("\n")
    same = first.strip("#* \t").casefold() == " ".join(heading.split()).casefold()
    return (Part(heading, further.lstrip()), *said[1:]) if same and further.strip() else said


def show(visit: Visit, note: str = "") -> Shown:
    """A pair that the voter has not seen; `note`: why the last answer was not taken."""
    voter, warehouse = visit.pseudonym, visit.lake.warehouse
    head = parts(visit)
    track, run, fields = _chosen(visit)
    if track is None:
        return Shown("Vote", (pg.text(_NO_CONTEST),), head)
    contests = _contests(visit, track, run)
    found = _offered(visit, voter, contests)
    database, settings = services_of(warehouse), warehouse.settings.voting
    answered = answered_in_a_day(database, voter)
    pair = Markup()
    if found is not None:
        first, second = (
            visit.lake.ask(text_of, found.track, side.contender)
            for side in (found.first, found.second)
        )
        pair = ballot(
            with_query(f"{PATH}/votes", **visit.query),
            found,
            (first, second),
            {},
            reason=visit.word("reason"),
            check_share=settings.check_share,
        )
    choosing = form(*fields)
    above = controls(
        "votes",
        parts=head,
        choosing=choosing,
        chosen=track if run is None else f"{track} of {run.run_id}",
        opened=not answered,
        answered=answered,
        most=settings.most_per_day,
        note=note,
        pair=pair,
    )
    return Shown("Vote", (), above)


def _offered(visit: Visit, voter: str, contests: tuple[Contest, ...]) -> Offer | None:
    """The pair before the voter, else one they have not seen; None: they have seen all."""
    warehouse = visit.lake.warehouse
    database = services_of(warehouse)
    known = open_offer(database, voter, contests)
    if known is not None:
        return known
    add_contests(database, contests)
    drawn = next_pair(database, voter, contests)
    if drawn is None:
        return None
    contest, names = drawn
    by_name = {contender.name: contender for contender in contest.contenders}
    one, other = (
        describe_contender(by_name[name], visit.lake.ask(text_of, contest.track, by_name[name]))
        for name in names
    )
    try:
        return offer(database, voter, contest, (one, other), warehouse.settings.voting)
    except ConflictError:  # another window of theirs was quicker
        return open_offer(database, voter, contests)


def _chosen(visit: Visit) -> tuple[Track | None, Run | None, list[Field | None]]:
    """What meets, of which run, and the controls that choose it; no track: nothing meets here."""
    run = chosen_run(visit)
    there = [track for track in Track if visit.lake.exists and _contests(visit, track, run)]
    if not there:
        return None, None, []
    track = Track(chosen(visit, "track", list(Track), there[0]))
    options = [(each.value, each.capitalize()) for each in Track]
    fields: list[Field | None] = [Field("track", "What meets", track, there[0], options)]
    if track is not Track.IDEAS or run is None:
        return track, None, fields
    return track, run, [*fields, run_field(visit, run)]


def _contests(visit: Visit, track: Track, run: Run | None) -> tuple[Contest, ...]:
    if track is Track.IDEAS and run is None:
        return ()
    return visit.lake.ask(contests_of, track, None if run is None else run.run_id)


def _titles(queries: Queries, track: Track, run_id: RunId | None) -> dict[str, str]:
    """What stands for contenders by name: of ideas their titles, of the rest who made them."""
    if run_id is not None:
        rows = queries.rows("ideas_of_run", run_id=run_id)
        return {f"{run_id}/{row['idea_id']}": row["title"] for row in rows}
    runs = {
        run_id: f"{made[Board.ENGINES]}, {made[Board.PROFILES]}, {run_id}"
        for run_id, made in makers(queries).items()
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
    yield pg.text(f"{figures.counted(standing.vote_count, 'vote')}, attention checks left out")
    columns = ("Rank:", "What", "Strength:", "from:", "to:", "Elo:", "Votes:")
    yield pg.table(
        columns,
        (
            (one.rank, titles.get(one.name, one.name), figures.decimals(one.strength), figures.decimals(one.lower),
             figures.decimals(one.upper), round(one.elo), one.vote_count)
            for one in standing.strengths
        ),
    )  # fmt: skip
