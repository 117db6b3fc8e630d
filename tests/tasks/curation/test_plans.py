"""Plan and results of a paper: parts by heading, and sentences that reveal results."""

import pytest

from tasks.curation.leaks import Outcomes, claims_outcome
from tasks.curation.paper_parts import FEWEST_METHOD_WORDS, Part, parts_of_paper
from tests.support.parsed_papers import by_number, parsed
from tests.support.reviewed_papers import RESULTS, SECTIONS


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
    parts = parts_of_paper(by_number(*told))
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
    parts = parts_of_paper(by_number(*SECTIONS, abstract=RESULTS))
    shown = parts.text_of(*Part)
    assert "87.31" not in shown
    assert "outperforms" not in shown
    assert "two datasets of translation" in parts.text_of(Part.EXPERIMENT)
    assert "predicts the difficulty" in parts.text_of(Part.METHOD)
    assert any("87.31" in each for each in parts.outcomes)


def test_a_paper_longer_than_can_be_shown_is_cut() -> None:
    parts = parts_of_paper(by_number(("2 Method", "word " * 20_000), ("3 More", "word " * 10)))
    assert sum(len(each.text.split()) for each in parts.planned) == 7_000


TOLD = "We record calls of bats under two conditions in a cave."


def parts(*headings: tuple[int, str]) -> dict[str, str]:
    """The part of each section that is shown, by its heading."""
    paper = parsed(*((level, heading, f"{TOLD} {heading}.") for level, heading in headings))
    return {each.heading: each.part.value for each in parts_of_paper(paper).planned}


def test_an_analysis_below_the_methods_is_method_and_below_the_results_is_not_shown() -> None:
    shown = parts(
        (0, "Methodology"), (1, "Keyword analysis"), (0, "Results"), (1, "Drift analysis")
    )
    assert shown == {"Methodology": Part.METHOD, "Keyword analysis": Part.METHOD}


def test_a_section_stands_below_none_of_another_number() -> None:
    shown = parts((0, "1 Introduction"), (1, "2.1 Details of the router"), (1, "3.1 Router"))
    assert shown["1 Introduction"] == Part.BACKGROUND
    assert shown["2.1 Details of the router"] == shown["3.1 Router"] == Part.METHOD


def test_a_set_up_below_results_or_experiments_is_part_of_the_plan() -> None:
    shown = parts((0, "Results"), (1, "Experimental setup"), (0, "Experiments"), (1, "Data sets"))
    assert shown["Experimental setup"] == shown["Data sets"] == Part.EXPERIMENT
    assert "Results" not in shown


def test_results_named_within_a_section_on_the_method_are_not_shown() -> None:
    shown = parts((0, "Simulating bats"), (1, "Evaluation protocol"), (1, "Results and analysis"))
    assert shown == {"Simulating bats": Part.METHOD, "Evaluation protocol": Part.EXPERIMENT}


def test_discussion_related_work_and_what_follows_the_end_are_left_out() -> None:
    shown = parts(
        *((0, "Contents"), (0, "Introduction"), (0, "Related work"), (1, "Bats at night")),
        *((0, "Discussion"), (1, "Innovation of the study"), (0, "Conclusions")),
        *((0, "Author details"), (0, "Methods"), (1, "Participants")),
    )
    assert shown == {
        "Introduction": Part.BACKGROUND,
        "Methods": Part.METHOD,
        "Participants": Part.EXPERIMENT,
    }


def test_of_experiments_not_told_apart_from_results_only_procedures_are_shown() -> None:
    text = f"{TOLD} Our results show a gain of 87.31. Figure 3 is blue."
    found = parts_of_paper(by_number(("4 Experiments", text)))
    assert found.text_of(Part.EXPERIMENT) == TOLD
    assert any("87.31" in each for each in found.outcomes)


def test_participants_and_protocols_alone_are_a_method() -> None:
    told = parsed(
        (0, "Materials and methods", ""),
        (1, "Participants", TOLD * 5),
        (1, "Experimental protocol", TOLD * 5),
    )
    assert parts_of_paper(told).method_words >= FEWEST_METHOD_WORDS
    assert parts_of_paper(parsed((0, "Experiments", TOLD * 20))).method_words == 0
