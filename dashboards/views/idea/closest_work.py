"""Closest prior work of an idea: overlap, quote, and what remains new."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboards.render.page import Line, line
from dashboards.render.papers import citation, version_links
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.judgement.contribution import Comparison, ContributionEvaluation, Overlap
from schemas.literature.paper import Paper
from schemas.reasons import Reason

MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ClosestWork:
    """A paper that overlaps with the idea; `overlaps` lists degree and dimensions."""

    paper: Line
    title: str
    overlaps: str
    quote: str
    remains: str
    overall: str
    versions: Line


def closest_works(
    contribution: ContributionEvaluation | None, papers: Mapping[PaperId, Paper]
) -> tuple[ClosestWork, ...]:
    """Return papers with at least partial overlap in some dimension, closest first."""
    by_paper: dict[PaperId, list[Comparison]] = defaultdict(list)
    for comparison in contribution.comparisons if contribution is not None else ():
        if (
            comparison.overlap not in (None, Overlap.NONE, Overlap.NOT_ADDRESSED)
            and comparison.closeness_place is not None
        ):
            by_paper[comparison.paper_id].append(comparison)
    groups = sorted(by_paper.values(), key=_closeness)
    return tuple(_work(paper_comparisons, papers) for paper_comparisons in groups[:MOST_SHOWN])


def none_closest(contribution: ContributionEvaluation | None, cause: str) -> str:
    """Return why no work is named: nothing overlaps, or nothing was compared.

    Args:
        cause: why judgements failed; empty: none did.
    """
    comparisons = contribution.comparisons if contribution is not None else ()
    if any(each.score is not None for each in comparisons):
        return "No paper compared overlaps with what the idea claims. That is no proof of novelty."
    return f"Nothing was compared: {cause or 'no paper to compare with was found'}."


def own_works(failures: Iterable[Failure], papers: Mapping[PaperId, Paper]) -> tuple[Line, ...]:
    """Return papers that may be the idea's own publication and were set apart."""
    subjects = dict.fromkeys(
        failure.subject for failure in failures if failure.reason is Reason.THE_IDEA_ITSELF
    )
    by_name = {str(paper_id): paper for paper_id, paper in papers.items()}
    return tuple(
        line(citation(by_name[name]), f" {by_name[name].title}")
        for name in subjects
        if name in by_name
    )


def _closeness(comparisons: list[Comparison]) -> tuple[list[int], int]:
    """Return a sort key: best place in any dimension, then number of such dimensions."""
    places = sorted(each.closeness_place or 0 for each in comparisons)
    return places[:1], sum(places) - 100 * len(places)


def _work(comparisons: list[Comparison], papers: Mapping[PaperId, Paper]) -> ClosestWork:
    first = comparisons[0]
    paper = papers.get(first.paper_id)
    by_overlap: dict[Overlap, list[str]] = defaultdict(list)
    for each in comparisons:
        if each.overlap is not None:
            # Engines end some names with a period; here they are part of a sentence.
            by_overlap[each.overlap].append(each.dimension.rstrip(" .;,"))
    overlaps = [
        f"{overlap.value} in {', '.join(by_overlap[overlap])}"
        for overlap in reversed(Overlap)
        if by_overlap[overlap]
    ]
    return ClosestWork(
        paper=line(citation(paper) if paper is not None else "unknown paper"),
        # Some sources end titles with a period; here they are part of a sentence.
        title=paper.title.rstrip(" .") if paper is not None else "",
        overlaps="; ".join(overlaps),
        quote=first.quote,
        remains=first.remains,
        overall=first.overall_comparison,
        versions=version_links(paper) if paper is not None else (),
    )
