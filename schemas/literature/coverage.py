"""Whether a literature covers the field of an idea: looked at before any evidence is bought."""

from pydantic import Field

from schemas.base import Noun, Prose


class FieldCoverage(Noun):
    """Signs of how well a literature covers a field: its nearest works and the shared words."""

    field_covered: bool = Field(
        description="Whether evidence is worth looking for in this literature."
    )
    field_coverage_0_to_1: float = Field(
        ge=0, le=1, description="Calibrated probability that the literature covers the field."
    )
    field_coverage_detail: Prose = Field(
        description="One line: the nearest works, and how near they are."
    )

    @property
    def warning(self) -> str:
        """One line that says what was not done and why; empty where the field is covered."""
        if self.field_covered:
            return ""
        return (
            "This literature does not cover the field of the idea: no evidence was bought;"
            f" only the plan itself was judged; {self.field_coverage_detail}"
        )
