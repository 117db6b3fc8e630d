"""Suite `coverage` (ScholarEval §3, E.1-E.3): expert rubrics, invalid links and preferences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.benchmark import ANOTHER_IDEAS, ASSAY, PROMPT_WITH_SEARCH
from schemas.outcome import Outcome, Scored
from schemas.run import Module
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.records import Day, Row, Text, rows_of
from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE, CoverageInput
from tasks.benchmarks.steps.judge_preference import (
    JUDGE_PREFERENCE,
    PreferenceInput,
    PreferenceReply,
    cited_links,
)
from tasks.benchmarks.steps.prompted_reviews import PROMPTED_CONTRIBUTION, PROMPTED_SOUNDNESS
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    REVIEW_TOKENS,
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
    tokens_of,
)
from tasks.benchmarks.suites.baseline_reviews import PAPERS_SHOWN, WrittenReview, reviews_by_system
from tasks.ideas.parts import parts_of, title_of
from tasks.metrics.estimate import undefined
from tasks.metrics.reviews import (
    CRITERIA,
    Answer,
    Rubric,
    coverage,
    coverage_tests,
    reference_invalidity,
    win_rates,
)
from tasks.novelty.expected import WORK_TOKENS
from tasks.web.client import InvalidURL, redirected, web_address
from tasks.web.exchange import REDIRECTS, NoAnswerError
from tasks.web.guard import Refused, checked_address, response_from

SCHOLARIDEAS_FILE = "scholarideas.jsonl"
TIMEOUT_SECONDS = 20.0
MAXIMUM_REDIRECTS = 5

Reviews = Mapping[str, WrittenReview]
"""Reviews by idea."""


class Statement(Row):
    """Statement of an expert's review."""

    statement: Text
    type: Text
    axis: Text
    severity: Text


class RubricIdea(Row):
    """Idea with its experts' rubrics, which systems do not see."""

    idea_id: Text
    text: Text
    discipline: Text
    cutoff_date: Day = None
    statements: tuple[Statement, ...] = Field(default=(), validation_alias="rubrics")

    @property
    def idea(self) -> Idea:
        """Return the idea that is evaluated."""
        parts = parts_of(self.text)
        return Idea(
            idea_id=IdeaId(self.idea_id),
            title=title_of(self.text),
            text=self.text,
            problem=parts.problem,
            method=parts.method,
            experiment=parts.experiment,
            cutoff_date=self.cutoff_date,
            group=self.discipline,
        )

    @property
    def rubrics(self) -> list[Rubric]:
        """Return the statements, numbered from 1."""
        return [
            Rubric(f"{self.idea_id}:{number}", self.idea_id, self.discipline, **one.model_dump())
            for number, one in enumerate(self.statements, start=1)
        ]


def read_scholarideas(path: Path) -> list[RubricIdea]:
    """Return all ideas with their rubrics.

    Raises:
        ConfigurationError: the file is invalid.
    """
    ideas = rows_of(path, RubricIdea)
    ((repeated_id, count),) = Counter(one.idea_id for one in ideas).most_common(1)
    if count > 1:
        raise ConfigurationError(f"{path} has idea {repeated_id} twice")
    return ideas


def run(trial: Trial) -> None:
    """Score coverage, differences from Assay's reviews, invalid links and preferences."""
    entries = _entries(trial)
    rubrics = [rubric for entry in entries for rubric in entry.rubrics]
    reviews = reviews_by_system(trial, [entry.idea for entry in entries])
    marks_by_system = {
        system: _judge_rubrics(trial, system, rubrics, written_reviews)
        for system, written_reviews in reviews.items()
    }
    for system, marks in marks_by_system.items():
        for part, estimate in coverage(marks, trial.seed).items():
            trial.score("coverage", estimate, system, part)
    for system, theirs in marks_by_system.items():
        if system != ASSAY:
            tests = coverage_tests(marks_by_system[ASSAY], theirs, trial.seed)
            for metric, part, estimate in tests:
                trial.score(metric, estimate, f"{ASSAY} - {system}", part)
    written_reviews = {name: by_idea for name, by_idea in reviews.items() if name != ANOTHER_IDEAS}
    _score_references(trial, written_reviews)
    for system, others in written_reviews.items():
        if system != ASSAY:
            _score_preferences(trial, reviews[ASSAY], others, system)


def _entries(data: SuiteData) -> Sequence[RubricIdea]:
    return data.draw(read_scholarideas(data.file(SCHOLARIDEAS_FILE)))


def _judge_rubrics(
    trial: Trial, system: str, rubrics: Sequence[Rubric], reviews: Reviews
) -> dict[Rubric, float | None]:
    """Mark every rubric; None without a review or a judgement."""
    questions = {
        rubric.rubric_id: CoverageInput(
            review=reviews[rubric.idea_id].text,
            statement=rubric.statement,
            wording=trial.parameters.judge,
        )
        for rubric in rubrics
        if reviews[rubric.idea_id].text
    }
    outcomes = trial.ask(JUDGE_COVERAGE, questions, task=f"{JUDGE_COVERAGE.name} {system}")
    marks: dict[Rubric, float | None] = {}
    for rubric in rubrics:
        outcome = outcomes.get(rubric.rubric_id)
        reply = outcome.value if isinstance(outcome, Scored) else None
        marks[rubric] = None if reply is None else float(reply.score)
        trial.record(
            JUDGE_COVERAGE.name,
            rubric.rubric_id,
            None if reply is None else str(reply.score),
            outcome or reviews[rubric.idea_id],
            system=system,
            value=marks[rubric],
            explanation="" if reply is None else reply.reason,
        )
    return marks


def _score_references(trial: Trial, reviews: Mapping[str, Reviews]) -> None:
    """Score the shares of invalid links by system; undefined without `--check-links`."""
    links = {
        system: [link for review in system_reviews.values() for link in cited_links(review.text)]
        for system, system_reviews in reviews.items()
    }
    statuses: dict[str, LinkStatus] = {}
    if trial.parameters.check_links:
        addresses = {link: link for links_of_system in links.values() for link in links_of_system}
        statuses = trial.each("head_request", addresses, _status, LinkStatus)
    for system, links_of_system in links.items():
        answers = [statuses[link].status if link in statuses else None for link in links_of_system]
        for bound, estimate in reference_invalidity(answers).items():
            if links_of_system and not trial.parameters.check_links:
                not_asked = "addresses were not asked: add --check-links"
                undefined_share = undefined(not_asked, unscored_count=len(links_of_system))
                trial.score(f"reference_invalidity_{bound}", undefined_share, system)
            else:
                trial.score(f"reference_invalidity_{bound}", estimate, system)


class LinkStatus(ItemResult):
    """HTTP status of one address by a HEAD request (E.2).

    It is None without a response.
    """

    status: int | None

    @property
    def may_improve(self) -> bool:
        return self.status is None


async def link_status(
    url: str,
    timeout_seconds: float,
    *,
    allow_private_addresses: bool = False,
) -> LinkStatus:
    """Return the status of `url` after redirects; only public hosts are requested.

    Args:
        allow_private_addresses: for tests.
    """
    private = allow_private_addresses
    try:
        target = web_address(url)
        for _ in range(MAXIMUM_REDIRECTS + 1):
            address = await checked_address(target, allow_private_addresses=private)
            if isinstance(address, Refused):
                return LinkStatus(status=None, detail=address.detail)
            async with response_from(address, "HEAD", target, timeout_seconds) as response:
                location = response.headers.get("location")
            if response.status_code not in REDIRECTS or location is None:
                return LinkStatus(status=response.status_code)
            target = redirected(target, location)
    except (NoAnswerError, InvalidURL) as error:
        return LinkStatus(status=None, detail=str(error))
    return LinkStatus(status=None, detail=f"more than {MAXIMUM_REDIRECTS} redirects")


async def _status(url: str, _: ItemContext) -> LinkStatus:
    return await link_status(url, TIMEOUT_SECONDS)


def _score_preferences(trial: Trial, ours: Reviews, theirs: Reviews, system: str) -> None:
    """Score the win rates of Assay's reviews against a baseline's, by criterion.

    Ideas without both reviews are unscored.
    """
    name = f"{ASSAY} vs. {system}"
    both: dict[str, Mapping[str, Outcome[PreferenceReply]]] = {}
    for order, (first, second) in (
        ("ours_first", (ours, theirs)),
        ("theirs_first", (theirs, ours)),
    ):
        questions = {
            idea_id: PreferenceInput(first=first[idea_id].text, second=second[idea_id].text)
            for idea_id in theirs
            if first[idea_id].text and second[idea_id].text
        }
        both[order] = trial.ask(
            JUDGE_PREFERENCE, questions, task=f"{JUDGE_PREFERENCE.name} {system} {order}"
        )

    for criterion in CRITERIA:
        answers: dict[str, dict[str, Answer]] = {order: {} for order in both}
        for order, outcomes in both.items():
            for idea_id, outcome in outcomes.items():
                explanation = ""
                if isinstance(outcome, Scored):
                    answers[order][idea_id] = getattr(outcome.value, criterion)
                    explanation = getattr(outcome.value, f"{criterion}_reason")
                trial.record(
                    f"{JUDGE_PREFERENCE.name} {criterion} {order}",
                    idea_id,
                    answers[order].get(idea_id),
                    outcome,
                    system=name,
                    explanation=explanation,
                )
        pairs = [
            (answers["ours_first"].get(idea_id), answers["theirs_first"].get(idea_id))
            for idea_id in theirs
        ]
        estimates = {f"preference_{rate}": one for rate, one in win_rates(pairs).items()}
        trial.score_all(estimates, name, f"criterion={criterion}")


def _expects(data: SuiteData) -> SuiteEstimate:
    entries = read_scholarideas(data.file(SCHOLARIDEAS_FILE))
    first_entries = data.first(entries)
    ideas: list[Idea] = [entry.idea for entry in first_entries]
    share = len(first_entries) / len(entries) if entries else 0.0
    rubrics, idea_tokens = share * sum(len(entry.rubrics) for entry in entries), tokens_of(ideas)
    baselines = data.parameters.baselines
    systems = 1 + len(baselines)
    baseline_names = [name for name in baselines if name != ANOTHER_IDEAS]
    first_calls = float(len(ideas) * systems)
    pairs = 2.0 * len(ideas) * len(baseline_names)
    calls = [
        ExpectedCalls(JUDGE_COVERAGE, rubrics * systems, REVIEW_TOKENS, GRADE_TOKENS, first_calls),
        ExpectedCalls(JUDGE_PREFERENCE, pairs, 2 * REVIEW_TOKENS, 3 * GRADE_TOKENS),
    ]
    for name in baseline_names:
        papers = PAPERS_SHOWN * WORK_TOKENS if name == PROMPT_WITH_SEARCH else 0.0
        calls += [
            ExpectedCalls(step, len(ideas), idea_tokens + papers, REVIEW_TOKENS / 2)
            for step in (PROMPTED_SOUNDNESS, PROMPTED_CONTRIBUTION)
        ]
    return SuiteEstimate(len(ideas), calls, ideas)


SUITE = Suite(
    "coverage",
    "How much of what experts said do reviews say too?",
    (SCHOLARIDEAS_FILE,),
    run,
    steps=(JUDGE_COVERAGE, JUDGE_PREFERENCE, PROMPTED_SOUNDNESS, PROMPTED_CONTRIBUTION),
    expects=_expects,
    ideas=lambda data: [entry.idea for entry in _entries(data)],
    modules=(Module.SOUNDNESS, Module.CONTRIBUTION),
    searches=lambda request: PROMPT_WITH_SEARCH in request.parameters.baselines,
)
