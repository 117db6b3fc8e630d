"""Kinds of work `survey` and `ask`: jobs, options, requests and heads of surveys."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from schemas.base import Noun
from schemas.columns import columns_of
from schemas.errors import ConfigurationError
from schemas.literature.paper import Paper
from schemas.literature.survey import (
    Survey,
    SurveyCluster,
    SurveyLayer,
    SurveyPaper,
    SurveyParameters,
    SurveyQuery,
    SurveyQuote,
)
from schemas.literature.survey_review import RemovedSentence, SurveyJoin, SurveySection, Written
from schemas.options.commands import DeclaredOptions
from schemas.options.values import Literature, from_text, option, parse_cutoff
from schemas.people.ledger import Artefact
from schemas.people.uploads import ending_of, text_of
from schemas.people.work_job import Argument, CommandLine, WebForm, WorkJob
from schemas.run import EndedEarly, WorkHead
from schemas.work import Request
from schemas.work_schema import WorkSchema, tables_of_unit

LONGEST_QUESTION = 4_000
"""Maximum characters of a question."""


def as_question(question: str) -> str:
    """Return a question on one line.

    Raises:
        ConfigurationError: the question is empty or too long.
    """
    text = " ".join(question.encode("utf-8", "replace").decode().split())
    if not text:
        raise ConfigurationError('ask a question, such as "how do bats find moths?"')
    if len(text) > LONGEST_QUESTION:
        raise ConfigurationError(
            f"the question has {len(text):,} characters; {LONGEST_QUESTION:,} are the most"
        )
    return text


class SurveyQuestion(Noun):
    """One question to survey."""

    question_id: str = Field(min_length=1)
    question: str = Field(min_length=1)


SurveyRequest = Request[SurveyQuestion, SurveyParameters]


class SurveyHead(WorkHead):
    """One run of surveys by one engine over one literature."""

    profile: str = Field(description="Profile of the run.")
    literature: str = Field(description="Source of papers, with its fingerprint.")
    depth: int = Field(ge=0, description="Most hops along the citation graph.")
    maximum_papers: int = Field(ge=1, description="Most papers kept of a question.")
    maximum_judged: int = Field(ge=1, description="Most papers judged for a question.")
    papers_read: int = Field(
        ge=0, description="Most papers read for a review of a question; 0: no review."
    )
    written: Written = Field(description="Text that a model writes.")
    cutoff_date: date | None = Field(description="Latest publication date; None: no limit.")
    question_count: int = Field(ge=0, description="Questions.")
    incomplete_reason: EndedEarly = None


class QuestionOptions(DeclaredOptions):
    """Options of every command with a question."""

    literature: Literature = None
    cutoff: Annotated[
        date | None,
        from_text(parse_cutoff),
        option(..., "DATE", "Latest publication date."),
    ] = None
    full_text: bool | None = option(
        None, "", "Download and parse papers that are read. Default: yes, except for snapshots."
    )
    max_requests: int | None = option(
        None, "N", "End early after this many literature requests.", ge=0
    )


class AskOptions(QuestionOptions):
    """Options of `assay ask`."""

    papers_read: int | None = option(
        None,
        "N",
        "Number of most relevant papers to read. Default: the profile's.",
        ge=1,
        le=100,
    )


class SurveyOptions(QuestionOptions):
    """Options of `assay survey`."""

    depth: int = option(
        2, "N", "Hops along references and citations; 0: searches alone.", ge=0, le=4
    )
    max_papers: int = option(200, "N", "Most papers kept of a question.", ge=1, le=2_000)
    max_judged: int = option(
        800, "N", "Most papers judged for relevance, of all layers together.", ge=1, le=20_000
    )
    papers_read: int = option(
        40,
        "N",
        "Heaviest papers that a model reads for the review; 0: no review.",
        ge=0,
        le=200,
    )


_ASK = """Answer a question from the literature in a few paragraphs, as Markdown.

Every sentence cites a retrieved paper and is checked against its text; questions that no paper
answers are listed. Without a model the answer is the relevant passages. Asking the same question
again costs nothing.
"""
_SURVEY = """Find the papers that answer a question, with the reason for each.

Searches come first, then references and citations, layer by layer, with a relevance filter at
each. Prints clusters, key papers, a timeline, quotes and a .bib file; a model reads the heaviest
papers and writes a review in which every statement is cited and checked. The same command
resumes; nothing is paid twice.
"""


_SHORT_CHARACTERS = 400
"""Maximum characters of a question for the choice of a web form."""


def _is_question(ending: str, text: str) -> bool:
    words = text.strip()
    short = len(words) <= _SHORT_CHARACTERS and "\n" not in words
    return ending in ("", "txt", "md") and short and words.endswith("?")


class _OfAQuestion(WorkJob):
    """Base of jobs with one question."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)

    _on_one_line = field_validator("question")(as_question)

    @classmethod
    def of_file(cls, name: str, content: bytes) -> dict[str, Any]:
        if ending_of(name) not in ("", "txt", "md", "markdown"):
            raise ConfigurationError("write the question as text: a file of data is none")
        return {"question": as_question(text_of(content))}

    @property
    def as_file(self) -> tuple[str, bytes]:
        return "", self.question.encode()


class AskJob(_OfAQuestion):
    """Answer a question from the literature in a few paragraphs: every sentence cites a paper and
    was checked against it, and what no paper answers is said to be not in what was found.
    """

    tool = "ask_literature"
    wait_seconds = 120.0
    beside = 2  # a question on the page Vote has two answers
    command_line = CommandLine(
        section="literature",
        arguments=(Argument("question", "QUESTION", "What is asked, in quotation marks."),),
        help=_ASK,
        examples=(
            'assay ask "how do moths evade bats?"',
            'assay ask "how do moths evade bats?" -o answer.md \\\n'
            "    --engine litellm:openai/gpt-5-mini --literature live",
        ),
        formats="html, pdf, docx, bib or json",
    )
    command: Literal["ask"] = "ask"
    options: AskOptions
    web_form = WebForm("A question to the literature", "Ask", "", ("cutoff",), _is_question)


class SurveyJob(_OfAQuestion):
    """Survey the literature on a question, along references and citations: clusters, key papers
    with passages, and a review whose every statement is cited and checked.
    """

    tool = "survey_literature"
    command_line = CommandLine(
        section="literature",
        arguments=(
            Argument("questions", "QUESTION...", "What is asked, in quotation marks.", list[str]),
        ),
        help=_SURVEY,
        examples=(
            'assay survey "how do bats find moths?"',
            'assay survey "graph drawing" --depth 1 --max-papers 50',
            'assay survey "graph drawing" --dry-run \\\n    --engine litellm:openai/gpt-5-mini',
        ),
        formats="html, pdf, docx, bib or json",
    )
    command: Literal["survey"] = "survey"
    options: SurveyOptions
    web_form = WebForm("A topic to survey", "Survey", "", ("depth", "max_papers", "cutoff"))


_of_question = tables_of_unit(Survey, "question_id")
SURVEYS = WorkSchema(
    noun=Survey,
    head=SurveyHead,
    tables=(
        _of_question("surveys", Survey, meaning="One question followed through the literature."),
        _of_question("survey_queries", SurveyQuery, "query_id"),
        _of_question("survey_layers", SurveyLayer, "layer"),
        _of_question(
            "survey_papers",
            SurveyPaper,
            "paper_id",
            more=(
                *columns_of(SurveyPaper, "paper_id"),
                *columns_of(Paper, "title", "authors", "venue", "year", "publication_date", "url"),
                *columns_of(Paper, "date_precision", "state"),
                *columns_of(Paper, "doi", "arxiv_id", "citation_count"),
                *columns_of(Paper, "abstract", "open_access_pdf_url"),
            ),
        ),
        _of_question("survey_clusters", SurveyCluster, "cluster_id"),
        _of_question("survey_quotes", SurveyQuote, "position"),
        _of_question("survey_sections", SurveySection, "section_id"),
        _of_question("survey_removed_sentences", RemovedSentence, "position"),
        _of_question("survey_joins", SurveyJoin, "position"),
    ),
    artefact=Artefact.SURVEY,
)
