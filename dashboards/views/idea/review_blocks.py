"""How new an idea is, as blocks, and the texts that all reviews of modules have."""

from collections.abc import Iterable, Iterator, Mapping

from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.prose import prose, prose_line
from dashboards.render.wording import unscored
from schemas.identifiers import PaperId
from schemas.judgement.novelty import NoveltyEvaluation
from schemas.literature.paper import Paper


def named_prose(parts: Mapping[str, str]) -> Iterator[pg.Block]:
    """Texts of an engine, each under its name."""
    for name, words in parts.items():
        yield pg.text(pg.strong(name))
        yield from prose(words) or (pg.text("None named."),)


def citation_note(
    removed: int, uncited: int, what: str = "papers", undecided: int | None = None
) -> Iterator[pg.Block]:
    """How many citations were taken out, and how many sentences have none or were not decided."""
    said = []
    if removed:
        said.append(
            f"{figures.counted(removed, 'citation')} of {what} that were never shown taken out."
        )
    if uncited:
        said.append(f"{figures.counted(uncited, 'sentence')} without a citation.")
    if undecided:
        sentences = figures.counted(undecided, "cited sentence")
        said.append(f"{sentences} that the stored texts neither carry nor contradict.")
    if said:
        yield pg.text(pg.emphasis(" ".join(said)))


def novelty_blocks(
    novelty: NoveltyEvaluation, papers: Mapping[PaperId, Paper], judges: str
) -> Iterator[pg.Block]:
    """How new the idea is; `judges` says what each of several judges gave."""
    judged = novelty.judgement
    score = f"{judged.score_1_to_5} on 1 … 5"
    if judged.score_1_to_5 is None:
        score = unscored(judged.unscored_reason or "")
    yield pg.heading(f"Novelty · {score}")
    if judges:
        yield pg.text(f"Score: {judges}.")
    if judged.unscored_reason is None:
        yield from _judged_novelty(novelty, papers)
    elif judged.unscored_detail:
        yield pg.text(f"Why there is no score: {judged.unscored_detail}")
    works = figures.counted(len(judged.related_paper_ids), "related work")
    lost, close = judged.unanswered_search_count, judged.mean_closeness_0_to_1
    missing = (
        f"; {lost} of the searches for more went unanswered, so that earlier work may be missing"
    )
    covered = (
        f"; its {figures.counted(judged.statement_count or 0, 'key statement')} come close to them by"
        f" {close or 0:.2f} of 1 on average, {100 * (judged.covered_share_0_to_1 or 0):.0f} % of them"
        " closely"
    )
    yield pg.text(
        f"Held against {works}",
        missing if lost else "",
        covered if close is not None else "",
        ".",
    )


def _judged_novelty(
    novelty: NoveltyEvaluation, papers: Mapping[PaperId, Paper]
) -> Iterator[pg.Block]:
    judged = novelty.judgement
    if judged.calibrated_score_1_to_5 is not None:
        label = judged.calibrated_label_1_to_5
        yield pg.text(
            f"Calibrated: {f'{label:g}, expected ' if label is not None else ''}"
            f"{judged.calibrated_score_1_to_5:.1f}, with 90 % from"
            f" {judged.calibrated_lower_1_to_5:g} to {judged.calibrated_upper_1_to_5:g} (calibrator ",
            *(pg.code((judged.calibrator_sha256 or "")[:12]), ")."),
        )
    yield from prose(judged.justification)
    if judged.probabilities_percent:
        each = sorted(judged.probabilities_percent.items())
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
    for name, aspects in (("Known already", judged.known_aspects), ("New", judged.novel_aspects)):
        yield pg.text(pg.strong(name))
        yield from listed(aspects, "None named.")
    yield from citation_note(judged.removed_citation_count, judged.uncited_sentence_count)


def listed(lines: Iterable[str], none: str) -> tuple[pg.Block, ...]:
    """Lines of an engine as a list, or that there is none."""
    return pg.bullets(map(prose_line, lines)) or (pg.text(none),)
