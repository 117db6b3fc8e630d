"""Full text switched off, or not to be had: the abstract a source gave stands in."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Reason
from schemas.retrieval import Answer, SourceFailure
from tasks.web.calls import failure

TEXT_SOURCE = "metadata"


def abstract_section(paper: Paper) -> PaperSection | None:
    """The paper's abstract as a section; None where the source has none or withholds it."""
    text = (paper.abstract or "").strip()
    if not text:
        return None
    return PaperSection(
        paper_id=paper.paper_id,
        section=SectionKind.ABSTRACT,
        heading="Abstract",
        text=text,
        text_source=TEXT_SOURCE,
    )


def no_abstract(paper: Paper) -> SourceFailure:
    """The failure of a paper of which nothing can be read."""
    return failure(
        TEXT_SOURCE,
        paper.paper_id,
        Reason.NO_ABSTRACT,
        "the literature source gives no abstract of this paper",
    )


@dataclass(frozen=True, slots=True)
class AbstractLibrary:
    """Sections without full texts: each paper's abstract, a failure for a paper that has none."""

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        """The abstract of every paper; no request leaves."""
        found = [(paper, abstract_section(paper)) for paper in papers]
        return Answer(
            items=tuple(section for _, section in found if section is not None),
            failures=tuple(no_abstract(paper) for paper, section in found if section is None),
        )
