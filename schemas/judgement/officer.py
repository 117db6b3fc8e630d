"""Nouns of a program officer's questions about a plan."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Prose
from schemas.identifiers import PaperId
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason


class OfficerQuestion(StrEnum):
    """Subject of a question, in the order of a report."""

    DATA_ACCESS = "data_access"
    SAMPLE_SIZE = "sample_size"
    BUDGET = "budget"
    TIME = "time"
    RISKS = "risks"
    ETHICS = "ethics"
    REPRODUCIBILITY = "reproducibility"
    GAINS_AND_ERRORS = "gains_and_errors"


class OfficerStatus(StrEnum):
    """Whether a plan answers a question; no score."""

    STATED = "stated"
    MISSING = "missing"
    CONTRADICTED = "contradicted"


class OfficerAnswer(Judged):
    """Answer of a plan to one question of a program officer, without a score."""

    JUDGEMENT = ("status",)

    question: OfficerQuestion = Field(
        description=(
            "data_access: access and license; sample_size; budget; time: duration and milestones;"
            " risks: with a fallback; ethics: and misuse; reproducibility: code, data and"
            " preregistration; gains_and_errors: who gains, and who bears the errors."
        )
    )
    status: OfficerStatus | None = Field(
        description=(
            "stated: in the words of `quote`; missing: the plan does not say; contradicted: by"
            " `paper_quote` of `paper_id`. None: could not tell, or unscored."
        )
    )
    quote: Prose = Field(default="", description="Verbatim quote of the plan; empty if missing.")
    paper_id: Annotated[PaperId, ColumnInfo(references="papers.paper_id")] | None = Field(
        default=None, description="The paper that contradicts the plan; None: none does."
    )
    paper_quote: Prose = Field(
        default="", description="Verbatim quote of that paper; empty without one."
    )
    sample_needed: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Pairs or items that detect the smallest effect reported by the evidence, four times"
            " of five, in one comparison; None: no effect was read, or another question."
        ),
    )
    calculation: Prose = Field(
        default="",
        description="Effects behind `sample_needed`, Markdown with citations; empty without one.",
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance
