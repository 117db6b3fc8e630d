"""Coverage of an idea's field by a literature, measured before evidence is searched."""

from pydantic import Field

from schemas.base import Noun, Prose


class FieldCoverage(Noun):
    """Coverage of a field by a literature, from its nearest works and shared words."""

    field_covered: bool = Field(
        description="Whether the literature covers the field well enough to search for evidence."
    )
    field_coverage_0_to_1: float = Field(
        ge=0, le=1, description="Calibrated probability that the literature covers the field."
    )
    field_coverage_detail: Prose = Field(
        description="One line: the nearest works and their similarities."
    )

    @property
    def warning(self) -> str:
        """One-line warning; empty if the field is covered."""
        if self.field_covered:
            return ""
        return (
            "This literature does not cover the field of the idea: no evidence was bought;"
            f" only the plan itself was judged; {self.field_coverage_detail}"
        )
