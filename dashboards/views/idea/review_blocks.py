"""Blocks on novelty, and text blocks that all module reviews share."""

from collections.abc import Iterable, Iterator, Mapping

from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.prose import prose, prose_line
from dashboards.render.wording import unscored_because
from schemas.identifiers import PaperId
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.literature.paper import Paper


def prose_by_name(parts: Mapping[str, str]) -> Iterator[pg.Block]:
    """Yield engine texts, each under its name."""
    for name, words in parts.items():
        yield pg.text(pg.strong(name))
        yield from prose(words) or (pg.text("None named."),)


def citation_note(
    removed_count: int, uncited_count: int, what: str = "papers", undecided: int | None = None
) -> Iterator[pg.Block]:
    """Yield how many citations were removed, and how many sentences have none or are undecided."""
    sentences = []
    if removed_count:
        sentences.append(
            f"{figures.plural(removed_count, 'citation')} of {what} that were never shown taken out."
        )
    if uncited_count:
        sentences.append(f"{figures.plural(uncited_count, 'sentence')} without a citation.")
    if undecided:
        sentences.append(
            f"{figures.plural(undecided, 'cited sentence')} that the stored texts neither carry nor"
            " contradict."
        )
    if sentences:
        yield pg.text(pg.emphasis(" ".join(sentences)))


def novelty_blocks(
    novelty: NoveltyEvaluation, papers: Mapping[PaperId, Paper], judges: str
) -> Iterator[pg.Block]:
    """Yield the novelty of an idea; `judges` gives the scores of several judges."""
    judgement = novelty.judgement
    score = f"{judgement.score_1_to_5} on 1 … 5"
    if judgement.score_1_to_5 is None:
        score = unscored_because(judgement.unscored_reason or "")
    yield pg.heading(f"Novelty · {score}")
    if judges:
        yield pg.text(f"Score: {judges}.")
    if judgement.unscored_reason is None:
        yield from _novelty_judgement(novelty, papers)
    elif judgement.unscored_detail:
        yield pg.text(f"Why there is no score: {judgement.unscored_detail}")
    works_text = figures.plural(len(judgement.related_paper_ids), "related work")
    lost_searches, close = judgement.unanswered_search_count, judgement.mean_closeness_0_to_1
    lost_note = f"; {lost_searches} of the searches for more went unanswered, so that earlier work may be missing"
    coverage_note = (
        f"; its {figures.plural(judgement.statement_count or 0, 'key statement')} come close to them by"
        f" {figures.decimals(close)} of 1 on average, {figures.percent(judgement.covered_share_0_to_1 or 0)} of them"
        " closely"
    )
    yield pg.text(
        f"Compared with {works_text}",
        lost_note if lost_searches else "",
        coverage_note if close is not None else "",
        ".",
    )


def _novelty_judgement(
    novelty: NoveltyEvaluation, papers: Mapping[PaperId, Paper]
) -> Iterator[pg.Block]:
    judgement = novelty.judgement
    if judgement.calibrated_score_1_to_5 is not None:
        label = judgement.calibrated_label_1_to_5
        yield pg.text(
            f"Calibrated: {f'{label:g}, expected ' if label is not None else ''}"
            f"{figures.score(judgement.calibrated_score_1_to_5)}, with 90 % from"
            f" {judgement.calibrated_lower_1_to_5:g} to {judgement.calibrated_upper_1_to_5:g} (calibrator ",
            *(pg.code((judgement.calibrator_sha256 or "")[:12]), ")."),
        )
    yield from prose(judgement.justification)
    if judgement.probabilities_percent:
        each = sorted(judgement.probabilities_percent.items())
        shares = ", ".join(f"{score}: {percent} %" for score, percent in each)
        yield pg.text(f"How likely each score is: {shares}.")
    if novelty.contributions:
        rows = []
        for one in novelty.contributions:
            paper = papers.get(one.paper_id) if one.paper_id is not None else None
            overlap, adds = (
                "not told" if value is None else value.value
                for value in (one.overlap, one.difference)
            )
            title = paper.title if paper is not None else "none"
            rows.append((one.contribution, title, overlap, adds))
        columns = ("Claimed contribution", "Closest work", "Already there", "What it adds")
        yield pg.table(columns, rows)
    for name, aspects in (
        ("Known already", judgement.known_aspects),
        ("New", judgement.novel_aspects),
    ):
        yield pg.text(pg.strong(name))
        yield from bullets_or(aspects, "None named.")
    yield from citation_note(judgement.removed_citation_count, judgement.uncited_sentence_count)


def bullets_or(lines: Iterable[str], none: str) -> tuple[pg.Block, ...]:
    """Return engine lines as a list, or the text `none`."""
    return pg.bullets(map(prose_line, lines)) or (pg.text(none),)
