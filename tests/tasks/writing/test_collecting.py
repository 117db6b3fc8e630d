"""Claims are what the lake says, works are quoted word for word, and charts can be read in print."""

import json
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId, RunId
from schemas.literature.paper import Paper
from schemas.works.draft import ClaimKind
from schemas.works.draft_run import PlannedSection, outline_text
from schemas.works.experiment import Finding
from tasks.citations.bib_entries import read_bib
from tasks.text.quotations import stands_in
from tasks.writing.claims import (
    Claims,
    StoredWork,
    add_contradictions,
    add_experiment,
    merge_works,
    nearest_quotes,
    number_shown,
    passage_of,
    stored_texts,
    works_by_key,
)
from tasks.writing.outline import read_outline
from tests.support.draft_lake import plan_draft
from tests.support.experiment_lake import EXPERIMENT, make_experiment, publish_experiment
from warehouse.warehouse import Warehouse

POINTS_A_PIXEL = 0.75


def test_the_query_of_every_claim_gives_it_out_of_the_lake(tmp_path: Path) -> None:
    warehouse, claims = Warehouse(tmp_path), Claims()
    experiment = replace(make_experiment(), because="it's 'chosen'", question="Is it O'Brien's?")
    publish_experiment(warehouse, experiment)
    add_experiment(claims, EXPERIMENT, experiment)
    asked = [claim for claim in claims.by_key.values() if claim.query]
    assert len(asked) > 20
    with warehouse.reader() as connection:
        for claim in asked:
            ((value,),) = connection.execute(claim.query).fetchall()
            assert value == (claim.shown if claim.value is None else claim.value), claim.claim_key
        for figure in plan_draft().material.figures:
            if figure.query:
                rows = connection.execute(figure.query).fetchall()
                drawn = json.loads(figure.spec)["datasets"].values()
                assert len(rows) == max(map(len, drawn))


def test_what_was_not_measured_makes_no_claim() -> None:
    claims = Claims()
    claims.number("a.gain", "gain", None, "")
    claims.text("a.text", "text", " \u200b ")
    assert claims.by_key == {}
    assert [number_shown(each) for each in (0.2, 12345.6, 3.0, -0.000123456)] == [
        "0.2", "12,346", "3", "-0.0001235",
    ]  # fmt: skip


def test_experiments_that_contradict_each_other_leave_a_gap() -> None:
    claims, first = Claims(), make_experiment()
    other = replace(first, finding=Finding.NOT_SUPPORTED)
    pairs = [(add_experiment(claims, EXPERIMENT, first), first)]
    pairs.append((add_experiment(claims, RunId("experiment-b"), other), other))
    assert [stem for stem, _ in pairs] == ["task-0", "task-0-2"]
    add_contradictions(claims, pairs)
    gap = claims.by_key["task-0-2.contradiction"]
    assert gap.kind is ClaimKind.GAP
    assert "experiment-a" in gap.shown
    assert "experiment-b" in gap.shown


def test_a_best_candidate_that_ties_with_what_was_known_leaves_a_gap() -> None:
    claims = Claims()
    add_experiment(claims, EXPERIMENT, replace(make_experiment(), baseline_low=-0.1))
    assert "does not tell them apart" in claims.by_key["task-0.baseline_gap"].shown
    assert "task-0.worth_gap" not in claims.by_key


def test_a_gain_that_is_less_than_what_is_worth_having_leaves_a_gap() -> None:
    claims = Claims()
    add_experiment(claims, EXPERIMENT, replace(make_experiment(), least_difference=0.5))
    assert "less than the smallest difference" in claims.by_key["task-0.worth_gap"].shown


def test_a_work_is_quoted_in_sentences_of_its_passage_near_to_the_idea() -> None:
    passage = (
        "Moths turn away when they hear bats. Cats sleep all day long in warm houses."
        " Bats hear moths with great precision. Yes."
    )
    quotes = nearest_quotes(passage, "how bats hear moths")
    assert quotes == [
        "Moths turn away when they hear bats.", "Bats hear moths with great precision.",
    ]  # fmt: skip
    assert all(stands_in(quote, passage) for quote in quotes)
    assert nearest_quotes("Too short.", "bats") == []


def test_what_is_kept_of_a_work_is_its_abstract_and_whole_passages_that_say_more() -> None:
    work = replace(paper("a", "Bats"), abstract="Bats hear moths. They eat some.")
    near, long = "Bats hear moths from afar.", "word " * 700
    kept = passage_of(work, ["They eat some.", long, near, near], "bats and moths")
    assert kept == "Bats hear moths. They eat some.\n\nBats hear moths from afar."
    texts = stored_texts([work], [(work.paper_id, long), (PaperId("b"), near)])
    assert [(text.title, text.text) for text in texts] == [
        ("Bats", work.abstract), ("Bats", long), ("", near),
    ]  # fmt: skip


def paper(name: str, title: str) -> Paper:
    return Paper(paper_id=PaperId(name), title=title, authors=("דוד כהן",), year=2020)


def test_a_work_of_several_sources_is_one_under_its_readers_key() -> None:
    own = StoredWork(paper("bib:x", "Bats, & moths"), key="Cohen:bats")
    stored = StoredWork(paper("first", "BATS & Moths"), "Bats hear moths.", "hearing")
    (work,) = merge_works([[own], [stored]])
    assert (work.key, work.passage, work.group) == ("Cohen:bats", "Bats hear moths.", "hearing")
    assert work.paper.paper_id == "first"
    other = StoredWork(paper("third", "Else"))
    assert list(works_by_key([work, other])) == ["Cohen:bats", "anonymous2020"]


def test_a_bibliography_keeps_its_keys_and_loses_its_latex(tmp_path: Path) -> None:
    path = tmp_path / "refs.bib"
    path.write_text(
        r"@article{a:1, title={Na{\"\i}ve {B}ats \& $\alpha$}, author={Doe, J. and כהן, דוד},"
        " year={2020}, journal={J.}}\n@misc{b, title={Else}}"
    )
    (first, one), (second, other) = read_bib(path)
    assert (first, one.title, one.authors, one.year) == (
        "a:1", "Naïve Bats & $\\alpha$", ("Doe, J.", "כהן, דוד"), 2020,
    )  # fmt: skip
    assert (second, other.year) == ("b", None)


@pytest.mark.parametrize(
    "fields",
    [
        "eprint={2301.00004}, archivePrefix={arXiv}",
        "eprint={arXiv:2301.00004v2}, eprinttype={arxiv}",
        "url={https://arxiv.org/abs/2301.00004v1}",
    ],
)
def test_an_entry_of_arxiv_has_its_number_and_month(tmp_path: Path, fields: str) -> None:
    path = tmp_path / "refs.bib"
    path.write_text(f"@misc{{h, title={{Moths}}, year={{2024}}, {fields}}}")
    ((_, paper),) = read_bib(path)
    assert (paper.arxiv_id, paper.date_in_words) == ("2301.00004", "2023-01")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no entry"),
        ("no entry at all", "holds no entry"),
        ("@article{a, title={x}}\n@article{a, title={y}}", "cannot be read"),
        ("@article{a b, title={x}}", "more than letters"),
        ("@article{ä, title={x}}", "more than letters"),
        ("@article{a, title={" + "{" * 5_000 + "}" * 5_000 + "}}", "nested too deeply"),
    ],
)
def test_a_bibliography_that_cannot_be_used_is_refused(
    tmp_path: Path, text: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "refs.bib"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        read_bib(path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not caplog.records, "the refusal is the only line"


def test_an_outline_can_be_edited_and_is_held_against_the_claims(tmp_path: Path) -> None:
    request, path = plan_draft(), tmp_path / "outline.yaml"
    path.write_text(outline_text(request.outline))
    assert read_outline(path, request.material) == request.outline
    changes = {
        "names no claim: task-0.guess": {"claim_keys": ("task-0.guess", "declaration")},
        "names no figure: none": {"figure_ids": ("none",)},
        "has no section with declaration": {"claim_keys": ()},
    }
    for said, change in changes.items():
        section = PlannedSection.model_validate({"heading": "A", "purpose": "B"} | change)
        path.write_text(outline_text([section]))
        with pytest.raises(ConfigurationError, match=said):
            read_outline(path, request.material)
    for text, said in {
        "- heading: [": "is no YAML",
        "- 3": "`0`: Input",
        "heading: x": "is no list of sections",
        "": "is no list of sections",
    }.items():
        path.write_text(text)
        with pytest.raises(ConfigurationError, match=said):
            read_outline(path, request.material)
