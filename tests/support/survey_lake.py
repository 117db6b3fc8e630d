"""A small survey, as it is landed."""

from schemas.base import replace
from schemas.failure import Failure
from schemas.identifiers import PaperId, RunId
from schemas.literature.paper import CitationEdge, Paper, SectionKind
from schemas.literature.survey import (
    Edge,
    End,
    Survey,
    SurveyCluster,
    SurveyLayer,
    SurveyPaper,
    SurveyQuery,
    SurveyQuote,
)
from schemas.literature.survey_review import (
    COMPARED,
    Aspect,
    RemovedSentence,
    ReviewPart,
    SurveyJoin,
    SurveySection,
    WhyRemoved,
    Written,
)
from schemas.reasons import Reason
from schemas.works.survey_run import SURVEYS, SurveyHead
from tests.support.evaluations import START
from tests.support.lakes import publish_units
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

SURVEY = RunId("survey-a")
TITLES = {"first": "Echo calls of bats", "second": "Moths that hear bats", "far": "Tax law"}

UNSURVEYED = Survey(
    question_id="question-1",
    question="Why is it so?",
    cutoff_date=None,
    end=None,
    judged_count=0,
    kept_count=None,
    unscored_reason=Reason.NOTHING_TO_JUDGE,
    unscored_detail="the question names nothing specific to search for",
)
LOST = Failure(
    stage="survey", subject="q2", reason=Reason.SERVER_ERROR, detail="paper/search: 503 five times"
)


def make_survey(question_id: str = "question-0", question: str = "How do bats hunt?") -> Survey:
    return Survey(
        question_id=question_id,
        question=question,
        cutoff_date=None,
        end=End.DEPTH,
        judged_count=3,
        kept_count=2,
        queries=(
            SurveyQuery(query_id="q1", sub_question=question, query="bats hunt", found_count=2),
            SurveyQuery(query_id="q2", sub_question=question, query="echo calls"),
        ),
        layers=(_layer(0, 0), _layer(1, 1)),
        papers=(
            _paper("first", 0, Edge.SEARCH, "bats hunt", 5),
            _paper("far", 0, Edge.SEARCH, "bats hunt", 0),
            _paper("second", 1, Edge.CITATION, "first", 4),
        ),
        clusters=(
            SurveyCluster(
                cluster_id="c1",
                name="echo calls",
                paper_count=2,
                first_year=2001,
                last_year=2002,
                key_paper_ids=("first", "second"),
            ),
        ),
        quotes=(
            SurveyQuote(
                paper_id=PaperId("first"),
                said_in_paper_id=PaperId("second"),
                quote="Bats <b>call</b> | as [1] showed.",
            ),
        ),
        links=(CitationEdge(citing_paper_id=PaperId("second"), cited_paper_id=PaperId("first")),),
    )


def nothing_kept(failed_look_up_count: int) -> Survey:
    """A survey of which one paper was judged, and found irrelevant."""
    survey = make_survey()
    (far,) = (paper for paper in survey.papers if not paper.kept)
    return replace(
        survey,
        judged_count=1,
        kept_count=0,
        layers=(replace(survey.layers[0], failed_look_up_count=failed_look_up_count),),
        papers=(far,),
        clusters=(),
        quotes=(),
        links=(),
    )


def with_review(survey: Survey) -> Survey:
    """The survey with a review of its two papers, of which a check took two sentences."""
    first, second = PaperId("first"), PaperId("second")
    said = dict.fromkeys(COMPARED, "Forty <b>bats</b> | were filmed.") | {Aspect.LIMITS: ""}
    return replace(
        survey,
        read_count=2,
        full_text_count=1,
        quotes=(
            *survey.quotes,
            *(
                SurveyQuote(
                    paper_id=first,
                    said_in_paper_id=first,
                    quote=quote,
                    aspect=aspect,
                    section=SectionKind.RESULTS,
                )
                for aspect, quote in said.items()
                if quote
            ),
        ),
        sections=(
            SurveySection(
                section_id="s1",
                part=ReviewPart.SUMMARY,
                heading="In short",
                text="Bats <script>call</script> [(First, 2001)](https://example.org/first).",
                cited_paper_ids=("first",),
                removed_citation_count=3,
                uncited_sentence_count=1,
                checked_sentence_count=5,
                corrected_sentence_count=1,
                dropped_sentence_count=1,
            ),
            SurveySection(
                section_id="s2",
                part=ReviewPart.GAPS,
                heading="What the works do not show",
                unscored_reason=Reason.NO_EVIDENCE,
                unscored_detail="the engine named none",
            ),
        ),
        removed=(
            RemovedSentence(section_id="s1", sentence="Cats fly.", why=WhyRemoved.UNCITED),
            RemovedSentence(section_id="s1", sentence="Bats sing.", why=WhyRemoved.UNSUPPORTED),
        ),
        joins=(
            SurveyJoin(
                paper_id=first, other_paper_id=second, said_in_paper_id=second, passage="Both call."
            ),
        )
        if not survey.links
        else (),
    )


def _layer(layer: int, failed: int) -> SurveyLayer:
    return SurveyLayer(
        layer=layer,
        followed_count=layer,
        hub_count=0,
        found_count=2,
        judged_count=2 - layer,
        relevant_count=1,
        unscored_count=0,
        inadmissible_count=0,
        failed_look_up_count=failed,
    )


def _paper(name: str, layer: int, edge: Edge, reached_from: str, score: int) -> SurveyPaper:
    return SurveyPaper(
        paper_id=PaperId(name),
        text=_text(name),
        layer=layer,
        edge=edge,
        reached_from=reached_from,
        link_count=layer,
        relevance_0_to_5=score,
        kept=score >= 3,
        weight=score / 5 if score >= 3 else None,
        quality_0_to_1=None,
        recency_0_to_1=None,
        cluster_id="c1" if score >= 3 else None,
    )


def _text(name: str) -> Paper:
    return Paper(
        paper_id=PaperId(name),
        title=TITLES[name],
        abstract=f"{TITLES[name]}: we describe what {name} flights sound like to moths at night.",
        authors=(f"Ada {name.title()}",),
        venue="Journal of Bats",
        year=2001 + list(TITLES).index(name),
        url=f"https://example.org/{name}",
    )


def make_survey_head(question_count: int = 1) -> SurveyHead:
    return SurveyHead(
        run_id=SURVEY,
        engine="extractive",
        profile="economy",
        literature="snapshot:abc",
        depth=1,
        maximum_papers=20,
        maximum_judged=50,
        papers_read=0,
        written=Written.REVIEW,
        cutoff_date=None,
        question_count=question_count,
        started_at=START,
        finished_at=START,
    )


def with_answer(survey: Survey, text: str, not_found: str = "") -> Survey:
    """The survey with an answer of its first paper; without a text none is carried."""
    answer = SurveySection(
        section_id="s1",
        part=ReviewPart.ANSWER,
        heading="Answer",
        text=text,
        cited_paper_ids=("first",) if text else (),
        checked_sentence_count=1,
        unscored_reason=None if text else Reason.NO_EVIDENCE,
        unscored_detail="" if text else "the engine named none",
    )
    if not not_found:
        return replace(survey, read_count=2, sections=(answer,))
    open_parts = SurveySection(
        section_id="s2",
        part=ReviewPart.NOT_FOUND,
        heading="Not in what was found",
        text=not_found,
    )
    return replace(survey, read_count=2, sections=(answer, open_parts))


def published_surveys(
    warehouse: Warehouse, *surveys: Survey, written: Written = Written.REVIEW
) -> RunId:
    """Land and publish `surveys` as one run."""
    head = replace(make_survey_head(len(surveys)), written=written)
    return publish_units(warehouse, kind_of(SURVEYS), head, *surveys)
