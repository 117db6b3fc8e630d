"""Survey reviews: named clusters, an outline, sections and a synthesis.

All text is written from passages that were read and checked against them.
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
from tasks.survey.reading import Readings, quotes_by_others
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
"""Words shown of a work without passages: the sentences closest to the question."""
WORDS_IN_THE_OUTLINE = 50
"""Words shown of each work in the outline prompt."""
_ENDS = {
    ReviewPart.SUMMARY: "In short",
    ReviewPart.CONTRADICTIONS: "Where works contradict each other",
    ReviewPart.GAPS: "What the works do not show",
}
"""Headings of the parts that are written last."""


@dataclass(frozen=True, slots=True)
class Review:
    clusters: tuple[SurveyCluster, ...]
    sections: tuple[SurveySection, ...] = ()
    removed: tuple[RemovedSentence, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """Sources of a review.

    Attributes:
        papers: works read, heaviest first.
        cluster_of: cluster id of each work.
    """

    question: str
    sub_questions: tuple[str, ...]
    papers: tuple[Paper, ...]
    clusters: tuple[SurveyCluster, ...]
    cluster_of: Mapping[PaperId, str]
    read: Readings
    links: tuple[CitationEdge, ...]
    joins: tuple[SurveyJoin, ...]

    @property
    def stored(self) -> dict[PaperId, str]:
        """Return the text read of each work, with the passages in which it cites others."""
        texts = dict(self.read.texts)
        for link in self.links:
            if link.citing_paper_id in texts and link.contexts:
                contexts = "\n\n".join(link.contexts)
                texts[link.citing_paper_id] += f"\n\n{contexts}"
        return texts

    def work(self, prompt_papers: Shown, paper: Paper, word_limit: int | None = None) -> ShownWork:
        keys = {each.paper_id: key for key, each in prompt_papers}
        passages_of_work = [
            f"{quote.aspect.value if quote.aspect else 'text'}: {quote.quote}"
            for quote in self.read.quotes_of(paper.paper_id)
        ]
        passages_of_others = [
            f"said in {keys[quote.said_in_paper_id]}: {quote.quote}"
            for quote in quotes_by_others(self.question, paper.paper_id, self.links)
            if quote.said_in_paper_id in keys
        ]
        if not passages_of_work:
            text = self.read.texts.get(paper.paper_id, "")
            nearest_text, _ = nearest_sentences(self.question, text, WORDS_WITHOUT_PASSAGES)
            passages_of_work = [f"text: {nearest_text}"]
        passages = [*passages_of_work, *passages_of_others]
        if word_limit is not None:  # the most informative passages come first; at least one
            words = accumulate(len(passage.split()) for passage in passages_of_work)
            count = max(sum(so_far <= word_limit for so_far in words), 1)
            passages = passages_of_work[:count]
        return ShownWork(
            key=keys[paper.paper_id],
            title=paper.title,
            year=paper.year,
            evidence="\n".join(passages),
        )


async def write_review(material: Material, parameters: SurveyParameters, engine: Engine) -> Review:
    """Name clusters, outline, write sections concurrently, check them, then conclude."""
    prompt_papers = show(material.papers)
    outcome = await engine.run(SURVEY_OUTLINE, _outline(material, prompt_papers, parameters))
    if isinstance(outcome, Unscored):
        outline_failures = call_failures([outcome], STAGE, SURVEY_OUTLINE.name)
        return Review(material.clusters, failures=outline_failures)
    names: dict[str, str] = {}
    for entry in outcome.value.clusters:  # of several names for one cluster the first counts
        names.setdefault(entry.cluster.casefold(), " ".join(entry.name.split()))
    clusters = tuple(
        replace(cluster, name=names.get(cluster.cluster_id.casefold()) or cluster.name)
        for cluster in material.clusters
    )
    sections, failures = _plan_sections(outcome.value, prompt_papers, parameters)
    drafts = await side_by_side(
        _write_section(material, section, section_papers, sections, parameters, engine)
        for section, section_papers in sections
    )
    body = await check_drafts(drafts, material.stored, engine, numbers=range(2, len(drafts) + 2))
    summary_parts = await _conclude(material, body, drafts, engine)
    return Review(
        clusters=clusters,
        # The summary comes first, although it is written last.
        sections=(*summary_parts.sections[:1], *body.sections, *summary_parts.sections[1:]),
        removed=(*body.removed, *summary_parts.removed),
        failures=(*failures, *body.failures, *summary_parts.failures),
    )


def _outline(
    material: Material, prompt_papers: Shown, parameters: SurveyParameters
) -> OutlineInput:
    clusters = []
    for cluster in material.clusters:
        works = tuple(
            material.work(prompt_papers, paper, WORDS_IN_THE_OUTLINE)
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


def _plan_sections(
    reply: OutlineReply, prompt_papers: Shown, parameters: SurveyParameters
) -> tuple[list[tuple[PlannedSection, Shown]], tuple[Failure, ...]]:
    """Return the sections with their works; sections without works are left out."""
    paper_by_key = {key.casefold(): paper for key, paper in prompt_papers}
    sections: list[tuple[PlannedSection, Shown]] = []
    invented_count = empty = 0
    for section in reply.sections[: parameters.maximum_sections]:
        keys = [key.casefold() for key in section.keys]
        invented_count += sum(key not in paper_by_key for key in keys)
        papers = [paper_by_key[key] for key in keys if key in paper_by_key][
            : parameters.papers_per_section
        ]
        if papers:
            sections.append((section, show(papers)))
        else:
            empty += 1
    about = SURVEY_OUTLINE.name
    unknown_text = f"{invented_count} keys of the outline are not in the prompt and were left out"
    uncited_text = f"{empty} sections of the outline cite no work of the prompt and were left out"
    return sections, (
        *omission_failures(STAGE, about, unknown_text, invented_count),
        *omission_failures(STAGE, about, uncited_text, empty),
    )


async def _write_section(
    material: Material,
    section: PlannedSection,
    prompt_papers: Shown,
    sections: Sequence[tuple[PlannedSection, Shown]],
    parameters: SurveyParameters,
    engine: Engine,
) -> Draft:
    keys = {paper.paper_id: key for key, paper in prompt_papers}
    question = SectionInput(
        question=material.question,
        heading=section.heading,
        about=section.about,
        other_headings=tuple(
            other.heading for other, _ in sections if other.heading != section.heading
        ),
        papers=tuple(material.work(prompt_papers, paper) for paper in prompt_papers.papers),
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
    return draft(ReviewPart.SECTION, heading, outcome, text, prompt_papers)


async def _conclude(
    material: Material, body: Checked, drafts: Sequence[Draft], engine: Engine
) -> Checked:
    texts_of_sections = [
        (section, each.prompt_papers)
        for section, each in zip(body.sections, drafts, strict=True)
        if section.text
    ]
    if not texts_of_sections:
        return Checked((), (), ())
    cited_ids = {
        paper_id for section, _ in texts_of_sections for paper_id in section.cited_paper_ids
    }
    prompt_papers = show([paper for paper in material.papers if paper.paper_id in cited_ids])
    question = SynthesisInput(
        question=material.question,
        sections=tuple(
            ShownSection(
                heading=section.heading, text=rekeyed(section.text, section_papers, prompt_papers)
            )
            for section, section_papers in texts_of_sections
        ),
        papers=tuple(material.work(prompt_papers, paper) for paper in prompt_papers.papers),
    )
    outcome = await engine.run(SURVEY_SYNTHESIS, question)
    texts: list[str | None] = [None] * len(_ENDS)
    if not isinstance(outcome, Unscored):
        reply = outcome.value
        texts = [reply.summary, bullet_list(reply.contradictions), bullet_list(reply.gaps)]
    summary_drafts = [
        draft(part, heading, outcome, text, prompt_papers)
        for (part, heading), text in zip(_ENDS.items(), texts, strict=True)
    ]
    numbers = [1, len(drafts) + 2, len(drafts) + 3]
    return await check_drafts(summary_drafts, material.stored, engine, numbers=numbers)


def bullet_list(items: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(item.split())}" for item in items)
