"""Writes the review of a survey: clusters named, an outline, sections, and what they say together.

Whatever is written rests on passages that were read, and is held against them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from schemas.base import replace
from schemas.failure import Failure, call_failures
from schemas.identifiers import PaperId
from schemas.literature.paper import CitationEdge, Paper
from schemas.literature.survey import SurveyCluster, SurveyParameters
from schemas.literature.survey_review import RemovedSentence, ReviewPart, SurveyJoin, SurveySection
from schemas.outcome import Unscored
from tasks.citations.keys import Shown, show
from tasks.citations.references import rekeyed
from tasks.judging.findings import omission_failures
from tasks.judging.packing import side_by_side
from tasks.judging.step import Engine
from tasks.survey.checking import Checked, Draft, check_drafts, draft
from tasks.survey.expanding import STAGE
from tasks.survey.reading import Read, quotes_by_others
from tasks.survey.steps import (
    SURVEY_OUTLINE,
    SURVEY_SECTION,
    SURVEY_SYNTHESIS,
    OutlineInput,
    OutlineReply,
    PlannedSection,
    SectionInput,
    ShownCluster,
    ShownJoin,
    ShownSection,
    ShownWork,
    SynthesisInput,
)
from tasks.text.words import nearest_sentences

WORDS_WITHOUT_PASSAGES = 60
"""Shown of a work of which no passage was read, the sentences nearest to the question."""
WORDS_IN_THE_OUTLINE = 50
"""Shown of each work where the review is planned."""
SUMMARY_HEADING = "In short"
CONTRADICTIONS_HEADING = "Where works contradict each other"
GAPS_HEADING = "What the works do not show"


@dataclass(frozen=True, slots=True)
class Review:
    clusters: tuple[SurveyCluster, ...]
    sections: tuple[SurveySection, ...] = ()
    removed: tuple[RemovedSentence, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """All that a review is written from.

    Attributes:
        papers: those that were read, the heaviest first.
        cluster_of: the cluster of each.
    """

    question: str
    sub_questions: tuple[str, ...]
    papers: tuple[Paper, ...]
    clusters: tuple[SurveyCluster, ...]
    cluster_of: Mapping[PaperId, str]
    read: Read
    links: tuple[CitationEdge, ...]
    joins: tuple[SurveyJoin, ...]

    @property
    def stored(self) -> dict[PaperId, str]:
        """Return what was read of each work: its own text, and the passages in which it cites
        others.
        """
        texts = dict(self.read.texts)
        for link in self.links:
            if link.citing_paper_id in texts and link.contexts:
                said = "\n\n".join(link.contexts)
                texts[link.citing_paper_id] += f"\n\n{said}"
        return texts

    def work(self, shown: Shown, paper: Paper, word_limit: int | None = None) -> ShownWork:
        keys = {each.paper_id: key for key, each in shown}
        own = [
            f"{quote.aspect.value if quote.aspect else 'text'}: {quote.quote}"
            for quote in self.read.quotes_of(paper.paper_id)
        ]
        others = [
            f"said in {keys[quote.said_in_paper_id]}: {quote.quote}"
            for quote in quotes_by_others(self.question, paper.paper_id, self.links)
            if quote.said_in_paper_id in keys
        ]
        if not own:
            text = self.read.texts.get(paper.paper_id, "")
            near, _ = nearest_sentences(self.question, text, WORDS_WITHOUT_PASSAGES)
            own = [f"text: {near}"]
        passages = [*own, *others] if word_limit is None else _first(own, word_limit)
        return ShownWork(
            key=keys[paper.paper_id],
            title=paper.title,
            year=paper.year,
            evidence="\n".join(passages),
        )


async def write_review(material: Material, parameters: SurveyParameters, engine: Engine) -> Review:
    """Name the clusters, outline, write every section side by side, check them, and conclude."""
    everything = show(material.papers)
    outcome = await engine.run(SURVEY_OUTLINE, _outline(material, everything, parameters))
    if isinstance(outcome, Unscored):
        failed = call_failures([outcome], STAGE, SURVEY_OUTLINE.name)
        return Review(material.clusters, failures=failed)
    clusters = _named(material.clusters, outcome.value)
    planned, failures = _planned(outcome.value, everything, parameters)
    drafts = await side_by_side(
        _written(material, section, shown, planned, parameters, engine)
        for section, shown in planned
    )
    body = await check_drafts(drafts, material.stored, engine, numbers=range(2, len(drafts) + 2))
    ends = await _concluded(material, body, drafts, engine)
    return Review(
        clusters=clusters,
        # The summary stands first, although it is written last.
        sections=(*ends.sections[:1], *body.sections, *ends.sections[1:]),
        removed=(*body.removed, *ends.removed),
        failures=(*failures, *failed_drafts(drafts), *body.failures, *ends.failures),
    )


def _first(passages: Sequence[str], word_limit: int) -> list[str]:
    """As many whole passages as fit, and one at least; they stand with the most telling first."""
    words = accumulate(len(passage.split()) for passage in passages)
    fitting = [
        passage for passage, so_far in zip(passages, words, strict=True) if so_far <= word_limit
    ]
    return fitting or list(passages[:1])


def _outline(material: Material, everything: Shown, parameters: SurveyParameters) -> OutlineInput:
    clusters = []
    for cluster in material.clusters:
        works = tuple(
            material.work(everything, paper, WORDS_IN_THE_OUTLINE)
            for paper in material.papers
            if material.cluster_of.get(paper.paper_id) == cluster.cluster_id
        )
        if works:
            clusters.append(
                ShownCluster(cluster_id=cluster.cluster_id, words=cluster.name, papers=works)
            )
    return OutlineInput(
        question=material.question,
        sub_questions=material.sub_questions,
        clusters=tuple(clusters),
        maximum_sections=parameters.maximum_sections,
    )


def _named(clusters: Sequence[SurveyCluster], reply: OutlineReply) -> tuple[SurveyCluster, ...]:
    """The clusters under the names given; of a cluster named twice the first name counts."""
    names: dict[str, str] = {}
    for named in reply.clusters:
        names.setdefault(named.cluster.casefold(), " ".join(named.name.split()))
    return tuple(
        replace(cluster, name=names.get(cluster.cluster_id.casefold()) or cluster.name)
        for cluster in clusters
    )


def _planned(
    reply: OutlineReply, everything: Shown, parameters: SurveyParameters
) -> tuple[list[tuple[PlannedSection, Shown]], tuple[Failure, ...]]:
    """The sections with the works that each rests on; one without any is left out."""
    known = {key.casefold(): paper for key, paper in everything}
    planned: list[tuple[PlannedSection, Shown]] = []
    invented = empty = 0
    for section in reply.sections[: parameters.maximum_sections]:
        keys = [key.casefold() for key in section.keys]
        invented += sum(key not in known for key in keys)
        papers = [known[key] for key in keys if key in known][: parameters.papers_per_section]
        if papers:
            planned.append((section, show(papers)))
        else:
            empty += 1
    about = SURVEY_OUTLINE.name
    unknown = f"{invented} keys of the outline were never shown, and were left out"
    bare = f"{empty} sections of the outline rest on no work shown, and were left out"
    return planned, (
        *omission_failures(STAGE, about, unknown, invented),
        *omission_failures(STAGE, about, bare, empty),
    )


async def _written(
    material: Material,
    section: PlannedSection,
    shown: Shown,
    planned: Sequence[tuple[PlannedSection, Shown]],
    parameters: SurveyParameters,
    engine: Engine,
) -> Draft:
    keys = {paper.paper_id: key for key, paper in shown}
    question = SectionInput(
        question=material.question,
        heading=section.heading,
        about=section.about,
        other_headings=tuple(
            other.heading for other, _ in planned if other.heading != section.heading
        ),
        papers=tuple(material.work(shown, paper) for paper in shown.papers),
        joins=tuple(
            ShownJoin(
                key=keys[join.paper_id],
                other_key=keys[join.other_paper_id],
                third_key=keys[join.said_in_paper_id],
                passage=join.passage,
            )
            for join in material.joins
            if {join.paper_id, join.other_paper_id, join.said_in_paper_id} <= keys.keys()
        ),
        words=parameters.words_per_section,
    )
    outcome = await engine.run(SURVEY_SECTION, question)
    text = None if isinstance(outcome, Unscored) else outcome.value.section
    heading = " ".join(section.heading.split())
    return draft(ReviewPart.SECTION, heading, outcome, text, shown)


async def _concluded(
    material: Material, body: Checked, drafts: Sequence[Draft], engine: Engine
) -> Checked:
    written = [
        (section, each.shown)
        for section, each in zip(body.sections, drafts, strict=True)
        if section.text
    ]
    if not written:
        return Checked((), (), ())
    cited = {paper_id for section, _ in written for paper_id in section.cited_paper_ids}
    shown = show([paper for paper in material.papers if paper.paper_id in cited])
    question = SynthesisInput(
        question=material.question,
        sections=tuple(
            ShownSection(heading=section.heading, text=rekeyed(section.text, own, shown))
            for section, own in written
        ),
        papers=tuple(material.work(shown, paper) for paper in shown.papers),
    )
    outcome = await engine.run(SURVEY_SYNTHESIS, question)
    parts = {
        ReviewPart.SUMMARY: SUMMARY_HEADING,
        ReviewPart.CONTRADICTIONS: CONTRADICTIONS_HEADING,
        ReviewPart.GAPS: GAPS_HEADING,
    }
    texts: dict[ReviewPart, str | None] = dict.fromkeys(parts)
    if not isinstance(outcome, Unscored):
        texts = {
            ReviewPart.SUMMARY: outcome.value.summary,
            ReviewPart.CONTRADICTIONS: listed(outcome.value.contradictions),
            ReviewPart.GAPS: listed(outcome.value.gaps),
        }
    ends = [draft(part, parts[part], outcome, text, shown) for part, text in texts.items()]
    checked = await check_drafts(
        ends, material.stored, engine, numbers=[1, len(drafts) + 2, len(drafts) + 3]
    )
    return Checked(checked.sections, checked.removed, (*failed_drafts(ends[:1]), *checked.failures))


def listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(item.split())}" for item in items)


def failed_drafts(drafts: Sequence[Draft]) -> tuple[Failure, ...]:
    return tuple(
        failure
        for each in drafts
        if each.unscored is not None
        for failure in call_failures([each.unscored], STAGE, f"section “{each.heading}”")
    )
