"""What came of trying an idea, as a reader meets it: apart from all that the literature says."""

from dataclasses import dataclass
from shlex import quote

from dashboards.render import wording
from schemas.works.experimental_result import ExperimentalResult, Surprise

MEASURED = (
    "Measured within tasks that stand in for the idea: what programs did on their data. It says"
    " nothing of the literature and is part of no score; the review of the plan is shown it."
)
_SURPRISES = {
    Surprise.NOT_SUPPORTED: "who tried it expected it to help",
    Surprise.AGAINST_A_CONCERN: "it helped although a concern spoke against it",
}


@dataclass(frozen=True, slots=True)
class TriedPart:
    """One result on the page."""

    result: ExperimentalResult
    warehouse: str

    @property
    def verdict(self) -> str:
        return wording.finding(self.result.finding)

    @property
    def surprise(self) -> str:
        """Why it was not to be expected; empty: it was."""
        surprise = self.result.surprise
        return "" if surprise is None else _SURPRISES[surprise]

    @property
    def search(self) -> str:
        """The command that looks up why; empty: nothing to look up."""
        query = self.result.proposed_query
        return f"assay survey {quote(query)} --warehouse {quote(self.warehouse)}" if query else ""

    @property
    def report(self) -> str:
        """The command that prints all of it."""
        run_id = self.result.experiment_run_id
        return f"assay report {quote(run_id)} --warehouse {quote(self.warehouse)}"
