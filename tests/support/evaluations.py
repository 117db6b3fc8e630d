"""Realistic synthetic evaluations: `make_evaluation()` is sound in every respect, tests break it
from there.
"""

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise, product
from typing import Any

from schemas.base import replace
from schemas.calls import ApiCall, CallStatus, LlmCall
from schemas.failure import LEFT_OUT, Failure
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, IdeaId, PaperId, RunId, content_hash
from schemas.judgement.contribution import (
    Candidate,
    CandidateOrigin,
    Comparison,
    ContributionEvaluation,
    ContributionReview,
    Dimension,
    Overlap,
    confidence_of,
    novelty_interval,
    novelty_of,
)
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.officer import OfficerAnswer, OfficerQuestion, OfficerStatus
from schemas.judgement.soundness import (
    Concern,
    ConcernKind,
    ConcernSeverity,
    ElementKind,
    ElementStanding,
    Method,
    MethodEvidence,
    MethodPassage,
    PlanElement,
    PlanReview,
    SoundnessEvaluation,
    SoundnessReview,
    SoundnessSummary,
)
from schemas.judgement.suggestion import ActionEffort, Suggestion
from schemas.judging import JudgeVote
from schemas.literature.citation import Citation
from schemas.literature.paper import CitationEdge, Paper, PaperSection, SectionKind
from schemas.literature.recommendation import Resource, ResourceKind
from schemas.outcome import Provenance
from schemas.profile import ScoreWeights
from schemas.reasons import Reason
from schemas.run import Budget, Module, PlannedRun, Run, RunState
from warehouse.kinds.runs.landing import RUNS, standing_of_rows
from warehouse.rows import Row, Rows
from warehouse.units.unit_rows import rows_of as rows_of_unit
from warehouse.units.unit_rows import unit_of

START = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
CUTOFF = date(2025, 6, 30)
WORDS = (
    "sparse", "attention", "kernel", "retrieval", "graph", "protein", "sampling", "policy",
    "reward", "latent", "diffusion", "corpus", "bias", "variance", "robust", "calibration",
    "transfer", "contrastive", "alignment", "simulation", "spectral", "assay", "cohort",
    "imaging", "prior", "posterior", "gradient", "memory",
)  # fmt: skip


def prose(generator: random.Random, words: int) -> str:
    """`words` words of filler with the entropy of prose."""
    return " ".join(generator.choice(WORDS) for _ in range(words)).capitalize() + "."


def make_provenance(step: str, number: int = 0, *, engine: str = "litellm:small") -> Provenance:
    return Provenance(
        step=step,
        step_version=1,
        prompt_sha256=content_hash(step),
        engine=engine,
        model_requested="small",
        model_answered="small-2026-01",
        seed=7,
        created_at=START + timedelta(seconds=number),
        call_ids=(f"{step}-{number}",),
    )


def make_idea(number: int = 0, **changes: object) -> Idea:
    generator = random.Random(number)
    idea = Idea(
        idea_id=IdeaId(f"idea-{number:05d}"),
        title=f"Idea {number}",
        text=f"# Idea {number}\n\n{prose(generator, 250)}",
        cutoff_date=CUTOFF,
        group=("biology", "vision", "language")[number % 3],
        metadata={"author": f"lab {number % 4}"},
    )
    return replace(idea, **changes) if changes else idea


def make_papers(number: int, count: int) -> tuple[Paper, ...]:
    generator = random.Random(f"papers {number}")
    return tuple(
        Paper(
            paper_id=PaperId(content_hash(str(number), str(n), length=40)),
            corpus_id=1000 * number + n,
            title=prose(generator, 8),
            abstract=prose(generator, 150) if n % 9 else None,
            authors=(f"A. Author{n}", "B. Writer"),
            author_ids=(f"a{n}", "") if n % 2 else None,
            venue_id="v1" if n % 2 else None,
            fields_of_study=("Biology",) if n % 2 else None,
            concepts=("cells", "membranes") if n % 3 else None,
            key_phrases=None if n % 3 else ("ion channels",),
            venue="Journal of Things",
            year=2015 + n % 10,
            publication_date=date(2015 + n % 10, 1 + n % 12, 3) if n % 3 else None,
            url=f"https://example.org/paper/{number}/{n}",
            citation_count=n,
            reference_count=None,
        )
        for n in range(count)
    )


def make_citation_edges(papers: tuple[Paper, ...]) -> tuple[CitationEdge, ...]:
    """Each paper cites the one before; of every second the passages are known."""
    return tuple(
        CitationEdge(
            citing_paper_id=citing.paper_id,
            cited_paper_id=cited.paper_id,
            influential=n % 4 == 0 or None,
            contexts=("We follow [1].", "See [1].") if n % 2 else None,
            sections=("Method", "") if n % 2 else None,
            intents=("methodology, result", "") if n % 2 else None,
        )
        for n, (cited, citing) in enumerate(pairwise(papers))
    )


def make_resources(papers: tuple[Paper, ...]) -> tuple[Resource, ...]:
    """The first paper is that of a data set; those behind it name it and a metric."""
    own, *others = papers
    own_row = Resource(
        kind=ResourceKind.DATA_SET,
        name=own.title,
        paper_id=own.paper_id,
        quote="We present a corpus of things.",
        section="Abstract",
        resource_paper_id=own.paper_id,
    )
    rows = (
        (
            replace(own_row, paper_id=each.paper_id, quote="We train on things.", section="Data"),
            Resource(
                kind=ResourceKind.METRIC,
                name="BLEU",
                paper_id=each.paper_id,
                quote="We reach 31 BLEU.",
                section="",
                provenance=make_provenance("extract_resources"),
            ),
        )
        for each in others[:2]
    )
    return (own_row, *(row for pair in rows for row in pair))


def make_soundness(
    number: int, papers: tuple[Paper, ...], methods: int = 3, evidence: int = 4
) -> SoundnessEvaluation:
    generator = random.Random(f"soundness {number}")
    method_ids = [f"m{n + 1}" for n in range(methods)]
    passages = [
        MethodPassage(
            method_id=method_id,
            passage_id=f"{method_id}-p{n}",
            paper_id=papers[n % len(papers)].paper_id,
            text=prose(generator, 80),
            kind="body",
            section="Results",
            score=1.0 / (n + 1),
            cited_paper_ids=(papers[(n + 1) % len(papers)].paper_id,),
        )
        for method_id in method_ids
        for n in range(evidence)
    ]
    return SoundnessEvaluation(
        methods=tuple(
            Method(
                method_id=method_id,
                rank=n + 1,
                text=prose(generator, 40),
                quote="",
                queries=(prose(generator, 12),),
                failure_query=prose(generator, 6),
                provenance=make_provenance("methods", n),
            )
            for n, method_id in enumerate(method_ids)
        ),
        passages=tuple(passages),
        sections=tuple(
            PaperSection(
                paper_id=paper.paper_id,
                section=SectionKind.ABSTRACT,
                heading="Abstract",
                text=prose(generator, 200),
                text_source="metadata",
            )
            for paper in papers[:evidence]
        ),
        evidence=tuple(
            MethodEvidence(
                method_id=method_id,
                paper_id=paper.paper_id,
                relevant=n % 2 == 0,
                relevance_0_to_3=(3, 0, 1, 0)[n % 4],
                method=prose(generator, 30),
                results=prose(generator, 30),
                context=prose(generator, 15),
                provenance=make_provenance("method_evidence", n),
            )
            for method_id in method_ids
            for n, paper in enumerate(papers[:evidence])
        ),
        reviews=tuple(
            _soundness_review(generator, method_id, n, methods, evidence)
            for n, method_id in enumerate(method_ids)
        ),
        elements=_elements(generator),
        concerns=_concerns(generator),
        officer_answers=_officer_answers(papers[0].paper_id),
        plan_review=PlanReview(
            concern_count=5, dropped_point_count=1, provenance=make_provenance("plan_review")
        ),
        summary=SoundnessSummary(
            strengths=(prose(generator, 20),),
            weaknesses=(prose(generator, 20),),
            suggestions=(),
            provenance=make_provenance("summary"),
        ),
        failures=(
            Failure(
                stage="documents",
                subject=papers[0].paper_id,
                reason=Reason.FORBIDDEN,
                detail="the publisher wants a login",
            ),
        ),
    )


def _elements(generator: random.Random) -> tuple[PlanElement, ...]:
    return tuple(
        PlanElement(
            element_id=f"e{n + 1}",
            kind=kind,
            standing=standing,
            text=prose(generator, 15),
            quote=prose(generator, 8) if standing is ElementStanding.STATED else "",
            provenance=make_provenance("extract_methods"),
        )
        for n, (kind, standing) in enumerate(product(ElementKind, ElementStanding))
    )


def _officer_answers(paper_id: PaperId) -> tuple[OfficerAnswer, ...]:
    """One stated, one missing with a size, one contradicted, the others not to be told."""
    generator = random.Random("officer")
    judged: dict[OfficerQuestion, dict[str, Any]] = {
        OfficerQuestion.DATA_ACCESS: {
            "status": OfficerStatus.CONTRADICTED,
            "quote": prose(generator, 8),
            "paper_id": paper_id,
            "paper_quote": prose(generator, 8),
        },
        OfficerQuestion.SAMPLE_SIZE: {
            "status": OfficerStatus.MISSING,
            "sample_needed": 34,
            "calculation": "34 pairs detect an effect like that of a study.",
        },
        OfficerQuestion.TIME: {"status": OfficerStatus.STATED, "quote": prose(generator, 8)},
    }
    unscored = {"status": None, "unscored_reason": Reason.NO_EVIDENCE}
    return tuple(
        OfficerAnswer(
            question=each,
            provenance=make_provenance("officer_review"),
            **judged.get(each, unscored),
        )
        for each in OfficerQuestion
    )


def _concerns(generator: random.Random) -> tuple[Concern, ...]:
    """A minor, a fatal and a major concern, a strength and a question, as a model gave them."""
    unacted = (None, ConcernSeverity.QUESTION)
    kinds = (
        (ConcernKind.METRIC, ConcernSeverity.MINOR),
        (ConcernKind.CONFOUND, ConcernSeverity.FATAL),
        (ConcernKind.MISSING_BASELINE, ConcernSeverity.MAJOR),
        (ConcernKind.STRENGTH, None),
        (ConcernKind.METRIC, ConcernSeverity.QUESTION),
    )
    return tuple(
        Concern(
            concern_id=f"c{n + 1}",
            rank=n + 1,
            kind=kind,
            severity=severity,
            point=prose(generator, 15),
            quote="" if n == 2 else prose(generator, 8),
            omission=prose(generator, 8) if n == 2 else "",
            why=prose(generator, 12),
            would_change=prose(generator, 12),
            action=prose(generator, 12) if severity not in unacted else "",
            effort=ActionEffort.DAYS if severity not in unacted else None,
            supported="Method 1: a study found just this." if n == 1 else "",
            provenance=make_provenance("plan_review"),
        )
        for n, (kind, severity) in enumerate(kinds)
    )


def _soundness_review(
    generator: random.Random, method_id: str, n: int, methods: int, evidence: int
) -> SoundnessReview:
    unscored = methods > 1 and n == methods - 1
    return SoundnessReview(
        method_id=method_id,
        support="" if unscored else prose(generator, 60),
        contradictions="" if unscored else prose(generator, 60),
        suggestions="" if unscored else prose(generator, 40),
        open_questions="" if unscored else prose(generator, 15),
        score_0_to_10=None if unscored else float(generator.randint(0, 10)),
        confidence_0_to_3=None if unscored else 2,
        unscored_reason=Reason.NO_EVIDENCE if unscored else None,
        unscored_detail="no relevant paper" if unscored else "",
        evidence_count=0 if unscored else evidence // 2,
        provenance=make_provenance("soundness_review", n),
    )


def make_contribution(
    number: int, papers: tuple[Paper, ...], dimensions: int = 2, compared: int = 5
) -> ContributionEvaluation:
    generator = random.Random(f"contribution {number}")
    dimension_ids = [f"d{n + 1}" for n in range(dimensions)]
    comparisons = tuple(
        Comparison(
            paper_id=paper.paper_id,
            dimension_id=dimension_id,
            dimension=f"Dimension {dimension_id}",
            comparison=prose(generator, 40),
            score=generator.choice((-1, 0, 1)),
            overlap=(Overlap.PARTIAL, Overlap.SUBSTANTIAL, Overlap.NONE)[n % 3],
            remains="The controller." if n % 3 == 1 else "",
            quote=prose(generator, 8) if n % 3 == 1 else "",
            overall_comparison=f"Overall {paper.paper_id}",
            provenance=make_provenance("comparison", n),
        )
        for n, paper in enumerate(papers[:compared])
        for dimension_id in dimension_ids
    )
    return ContributionEvaluation(
        dimensions=tuple(
            Dimension(
                dimension_id=dimension_id,
                name=f"Dimension {dimension_id}",
                statements=(prose(generator, 15),),
                queries=(prose(generator, 6), prose(generator, 6)),
                provenance=make_provenance("dimensions", n),
            )
            for n, dimension_id in enumerate(dimension_ids)
        ),
        candidates=tuple(
            Candidate(
                paper_id=paper.paper_id,
                origin=CandidateOrigin.SEARCH if n % 2 else CandidateOrigin.RECOMMENDATION,
                found_by="a query",
                similarity_0_to_1=0.5,
                relevance_0_to_5=4 if n < compared else None,
                rationale=prose(generator, 15),
                seed=n < 2,
                compared=n < compared,
                provenance=make_provenance("relevance", n) if n < compared else None,
            )
            for n, paper in enumerate(papers)
        ),
        comparisons=comparisons,
        reviews=tuple(
            _contribution_review(generator, dimension_id, comparisons)
            for dimension_id in dimension_ids
        ),
        failures=(),
    )


def _contribution_review(
    generator: random.Random, dimension_id: str, comparisons: tuple[Comparison, ...]
) -> ContributionReview:
    along = [each for each in comparisons if each.dimension_id == dimension_id]
    scores = [each.score for each in along if each.score is not None]
    lower, upper = novelty_interval(along) or (None, None)
    return ContributionReview(
        dimension_id=dimension_id,
        dimension=f"Dimension {dimension_id}",
        strengths=prose(generator, 60),
        weaknesses=prose(generator, 60),
        suggestions=prose(generator, 40),
        mean_comparison_score=sum(scores) / len(scores) if scores else None,
        novelty_0_to_10=novelty_of(along),
        novelty_lower_0_to_10=lower,
        novelty_upper_0_to_10=upper,
        confidence_0_to_3=confidence_of(along),
        scored_comparison_count=len(scores),
        unscored_comparison_count=0,
        provenance=make_provenance("contribution_review"),
    )


def make_suggestions(number: int) -> tuple[Suggestion, ...]:
    """One of each review that makes them: of the plan, of a method, of a dimension."""
    generator = random.Random(f"suggestions {number}")
    made = (
        ("soundness", "plan", "plan_review", "c2"),
        ("soundness", "m1", "soundness_review", None),
        ("contribution", "d1", "contribution_review", None),
    )
    return tuple(
        Suggestion(
            module=module,
            subject=subject,
            rank=1,
            change=prose(generator, 12),
            because=prose(generator, 10),
            how=prose(generator, 8),
            effort=ActionEffort.DAYS,
            deciding_outcome=prose(generator, 8),
            concern_id=concern_id,
            citation_keys=("P2",) if module == "contribution" else (),
            provenance=make_provenance(step),
        )
        for module, subject, step, concern_id in made
    )


JUDGES = ("openai/gpt-5", "anthropic/claude-sonnet-4", "mistral/large", "deepseek/chat")


def make_judge_votes(
    judged: Provenance, *answers: float | Reason, item: str = ""
) -> tuple[JudgeVote, ...]:
    """What several judges said to one question: a score of `item`, or why the whole reply has none,
    in the order of `JUDGES`.
    """
    return tuple(
        JudgeVote(
            step=judged.step,
            question=content_hash("question", *judged.call_ids, length=16),
            item="" if isinstance(answer, Reason) else item,
            judge=judge,
            model_answered=None if isinstance(answer, Reason) else f"{judge}-2026-01",
            score=None if isinstance(answer, Reason) else answer,
            unscored_reason=answer if isinstance(answer, Reason) else None,
            unscored_detail="the judge gave no score" if isinstance(answer, Reason) else "",
            call_ids=judged.call_ids,
        )
        for judge, answer in zip(JUDGES, answers, strict=False)
    )


def make_llm_call(idea_id: IdeaId, number: int, **changes: object) -> LlmCall:
    call = LlmCall(
        call_id=f"llm-{number}",
        idea_id=idea_id,
        step=("methods", "method_evidence", "comparison")[number % 3],
        step_version=1,
        prompt_sha256=content_hash("prompt"),
        engine="litellm:small",
        model_requested="small",
        model_answered="small-2026-01",
        prompt_tokens=1200,
        completion_tokens=300,
        cached_tokens=200,
        cost_usd=0.001,
        latency_seconds=0.5 + number % 7,
        queue_seconds=0.01,
        attempt=1,
        cache_hit=False,
        status=CallStatus.OK,
        seed=7,
        created_at=START + timedelta(seconds=number),
    )
    return replace(call, **changes) if changes else call


def make_api_call(idea_id: IdeaId, number: int, **changes: object) -> ApiCall:
    call = ApiCall(
        call_id=f"api-{number}",
        idea_id=idea_id,
        source="semantic_scholar",
        endpoint=("paper/search", "snippet/search", "paper/batch")[number % 3],
        status=200,
        failure_reason=None,
        wait_seconds=0.2,
        latency_seconds=0.3,
        cache_hit=number % 4 == 0,
        packed=1 + number % 5,
        upstream_requests=0 if number % 4 == 0 else 1,
        created_at=START + timedelta(seconds=number),
    )
    return replace(call, **changes) if changes else call


def make_evaluation(
    number: int = 0,
    *,
    run_id: str = "run-a",
    papers: int = 8,
    methods: int = 3,
    dimensions: int = 2,
    compared: int = 5,
    calls: int = 6,
    idea: Idea | None = None,
) -> IdeaEvaluation:
    """One whole evaluation that passes every expectation; the last of several methods is unscored
    for lack of evidence.
    """
    idea = idea or make_idea(number)
    found = make_papers(number, papers)
    return IdeaEvaluation(
        run_id=RunId(run_id),
        evaluation_key=EvaluationKey(content_hash(idea.text, str(idea.cutoff_date), length=32)),
        idea=idea,
        profile="economy",
        engine="litellm:small",
        literature="snapshot:bundled",
        soundness=make_soundness(number, found, methods),
        contribution=make_contribution(number, found, dimensions, compared),
        papers=found,
        citations=(
            Citation(
                paper_id=found[0].paper_id,
                citation_key="P1",
                module="soundness",
                subject="m1",
                field="support",
                count=2,
            ),
            Citation(
                paper_id=found[1].paper_id,
                citation_key="P2",
                module="contribution",
                subject="d1",
                field="strengths",
                count=1,
            ),
        ),
        suggestions=make_suggestions(number),
        citation_edges=make_citation_edges(found),
        resources=make_resources(found),
        llm_calls=tuple(make_llm_call(idea.idea_id, n) for n in range(calls)),
        api_calls=tuple(make_api_call(idea.idea_id, n) for n in range(calls)),
        failures=(),
        started_at=START,
        finished_at=START + timedelta(seconds=40),
    )


def with_other_words(evaluation: IdeaEvaluation) -> IdeaEvaluation:
    """The evaluation, whose first review of a method says something else."""
    assert evaluation.soundness is not None
    first, *others = evaluation.soundness.reviews
    reviews = (replace(first, support="Other words."), *others)
    return replace(evaluation, soundness=replace(evaluation.soundness, reviews=reviews))


def with_papers_left_out(evaluation: IdeaEvaluation) -> IdeaEvaluation:
    """The evaluation, whose cutoff kept papers out."""
    left_out = Failure(
        stage=LEFT_OUT,
        subject="papers after 2024-05-31",
        reason=Reason.AFTER_CUTOFF,
        detail="26 papers may have appeared after the cutoff 2024-05-31 and counted for nothing",
    )
    return replace(evaluation, failures=(*evaluation.failures, left_out))


def make_run(run_id: str = "run-a", ideas: int = 1, **changes: object) -> Run:
    run = Run(
        run_id=RunId(run_id),
        label="",
        profile="economy",
        engine="litellm:small",
        literature="snapshot:bundled",
        modules="soundness,contribution",
        idea_count=ideas,
        rejected_count=0,
        evaluated_count=ideas,
        failed_count=0,
        scored_count=ideas,
        partly_scored_count=0,
        unscored_count=0,
        in_order=True,
        allowed_unscored_share=0.1,
        state=RunState.PUBLISHED,
        started_at=START,
        finished_at=START + timedelta(minutes=10),
        duration_seconds=600.0,
        assay_version="0.1.0",
        score_weights=ScoreWeights(soundness=1.0, contribution=1.0),
    )
    return replace(run, **changes) if changes else run


def make_planned(run_id: str = "run-a", ideas: int = 1, **changes: object) -> PlannedRun:
    """Make a run that has begun now."""
    told = {
        "run_id": run_id,
        "idea_count": ideas,
        "rejected_count": 0,
        "engine": "litellm:small",
        "profile": "economy",
        "modules": (Module.SOUNDNESS,),
        "budget": Budget(maximum_cost_usd=5.0),
        "ideas_path": "/ideas.jsonl",
        "started_at": datetime.now(UTC),
    }
    return PlannedRun.model_validate(told | changes)


def rows_of(evaluation: IdeaEvaluation) -> Rows:
    """The rows that landing writes."""
    rows = rows_of_unit(RUNS, evaluation.run_id, evaluation)
    (idea,) = rows["ideas"]
    return rows | {"ideas": [idea | standing_of_rows(rows).model_dump()]}


def evaluation_of(rows: Mapping[str, Sequence[Row]]) -> IdeaEvaluation:
    return unit_of(RUNS, rows["ideas"][0]["evaluation_key"], rows)
