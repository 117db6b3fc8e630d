"""What the parts of a review share: names of papers, blocks of prose, and who judged."""

from collections.abc import Iterable, Mapping

from dashboards.app import text
from dashboards.render import figures, papers
from dashboards.render.safe_text import prose, prose_line
from schemas.calls import LlmCall
from schemas.identifiers import PaperId
from schemas.literature.naming import surnames
from schemas.literature.paper import Paper
from schemas.outcome import Provenance

NONE_NAMED = "None named."


def block(heading: str, content: str) -> str:
    """A bold heading of our own with untrusted prose under it."""
    return f"**{heading}**\n\n{text.prose(content) if content.strip() else NONE_NAMED}"


def points(heading: str, content: Iterable[str]) -> str:
    """A bold heading of our own with a numbered list of untrusted lines."""
    lines = [
        f"{number}. {text.for_streamlit(prose_line(point))}"
        for number, point in enumerate(content, start=1)
    ]
    return "\n".join([f"**{heading}**", "", *(lines or [NONE_NAMED])])


def paper_link(known: Mapping[PaperId, Paper], paper_id: PaperId) -> str:
    """`[Author et al., 2021-03](address)` as Markdown."""
    return text.spans((papers.cited(known[paper_id]),)) if paper_id in known else "unknown paper"


def paper_name(known: Mapping[PaperId, Paper], paper_id: PaperId) -> str:
    """`Author et al., 2021-03` as plain text, for charts and tables."""
    if paper_id not in known:
        return "unknown paper"
    paper = known[paper_id]
    names = surnames(paper)
    who = (
        " and ".join(names)
        if 0 < len(names) <= 2
        else f"{names[0]} et al."
        if names
        else paper.title.strip() or "Untitled"
    )
    return f"{who[:60]}, {papers.paper_date(paper)}"


def quotation(passage: str) -> str:
    """An untrusted passage as a quotation of paragraphs."""
    return "\n".join(f"> {line}" for line in text.for_streamlit(prose(passage)).splitlines())


def citation_note(removed_count: int, uncited_count: int) -> str:
    """What was taken out of a text, and what it says without a source; empty when neither."""
    found = []
    if removed_count:
        found.append(
            f"{figures.counted(removed_count, 'citation')} of papers that were never shown taken"
            " out."
        )
    if uncited_count:
        found.append(f"{figures.counted(uncited_count, 'sentence')} without a citation.")
    return " ".join(found)


def made_by(provenance: Provenance, calls: Mapping[str, LlmCall]) -> str:
    """Step, prompt, engine, model, seed and calls of one judgement in one line."""
    paid = [calls[name] for name in provenance.call_ids if name in calls]
    parts = [
        f"{provenance.step} version {provenance.step_version}",
        f"prompt {provenance.prompt_sha256[:12]}",
        provenance.engine,
        *([f"answered by {provenance.model_answered}"] if provenance.model_answered else []),
        *([f"seed {provenance.seed}"] if provenance.seed is not None else []),
        figures.moment(provenance.created_at),
    ]
    if paid:
        cost = (
            None
            if any(call.cost_usd is None for call in paid)
            else sum(call.cost_usd or 0.0 for call in paid)
        )
        parts.append(
            f"{figures.counted(len(paid), 'call')}, {figures.usd(cost)},"
            f" {figures.duration(sum(c.latency_seconds for c in paid))}"
        )
    if provenance.shortening is not None:
        parts.append(f"input shortened: {provenance.shortening}")
    return text.line(f"Judged by {' · '.join(parts)}")
