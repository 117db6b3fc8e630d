"""Blocks on the committee's reviews of an idea."""

from collections.abc import Iterator, Sequence

from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.prose import prose, prose_line
from dashboards.render.wording import reason, unscored_because
from dashboards.views.idea.judges_part import score_of_judges
from dashboards.views.idea.review_blocks import bullets_or, citation_note, prose_by_name
from schemas.judgement.committee import (
    CommitteeEvaluation,
    IdeaPart,
    KnowledgePhase,
    KnowledgeRecord,
    MetaReview,
    PersonaReview,
    Relation,
)
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judging import JudgeVote

_EVIDENCE_SHOWN = 15


def committee_blocks(
    committee: CommitteeEvaluation, votes: Sequence[JudgeVote]
) -> Iterator[pg.Block]:
    """Yield the committee's decision, its reviewers, and their evidence.

    Args:
        votes: of the judges of the idea.
    """
    meta = committee.meta_review
    yield pg.heading(f"Committee · {_verdict(meta)}")
    if meta is not None:
        yield from _meta(meta)
    personas = tuple(dict.fromkeys(review.persona_id for review in committee.reviews))
    if committee.reviews:
        yield _dimensions(committee, personas)
        yield pg.text(_agreement(meta))
    for persona_id in personas:
        reviews = [review for review in committee.reviews if review.persona_id == persona_id]
        yield from _reviewer(persona_id, reviews, votes)
    yield pg.heading("What is known", level=3)
    yield pg.text(_funnel(committee.knowledge))
    yield from _ground(committee)
    if committee.claims:
        yield pg.heading("The idea taken apart", level=3)
        for part in IdeaPart:
            yield pg.text(pg.strong(_words(part)))
            claims = (claim.statement for claim in committee.claims if claim.part is part)
            yield from bullets_or(claims, "The idea does not say.")


def other_sources(evaluation: IdeaEvaluation) -> Sequence[pg.Line]:
    """Return cited pages, repositories and later papers, each once.

    The bibliography of papers does not contain them.
    """
    committee = evaluation.committee
    knowledge = committee.knowledge if committee is not None else ()
    records = {record.knowledge_id: record for record in knowledge}
    names = [row.knowledge_id for row in evaluation.citations if row.paper_id is None]
    records_cited = [records[name] for name in dict.fromkeys(names) if name in records]
    return [
        pg.line(
            _record_link(each), f" ({each.published.isoformat() if each.published else 'n.d.'})"
        )
        for each in records_cited
    ]


def _meta(meta: MetaReview) -> Iterator[pg.Block]:
    if meta.unscored_detail:
        yield pg.text(f"Why there is no decision: {meta.unscored_detail}")
    if meta.unscored_reason is None:
        yield from prose(meta.summary)
        yield from prose_by_name({"Strengths": meta.strengths, "Weaknesses": meta.weaknesses})
    if meta.suggestions:
        yield pg.text(pg.strong("Suggestions, from what appeared after the cutoff"))
        yield from prose(meta.suggestions)
    yield from citation_note(meta.removed_citation_count, meta.uncited_sentence_count, "things")


def _verdict(meta: MetaReview | None) -> str:
    if meta is None:
        return "unscored: no committee met"
    decision = (
        meta.decision.value
        if meta.decision is not None
        else f"no decision: {reason(meta.unscored_reason or 'unknown')}"
    )
    total = meta.total_score_0_to_10
    return f"{figures.mean(total)}{' of 10' if total is not None else ''}, {decision}"


def _agreement(meta: MetaReview | None) -> str:
    if meta is None or meta.krippendorff_alpha is None:
        return (
            "Agreement of the reviewers is undefined: fewer than two dimensions have two differing"
            " scores."
        )
    return (
        "Krippendorff's alpha of the reviewers over the dimensions:"
        f" {figures.with_sign(meta.krippendorff_alpha)} (1 perfect, 0 chance)."
    )


def _dimensions(committee: CommitteeEvaluation, personas: Sequence[str]) -> pg.Table:
    review_of = {(each.persona_id, each.dimension): each for each in committee.reviews}
    meta = committee.meta_review
    means = meta.dimension_means if meta is not None else {}
    spreads = meta.dimension_spreads if meta is not None else {}
    rows = []
    for name in dict.fromkeys(review.dimension for review in committee.reviews):
        persona_reviews = [review_of.get((persona, name)) for persona in personas]
        scores = (
            None if each is None else figures.score(each.score_0_to_10) for each in persona_reviews
        )
        spread = figures.decimals(spreads.get(name))
        rows.append((_words(name), figures.mean(means.get(name)), spread, *scores))
    return pg.table(("Dimension", "Mean:", "Spread:", *(f"{name}:" for name in personas)), rows)


def _reviewer(
    persona_id: str, reviews: Sequence[PersonaReview], votes: Sequence[JudgeVote]
) -> Iterator[pg.Block]:
    """Yield a persona's reviews, and how much evidence it was shown."""
    yield pg.heading(f"Reviewer {persona_id}", level=3)
    evidence = figures.plural(
        reviews[0].shown_evidence_count, "piece of evidence", "pieces of evidence"
    )
    yield pg.text(
        f"Saw {evidence}, {reviews[0].masked_evidence_count:,} withheld as beyond its knowledge"
        f" (seed {reviews[0].mask_seed})."
    )
    for review in reviews:
        yield pg.text(pg.strong(f"{_words(review.dimension)}: {_score(review, votes)}"))
        if review.unscored_reason is not None:
            yield pg.text(review.unscored_detail)
            continue
        yield from prose(review.review)
        yield from citation_note(review.removed_citation_count, 0, "things")


def _score(review: PersonaReview, votes: Sequence[JudgeVote]) -> str:
    judges = score_of_judges(votes, review.provenance, review.dimension)
    judges_note = f" ({judges})" if judges else ""
    if review.score_0_to_10 is not None:
        return f"{figures.score(review.score_0_to_10)} of 10{judges_note}"
    return f"{unscored_because(review.unscored_reason or 'unknown')}{judges_note}"


def _funnel(records: Sequence[KnowledgeRecord]) -> str:
    if not records:
        return "No knowledge was found."
    early_records = [record for record in records if record.phase is KnowledgePhase.BEFORE]
    kinds = ", ".join(
        f"{sum(record.kind is kind for record in early_records):,} {kind.value}"
        for kind in dict.fromkeys(r.kind for r in early_records)
    )
    later_count = len(records) - len(early_records)
    read_count = figures.plural(sum(record.selected for record in records), "item")
    return (
        f"Found from before the cutoff: {kinds or 'nothing'}; later, for suggestions only:"
        f" {later_count:,}. {read_count} read and weighed."
    )


def _ground(committee: CommitteeEvaluation) -> Iterator[pg.Block]:
    """Yield the evidence for or against, from before the cutoff, most relevant first."""
    decisive = [
        row
        for row in committee.evidence
        if row.relation in (Relation.SUPPORTS, Relation.REFUTES)
        and row.phase is KnowledgePhase.BEFORE
    ]
    if not decisive:
        return
    decisive.sort(key=lambda row: -(row.relevance_0_to_1 or 0.0))
    records = {record.knowledge_id: record for record in committee.knowledge}
    findings = []
    for row in decisive[:_EVIDENCE_SHOWN]:
        record = records.get(row.knowledge_id)
        record_link = _record_link(record) if record is not None else "unknown"
        relation = row.relation.value if row.relation is not None else "unscored"
        is_verified = "yes" if row.passage_verified else "no"
        findings.append(
            (record_link, _words(row.part), relation, prose_line(row.evidence), is_verified)
        )
    columns = ("Knowledge", "Part", "Says", "Finding", "Quoted word for word")
    yield pg.table(columns, findings)
    if len(decisive) > _EVIDENCE_SHOWN:
        more = figures.plural(len(decisive) - _EVIDENCE_SHOWN, "finding")
        yield pg.text(f"{more} more in the table ", pg.code("evidence"), ".")


def _record_link(record: KnowledgeRecord) -> pg.Line:
    return pg.line(pg.link(record.title or record.url, record.url))


def _words(name: str) -> str:
    return str(name).replace("_", " ").replace("tldr", "in brief")
