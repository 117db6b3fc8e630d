"""Whether a literature covers the field of an idea: looked at before any evidence is bought."""

from pydantic import Field

from schemas.base import Noun


class FieldCoverage(Noun):
    """What the nearest works and the shared words tell of how well a literature covers a field."""

    covered: bool = Field(description="Whether evidence is worth looking for in this literature.")
    probability_0_to_1: float = Field(
        ge=0, le=1, description="Calibrated probability that the literature covers the field."
    )
    detail: str = Field(description="One line for people: what was looked at, and what it says.")

    @property
    def warning(self) -> str:
        """One line that says what was not done and why; empty where the field is covered."""
        if self.covered:
            return ""
        return (
            "This literature does not cover the field of the idea: no evidence was bought;"
            f" only the plan itself was judged; {self.detail}"
        )
