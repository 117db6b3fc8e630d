"""A check from manuscripts to the lake: with text checks and with a model behind a server on
loopback.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboards.views.write_check import CheckPage
from flows.run.declared_campaign import DeclaredCampaign, run_id
from flows.run.estimate import estimate
from schemas.errors import ConfigurationError
from schemas.judging import Wording
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.works.check_run import CHECKS, CheckHead, CheckRequest
from schemas.works.manuscripts import ManuscriptCheck, ManuscriptForm
from tasks.manuscripts import check
from tasks.manuscripts.work import CHECK, check_scores
from tests.support.checks import check_here, check_request, landed_checks
from tests.support.manuscript_files import faulty_pdf, locked_pdf
from tests.support.openai_server import OpenAIServer, Recorded, start_openai_server
from warehouse.row_models import Publication
from warehouse.units.kind import kind_of
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.units.published_work import published_units
from warehouse.warehouse import Warehouse

REASON = "The percentage in Section 1 is wrong."
PROBLEMS = [
    {"problem": "12 of 40 are not 25 %.", "location": "page 1", "explanation": "They are 30 %."},
    {"problem": "The p-value is wrong.", "location": "page 9", "explanation": "It is .036."},
]


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with start_openai_server() as running:
        running.behaviour = answering()
        yield running


def answering(
    problems: Any = PROBLEMS,
    hit: Callable[[Recorded], bool] = lambda request: "12 of 40" in words(request),
) -> Callable[[Recorded], str]:
    """A model that finds `problems`, and as a judge says yes where `hit`."""

    def behaviour(request: Recorded) -> str:
        if "withdrawn" in request.messages[0]["content"]:
            return "text:" + json.dumps({"explanation": "Compared.", "hit": hit(request)})
        return "text:" + json.dumps({"problems": problems})

    return behaviour


def words(request: Recorded) -> str:
    content: Any = request.messages[-1]["content"]
    return (
        content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)
    )


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "faulty.pdf").write_bytes(faulty_pdf())
    (folder / "locked.pdf").write_bytes(locked_pdf())
    (folder / "sums.md").write_text("# Sums\n\nWe prove that sums behave well.")
    return folder


@pytest.fixture
def reasons(tmp_path: Path) -> Path:
    path = tmp_path / "reasons.jsonl"
    path.write_text(json.dumps({"manuscript": "faulty", "reason": REASON}))
    return path


def asked(
    papers: Path, tmp_path: Path, server: OpenAIServer | None = None, **options: Any
) -> CheckRequest:
    model = {"engine": "litellm:openai/loopback", "api_base": server.url} if server else {}
    return check_request([papers], warehouse=tmp_path / "wh", **(model | options))


def checked(
    request: CheckRequest,
) -> tuple[dict[str, ManuscriptCheck], tuple[UnitReceipt, ...], CheckHead]:
    """Run and land; what has landed."""
    head = DeclaredCampaign(CHECK, request).plan().head
    receipts = check_here(request, head.run_id)
    return landed_checks(request, receipts, head.run_id), receipts, head


def named(request: CheckRequest) -> str:
    return run_id(CHECK, request, "", Settings())


def published(head: CheckHead, request: CheckRequest) -> Publication:
    warehouse = Warehouse(request.warehouse)
    write_head(warehouse, kind_of(CHECKS), head)
    return publish(warehouse, kind_of(CHECKS), head)


def test_unreadable_and_failed_manuscripts_hold_nothing_back(
    papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = check.read_manuscript

    async def breaking(source: Any, *rest: Any) -> Any:
        if source.manuscript_id == "sums":
            raise StopIteration
        return await read(source, *rest)

    monkeypatch.setattr(check, "read_manuscript", breaking)
    found, _, _ = checked(asked(papers, tmp_path))
    assert {name: check.unread_reason for name, check in found.items()} == {
        "faulty": None,
        "locked": "encrypted",
        "sums": "internal_error",
    }
    assert [problem.problem_id for problem in found["faulty"].problems] == ["a1p1", "a1p2", "a1p3"]
    assert found["faulty"].problems[0].location_found is True
    for name in ("locked", "sums"):
        (attempt,) = found[name].attempts
        assert (attempt.problem_count, attempt.unscored_reason) == (None, Reason.SOURCE_UNAVAILABLE)


@pytest.mark.parametrize("review", [False, True])
def test_short_quote_of_the_text_checks_is_found(review: bool, tmp_path: Path) -> None:
    text = "# Moths\n\n## Abstract\nWe ran 412 trials.\n\n## 1 Introduction\nWe ran 380 trials.\n"
    (tmp_path / "moths.md").write_text(text)
    found, _, _ = checked(asked(tmp_path / "moths.md", tmp_path, review=review))
    (problem,) = found["moths"].problems
    assert (problem.quote, problem.quote_found) == ("We ran 412 trials.", True)
    assert problem.stands


def test_a_model_reports_judges_vote_and_hit_rates_follow(
    papers: Path, reasons: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    request = asked(
        papers,
        tmp_path,
        server,
        reasons=reasons,
        judge=("litellm:openai/strict", "extractive"),
        repetitions=1,
    )
    found, _, head = checked(request)
    faulty = found["faulty"]
    assert [problem.location_found for problem in faulty.problems] == [True, False]
    said = {(vote.problem_id, vote.judge): vote.hit for vote in faulty.votes}
    assert (said["a1p1", "litellm:openai/strict"], said["a1p2", "litellm:openai/strict"]) == (
        True,
        False,
    )
    assert len(said) == 4
    assert not found["sums"].votes
    scores = {
        (score.metric, score.judges): score
        for score in check_scores(tuple(found.values()), head.judges, maximum_problems=5)
    }
    assert scores["hit_rate@5", "litellm:openai/strict"].value == 1.0
    assert scores["precision@5", "litellm:openai/strict"].value == 0.5
    assert ("hit_rate@5", "majority") in scores
    assert faulty.attempts[0].input_tokens is not None
    publication = published(head, request)
    assert publication.published, publication.validation
    assert published(head, request).unchanged
    with Warehouse(request.warehouse).reader() as connection:
        assert {
            check.manuscript_id: check
            for check in published_units(connection, kind_of(CHECKS), head.run_id)
        } == found
        hits = connection.execute(
            "select judge, hit, first_hit_rank from attempt_hits where manuscript_id = 'faulty'"
            " order by judge"
        ).fetchall()
    assert ("litellm:openai/strict", True, 1) in hits


def test_published_wording_asks_checker_and_judges_and_is_another_check(
    papers: Path, reasons: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    server.behaviour = lambda request: (
        "text:"
        + json.dumps(
            {"problems": [PROBLEMS[0] | {"confidence_percent": "70 %"}]}
            if "colleague" not in request.messages[0]["content"]
            else {"explanation": "Compared.", "hit": True}
        )
    )
    own, plain = (
        asked(papers / "faulty.pdf", tmp_path, server, reasons=reasons, wording=each)
        for each in ("own", "published")
    )
    assert named(own) != named(plain)
    found, _, head = checked(plain)
    assert head.wording is Wording.PUBLISHED
    assert [problem.confidence_0_to_1 for problem in found["faulty"].problems] == [0.7]
    assert [vote.hit for vote in found["faulty"].votes] == [True]
    with pytest.raises(ConfigurationError, match="leave out --review"):
        asked(papers, tmp_path, server, wording="published", review=True)


def test_problems_of_two_models_are_joined_beside_each_models_own(
    papers: Path, reasons: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    profile = tmp_path / "two.toml"
    profile.write_text(
        'extends = "economy"\nname = "two"\n[judging.steps.find_problems]\n'
        'judges = ["openai/one", "openai/two"]\n'
    )
    alone = {"openai/one": [PROBLEMS[1]], "openai/two": PROBLEMS}

    def behaviour(request: Recorded) -> str:
        if "withdrawn" in request.messages[0]["content"]:
            return answering()(request)
        found_problems = alone[f"openai/{request.body['model']}"]
        return "text:" + json.dumps({"problems": found_problems}) if found_problems else "refusal"

    server.behaviour = behaviour
    request = asked(
        papers / "faulty.pdf", tmp_path, server, reasons=reasons, profile=str(profile), form="text"
    )
    estimate_steps = {each.step: each for each in estimate(CHECK, request, Settings()).steps}
    assert estimate_steps["find_problems"].calls == 2
    found, _, head = checked(request)
    check = found["faulty"]
    both = ("openai/one", "openai/two")
    assert {problem.problem: problem.found_by for problem in check.problems} == {
        PROBLEMS[1]["problem"]: both,
        PROBLEMS[0]["problem"]: both[1:],
    }
    scores = {
        (score.found_by, score.metric): score.value
        for score in check_scores(tuple(found.values()), head.judges, maximum_problems=5)
    }
    assert [scores[finder, "hit_rate@5"] for finder in ("", *both)] == [1.0, 0.0, 1.0]
    page = CheckPage(head, (check,))
    text = page.agreement_in_words(check, check.attempts[0])
    assert text == "Of 2 problems: 1 by openai/one, 2 by openai/two; 1 by all."
    assert published(head, request).published


def test_a_model_without_a_reply_leaves_the_problems_of_the_other_and_is_named(
    papers: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    profile = tmp_path / "two.toml"
    profile.write_text(
        'extends = "economy"\nname = "two"\n[judging.steps.find_problems]\n'
        'judges = ["openai/one", "openai/two"]\n'
    )
    server.behaviour = lambda request: (
        "refusal" if request.body["model"] == "one" else answering()(request)
    )
    found, _, head = checked(
        asked(papers / "faulty.pdf", tmp_path, server, profile=str(profile), form="text")
    )
    check = found["faulty"]
    assert [problem.found_by for problem in check.problems] == [("openai/two",)] * 2
    assert check.attempts[0].answered_by == ("openai/two",)
    text = CheckPage(head, (check,)).agreement_in_words(check, check.attempts[0])
    assert "openai/one did not answer everything (" in text


def test_several_attempts_and_repetitions_are_asked_anew_with_seeds_of_their_own(
    papers: Path, reasons: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    request = asked(
        papers / "faulty.pdf", tmp_path, server, reasons=reasons, attempts=2, repetitions=3
    )
    found, _, head = checked(request)
    assert [attempt.problem_count for attempt in found["faulty"].attempts] == [2, 2]
    assert len(found["faulty"].votes) == 2 * 2 * 3
    finding = [one.body for one in server.requests if "withdrawn" not in one.messages[0]["content"]]
    assert sorted(body["seed"] for body in finding) == [42, 43]
    assert all("temperature" not in body for body in finding)
    rate = next(
        score
        for score in check_scores(tuple(found.values()), head.judges, maximum_problems=5)
        if "mean" in score.metric
    )
    assert (rate.metric, rate.value) == ("mean_hit_rate@5", 1.0)


def test_an_attached_pdf_travels_as_a_file_part_and_its_text_does_not(
    papers: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    request = asked(papers / "faulty.pdf", tmp_path, server, form="pdf")
    found, _, _ = checked(request)
    assert found["faulty"].form is ManuscriptForm.PDF
    (sent,) = server.requests
    parts: Any = sent.messages[-1]["content"]
    assert [part["type"] for part in parts] == ["file", "text"]
    assert parts[0]["file"]["filename"] == "faulty.pdf"
    assert parts[0]["file"]["file_data"].startswith("data:application/pdf;base64,JVBERi0")
    assert "12 of 40" not in parts[1]["text"]


def test_running_again_asks_nothing_and_a_lost_landing_is_filled_from_the_reply_cache(
    papers: Path, reasons: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    request = asked(papers, tmp_path, server, reasons=reasons)
    before, receipts, head = checked(request)
    count = len(server.requests)
    again, receipts_again, _ = checked(request)
    assert (len(server.requests), again, receipts_again) == (count, before, receipts)
    receipt = (
        kind_of(CHECKS).unit_folder(Warehouse(request.warehouse), head.run_id, "faulty")
        / "receipt.json"
    )
    receipt.unlink()
    after, _, _ = checked(request)
    assert len(server.requests) == count
    assert [problem.problem for problem in after["faulty"].problems] == [
        problem.problem for problem in before["faulty"].problems
    ]


def test_no_problem_is_an_answer_and_a_model_that_answers_nothing_is_unscored(
    papers: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    server.behaviour = answering(problems=[])
    found, _, _ = checked(asked(papers / "faulty.pdf", tmp_path, server))
    assert found["faulty"].attempts[0].problem_count == 0
    server.behaviour = "empty"
    silent, _, _ = checked(asked(papers / "faulty.pdf", tmp_path, server, seed=7))
    assert silent["faulty"].attempts[0].problem_count is None
    assert silent["faulty"].attempts[0].unscored_reason is Reason.REPLY_EMPTY


def test_a_spent_budget_leaves_a_manuscript_unfinished_and_the_next_run_finishes_it(
    papers: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    poor = asked(papers / "faulty.pdf", tmp_path, server, max_tokens=0)
    found, (receipt,), _ = checked(poor)
    assert receipt.incomplete_reason == "budget_exhausted"
    assert found["faulty"].attempts[0].unscored_reason is Reason.BUDGET_EXHAUSTED
    rich = asked(papers / "faulty.pdf", tmp_path, server)
    assert named(rich) == named(poor)
    found, (receipt,), _ = checked(rich)
    assert receipt.incomplete_reason is None
    assert found["faulty"].attempts[0].problem_count == 2


def test_a_manuscript_longer_than_the_context_is_shortened_on_record(
    tmp_path: Path, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__CONTEXT_TOKENS", "6000")
    (tmp_path / "long.txt").write_text(
        "# Long\n\n" + "Every word of this text counts for something. " * 2500
    )
    found, _, _ = checked(asked(tmp_path / "long.txt", tmp_path, server))
    provenance = found["long"].attempts[0].provenance
    assert provenance is not None
    assert provenance.shortening is not None
    assert "manuscript" in provenance.shortening


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"form": "pdf"}, "reads text only"),
        ({"api_base": "http://127.0.0.1:1/v1"}, "asks no server"),
        ({"judge": ("extractive",)}, "add --reasons FILE"),
        (
            {"review": True, "form": "pdf", "engine": "litellm:openai/gpt-4.1"},
            "--review reads the text section by section",
        ),
    ],
)
def test_options_that_cannot_be_met_are_refused_in_one_line(
    papers: Path, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        asked(papers, tmp_path, **options)


def test_a_judge_elsewhere_is_asked_there_and_one_of_another_provider_not_at_the_checkers_server(
    papers: Path, reasons: Path, tmp_path: Path
) -> None:
    judges = ("litellm:openai/a", "litellm:openai/b@http://127.0.0.1:9/v1", "litellm:gemini/c")
    request = check_request(
        [papers],
        warehouse=tmp_path,
        engine="litellm:openai/x",
        api_base="http://127.0.0.1:8/v1",
        judge=judges,
        reasons=reasons,
    )
    assert [judge.api_base for judge in request.parameters.judges] == [
        "http://127.0.0.1:8/v1",
        "http://127.0.0.1:9/v1",
        None,
    ]


def test_a_review_lands_refuted_problems_behind_those_that_stand_and_reads_text_alone(
    papers: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    def behaviour(request: Recorded) -> str:
        told: dict[str, Any]
        if "decide whether this one holds" in request.messages[0]["content"]:
            answers = {"They are 35 %": "refuted", "Nobody says": "open"}
            said = (answer for word, answer in answers.items() if word in words(request))
            verdict = next(said, "wrong")
            told = {"reason": "Calculated.", "verdict": verdict, "confidence_percent": 90}
        elif "You write the review" in request.messages[0]["content"]:
            told = {
                "summary": "People were asked.",
                "questions": ["How many?"],
                "soundness_1_to_5": 2,
            }
        elif "You write both" in request.messages[0]["content"]:
            told = {"optimistic": "Rounded.", "sceptical": "Not rounded."}
        else:
            quote = "We found that 12 of 40 (25%) people improved."
            other = "The test was clear, t(28) = 2.20, p = .36, so we stop."
            told = {
                "candidates": [
                    {"problem": "Share.", "quote": quote, "explanation": "They are 35 %.",
                     "consequence": "The share.", "confidence_percent": 95},
                    {"problem": "The p-value.", "quote": other, "explanation": "It is .036.",
                     "consequence": "The effect.", "confidence_percent": 60},
                    {"problem": "Which test?", "quote": other, "explanation": "Nobody says.",
                     "consequence": "The effect.", "confidence_percent": 55},
                ],
                "notes": "12 of 40",
            }  # fmt: skip
        return "text:" + json.dumps(told)

    server.behaviour = behaviour
    request = asked(papers / "faulty.pdf", tmp_path, server, review=True)
    found, _, head = checked(request)
    check = found["faulty"]
    assert head.review
    assert check.form is ManuscriptForm.TEXT
    assert {one.problem: (one.refuted, one.open_question) for one in check.problems} == {
        "The p-value.": (False, False),
        "Share.": (True, False),
        "Which test?": (False, True),
    }
    assert [one.problem for one in check.standing] == ["The p-value."]
    assert check.attempts[0].problem_count == 1
    assert check.attempts[0].provenance is not None
    assert len(check.attempts[0].provenance.call_ids) == 9
    other = asked(papers / "faulty.pdf", tmp_path, server)
    assert named(request) != named(other)
    report = CheckPage(head, (check,)).markdown()
    assert "People were asked." in report
    assert "Soundness 2 of 5. Whether the work is new was not judged." in report
    before, behind = report.split("Set aside after a second look:")
    first, questions = before.split("Open questions, which a second look could not decide:")
    assert "Which test?" in questions
    assert "How many?" in first
    assert "The p-value." in first
    assert "Share." not in first
    assert "Share." in behind


def test_a_review_that_a_budget_ended_goes_on_where_it_stopped(
    papers: Path, tmp_path: Path, server: OpenAIServer
) -> None:
    raised = {
        "problem": "The p-value.",
        "quote": "The test was clear, t(28) = 2.20, p = .36, so we stop.",
        "explanation": "It is .036.",
        "consequence": "The effect.",
        "confidence_percent": 60,
    }
    looked = {"reason": "Known.", "verdict": "wrong", "confidence_percent": 90, "summary": "S."}
    server.behaviour = lambda request: (
        "text:"
        + json.dumps(
            looked
            if "candidates" not in request.messages[0]["content"]
            else {"candidates": [raised], "notes": ""}
        )
    )
    found, (receipt,), _ = checked(
        asked(papers / "faulty.pdf", tmp_path, server, review=True, max_tokens=10)
    )
    assert receipt.incomplete_reason == "budget_exhausted"
    assert [one.refuted for one in found["faulty"].problems] == [None]
    found, (receipt,), _ = checked(asked(papers / "faulty.pdf", tmp_path, server, review=True))
    assert receipt.incomplete_reason is None
    assert [one.refuted for one in found["faulty"].problems] == [False]
