"""What of an idea tells results: their figures, and claims that something turned out better."""

import pytest

from tasks.curation.leaks import Outcomes, claims_outcome
from tasks.curation.paper_parts import Part, parts_of_paper
from tasks.documents.document import HeadedSection, ParsedDocument
from tests.support.reviewed_papers import RESULTS, SECTIONS


def paper(*sections: tuple[str, str]) -> ParsedDocument:
    listed = tuple(
        HeadedSection(level=heading.count("."), heading=heading, text=text)
        for heading, text in sections
    )
    return ParsedDocument(title="T", abstract=RESULTS, sections=listed, parser="text")


def test_a_figure_of_the_results_is_found_wherever_it_is_repeated() -> None:
    outcomes = Outcomes.of(["It achieves an accuracy of 87.31 on 1,024 items."], "")
    leak = outcomes.leak("We will reach 87.31 on translation.")
    assert leak is not None
    assert "87.31 is a figure of the results" in leak.detail
    assert outcomes.leak("We will use 1024 items.") is not None
    assert outcomes.leak("We will use 512 items.") is None


def test_a_figure_that_the_plan_has_itself_tells_no_result() -> None:
    outcomes = Outcomes.of(["With a penalty of 0.25 it reaches 87.31."], "A penalty of 0.25.")
    assert outcomes.leak("We will apply a penalty of 0.25.") is None


def test_versions_and_splits_that_stand_among_the_results_are_no_figures_of_them() -> None:
    told = (
        ("Experiments", "We compare Llama 3.1 and GPT-3.5 with 10% of the data for validation."),
        ("Results", "Llama 3.1 reaches 87.3. We use 12.5% of the nodes for validation, as before."),
    )
    parts = parts_of_paper(paper(*told))
    outcomes = Outcomes.of(parts.outcomes, "")
    assert "87.3" in outcomes.figures
    assert outcomes.leak("We will ask Llama 3.1 and Gemini 1.5.") is None
    assert outcomes.leak("We will use 12.5% of the nodes for validation.") is None


@pytest.mark.parametrize("number", ["2019", "3", "12"])
def test_years_and_small_numbers_tell_nothing(number: str) -> None:
    assert Outcomes.of([f"In {number} runs it failed."], "").leak(f"We plan {number} runs.") is None


@pytest.mark.parametrize(
    "sentence",
    [
        "The proposed model outperforms the baseline.",
        "Our results show that routing helps.",
        "We found that bats call earlier.",
        "It significantly improves recall over the baseline.",
        "As in Hu et al. (2021), we find that routing helps.",
        "Table 3 demonstrates that the router is fast.",
        "Surprisingly, the smallest model is fastest.",
        "The router performs best in 23 of 24 languages.",
    ],
)
def test_a_claim_of_an_outcome_is_a_leak(sentence: str) -> None:
    assert claims_outcome(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We will test whether the model outperforms the baseline.",
        "We hypothesise that routing will outperform the full model.",
        "However, existing methods outperform people on easy tasks.",
        "Hu et al. (2021) find that routing consistently improves recall.",
        "Table 3 lists the data sets.",
        "We skip samples whose lengths exceed a threshold.",
        "We compare two models on three data sets.",
    ],
)
def test_plans_expectations_and_what_others_did_are_none(sentence: str) -> None:
    assert not claims_outcome(sentence)


def test_leaking_sentences_are_taken_out_and_the_rest_is_left_as_it_is() -> None:
    outcomes = Outcomes.of(["It reaches 87.31."], "")
    text = "We will train a router.\n\nIt reaches 87.31 there. We repeat it five times."
    kept, leaks = outcomes.without_leaks(text)
    assert kept == "We will train a router.\n\nWe repeat it five times."
    assert [leak.sentence for leak in leaks] == ["It reaches 87.31 there."]
    assert outcomes.without_leaks("We  will\ntrain.") == ("We  will\ntrain.", [])


def test_a_paper_is_shown_without_its_results_and_their_figures_are_kept_apart() -> None:
    parts = parts_of_paper(paper(*SECTIONS))
    shown = parts.text_of(*Part)
    assert "87.31" not in shown
    assert "outperforms" not in shown
    assert "two datasets of translation" in parts.text_of(Part.EXPERIMENT)
    assert "predicts the difficulty" in parts.text_of(Part.METHOD)
    assert any("87.31" in each for each in parts.outcomes)


def test_a_paper_longer_than_can_be_shown_is_cut() -> None:
    parts = parts_of_paper(paper(("2 Method", "word " * 20_000), ("3 More", "word " * 10)))
    assert sum(len(each.text.split()) for each in parts.planned) == 7_000
