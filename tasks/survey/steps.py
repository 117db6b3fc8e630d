"""The steps of a survey. An answer and a review are written by models alone: the extractive engine gives the evidence."""

import bisect
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from schemas.literature.survey_review import Aspect
from schemas.reasons import Reason
from tasks.embeddings.similarity import Nearness, paper_text
from tasks.judging.relevance import JudgedPapers, RelevanceEntry, ShownPaper
from tasks.judging.reply_fields import Key, KeyedEntry, Prose, SoundEntries, Text, word_of
from tasks.judging.step import BaselineTools, NoAnswer, Step, no_baseline, steps_in
from tasks.text.phrases import join_phrases, meaningful_words, phrase_queries, specific_stems
from tasks.text.words import rank_sentences, sentences

WHOLE_QUERY_WORDS = 10
"""Longest query that a relevance search still answers well."""


class PlanInput(Noun):
    question: str = Field(min_length=1)
    maximum_sub_questions: int = Field(ge=1)
    maximum_queries: int = Field(ge=1, description="Per sub-question.")


class PlannedSubQuestion(Reply):
    sub_question: Text = Field(description="A part of the question, understandable on its own.")
    queries: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Each of at most seven words."
    )


class PlanReply(Reply):
    sub_questions: Annotated[list[PlannedSubQuestion], SoundEntries]


async def baseline_plan(inputs: PlanInput, tools: BaselineTools) -> PlanReply | NoAnswer:
    """Plan one sub-question per sentence: a query of its specific words, then its key phrases."""
    del tools
    sub_questions = (sentences(inputs.question) or [inputs.question])[
        : inputs.maximum_sub_questions
    ]
    queries_of = phrase_queries(inputs.question, sub_questions, inputs.maximum_queries)
    plan = []
    for sentence, queries in zip(sub_questions, queries_of, strict=True):
        whole_query = join_phrases(meaningful_words(sentence), WHOLE_QUERY_WORDS)
        candidates = list(dict.fromkeys(query for query in (whole_query, *queries) if query))
        if candidates:
            chosen_queries = candidates[: inputs.maximum_queries]
            plan.append(PlannedSubQuestion(sub_question=sentence, queries=chosen_queries))
    if not plan:
        detail = "the question names nothing specific to search for"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    return PlanReply(sub_questions=plan)


SURVEY_PLAN = Step(
    name="survey_plan",
    version=2,
    package="tasks.survey",
    input_model=PlanInput,
    output_model=PlanReply,
    baseline=baseline_plan,
)


class SurveyRelevanceInput(Noun):
    question: str = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)


class SurveyRelevanceReply(JudgedPapers):
    """Whether a survey would discuss each paper."""


SIMILARITY_WEIGHT = 0.7
THRESHOLDS = (0.18, 0.26, 0.34, 0.45, 0.55)
"""Closeness from which a score of 1, 2, 3, 4, 5 is given.

Set on the titles of 60 papers of IEEE VIS against all earlier papers of the venue: a score of at
least 3 holds for half of the works cited and one in seven of the others, at least 4 for a quarter
and one in thirty.
"""


async def baseline_relevance(
    inputs: SurveyRelevanceInput, tools: BaselineTools
) -> SurveyRelevanceReply:
    """Score closeness = 0.7 × cosine + 0.3 × share of the question's words by `THRESHOLDS`.

    A paper's score depends on no other paper.
    """
    texts = [paper_text(paper.title, paper.abstract) for paper in inputs.papers]
    nearness = await Nearness(inputs.question, tools.embedder).of(texts)
    question_stems = specific_stems(inputs.question)
    return SurveyRelevanceReply(
        papers=[
            _entry(paper, text, similarity, question_stems)
            for paper, text, similarity in zip(inputs.papers, texts, nearness, strict=True)
        ]
    )


def _entry(
    paper: ShownPaper, text: str, similarity: float, question_stems: frozenset[str]
) -> RelevanceEntry:
    shared_share = len(question_stems & specific_stems(text)) / (len(question_stems) or 1)
    return RelevanceEntry(
        key=paper.key,
        rationale=f"similarity {similarity:.2f}, {shared_share:.0%} of the question's words",
        score=relevance_score(similarity, shared_share),
    )


def relevance_score(similarity_0_to_1: float, shared_share_0_to_1: float) -> int:
    """Return a score from 0 to 5 that grows with both signals."""
    closeness = SIMILARITY_WEIGHT * similarity_0_to_1
    return bisect.bisect_right(
        THRESHOLDS, closeness + (1 - SIMILARITY_WEIGHT) * shared_share_0_to_1
    )


SURVEY_RELEVANCE = Step(
    name="survey_relevance",
    version=3,
    package="tasks.survey",
    input_model=SurveyRelevanceInput,
    output_model=SurveyRelevanceReply,
    baseline=baseline_relevance,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)


class ReadSection(Noun):
    kind: str = Field(pattern="^[a-z_]+$", description="abstract, methods, results or discussion.")
    text: str
    words_left_out: int = Field(default=0, ge=0)


class ReadWork(Noun):
    key: str
    title: str
    sections: tuple[ReadSection, ...] = Field(min_length=1)


class ReadingInput(Noun):
    question: str = Field(min_length=1)
    papers: tuple[ReadWork, ...] = Field(min_length=1)


class ReadPassage(Reply):
    """One passage; None: a word outside the list."""

    aspect: Annotated[Aspect | None, word_of(Aspect)]
    quote: Prose = Field(default="", description="Six to fifty of the work's own words, copied.")


class ReadEntry(KeyedEntry):
    """The passages of one work; empty where its text says nothing that was asked for."""

    passages: Annotated[tuple[ReadPassage, ...], SoundEntries] = Field(
        default=(),
        description="The most telling first: up to two for answer, one for each other aspect.",
    )


class ReadingReply(Reply):
    """Reply to `survey_reading`: one entry for every key."""

    papers: Annotated[list[ReadEntry], Field(min_length=1), SoundEntries]


async def baseline_reading(inputs: ReadingInput, tools: BaselineTools) -> ReadingReply | NoAnswer:
    """Quote the two nearest sentences; NoAnswer(no_evidence) if no text shares a word."""
    del tools
    entries = []
    for paper in inputs.papers:
        text_sentences = [
            sentence for section in paper.sections for sentence in sentences(section.text)
        ]
        nearest_sentences = [
            text for score, text in rank_sentences(inputs.question, text_sentences, 2) if score > 0
        ]
        passages = tuple(
            ReadPassage(aspect=Aspect.ANSWER, quote=text) for text in nearest_sentences
        )
        entries.append(ReadEntry(key=paper.key, passages=passages))
    if not any(entry.passages for entry in entries):
        return NoAnswer(Reason.NO_EVIDENCE, "no text shares a word with the question")
    return ReadingReply(papers=entries)


SURVEY_READING = Step(
    name="survey_reading",
    version=2,
    package="tasks.survey",
    input_model=ReadingInput,
    output_model=ReadingReply,
    baseline=baseline_reading,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)


class ShownWork(Noun):
    key: str
    title: str
    year: int | None
    evidence: str


class ShownJoin(Noun):
    """Two works that do not cite each other, and a passage of a third on both."""

    key: str
    other_key: str
    third_key: str
    passage: str


class ShownSection(Noun):
    heading: str
    text: str = Field(min_length=1)


class AnswerInput(Noun):
    question: str = Field(min_length=1)
    papers: tuple[ShownWork, ...] = Field(min_length=1)
    words: int = Field(ge=1)


class AnswerReply(Reply):
    """Reply to `survey_answer`."""

    answer: Prose = Field(
        default="",
        description="One to four paragraphs; every sentence cites by key. Empty: nothing answers.",
    )
    not_found: Annotated[tuple[Text, ...], SoundEntries] = Field(
        default=(), description="Parts that nothing answers, each a question of at most 30 words."
    )


SURVEY_ANSWER = Step(
    name="survey_answer",
    version=2,
    package="tasks.survey",
    input_model=AnswerInput,
    output_model=AnswerReply,
    baseline=no_baseline("an answer is written with --engine litellm:MODEL; this is evidence"),
    kind=StepKind.JUDGEMENT,
)


class ShownCluster(Noun):
    cluster_id: str
    words: str
    papers: tuple[ShownWork, ...] = Field(min_length=1)


class OutlineInput(Noun):
    question: str = Field(min_length=1)
    sub_questions: tuple[str, ...]
    clusters: tuple[ShownCluster, ...] = Field(min_length=1)
    maximum_sections: int = Field(ge=1)


class NamedCluster(Reply):
    """A name for a cluster."""

    cluster: Text = Field(description="The cluster's identifier, exactly as shown.")
    name: Text = Field(description="Three to seven words.")


class PlannedSection(Reply):
    """One section, and the works that it rests on."""

    heading: Text
    about: Prose = Field(default="", description="What it answers, in a sentence.")
    keys: list[Key] = Field(description="The works it rests on.")


class OutlineReply(Reply):
    """Reply to `survey_outline`."""

    clusters: Annotated[tuple[NamedCluster, ...], SoundEntries] = ()
    sections: Annotated[list[PlannedSection], Field(min_length=1), SoundEntries]


SURVEY_OUTLINE = Step(
    name="survey_outline",
    version=2,
    package="tasks.survey",
    input_model=OutlineInput,
    output_model=OutlineReply,
    baseline=no_baseline("a review is written with --engine litellm:MODEL; this is evidence"),
    kind=StepKind.JUDGEMENT,
)


class SectionInput(Noun):
    question: str = Field(min_length=1)
    heading: str
    about: str
    other_headings: tuple[str, ...]
    papers: tuple[ShownWork, ...] = Field(min_length=1)
    joins: tuple[ShownJoin, ...] = ()
    words: int = Field(ge=1)


class SectionReply(Reply):
    """Reply to `survey_section`."""

    section: Text = Field(description="Paragraphs without a heading; every sentence cites by key.")


SURVEY_SECTION = Step(
    name="survey_section",
    version=2,
    package="tasks.survey",
    input_model=SectionInput,
    output_model=SectionReply,
    baseline=no_baseline("a review is written with --engine litellm:MODEL; this is evidence"),
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
)


class SynthesisInput(Noun):
    question: str = Field(min_length=1)
    sections: tuple[ShownSection, ...] = Field(min_length=1)
    papers: tuple[ShownWork, ...] = Field(min_length=1)


class SynthesisReply(Reply):
    """Reply to `survey_synthesis`; every sentence cites by key."""

    summary: Text = Field(
        description="The answer to the question: one paragraph of at most 150 words."
    )
    contradictions: Annotated[tuple[Text, ...], SoundEntries] = Field(
        default=(),
        description="Each in one or two sentences that cite both sides; empty: there is none.",
    )
    gaps: Annotated[tuple[Text, ...], SoundEntries] = Field(
        default=(),
        description="Each in one or two sentences that cite the works nearest; empty: there is none.",
    )


SURVEY_SYNTHESIS = Step(
    name="survey_synthesis",
    version=2,
    package="tasks.survey",
    input_model=SynthesisInput,
    output_model=SynthesisReply,
    baseline=no_baseline("a review is written with --engine litellm:MODEL; this is evidence"),
    kind=StepKind.JUDGEMENT,
)


STEPS = steps_in(__name__)
