"""A review: sections in order with running notes, a second look at every candidate, and what is
shown first.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from schemas.base import Noun, Reply
from schemas.identifiers import PaperId
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.reasons import Reason
from schemas.works.manuscripts import ManuscriptForm, PooledWork
from tasks.judging.step import Step
from tasks.manuscripts import review as review_module
from tasks.manuscripts.problems import LEAST_PERCENT
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.reference_pool import Pool
from tasks.manuscripts.review import Review, review_manuscript
from tasks.manuscripts.sections import SECTION_WORDS, passages_about, sections_of
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.review import (
    READ_SECTION,
    REFUTE_PROBLEM,
    REVIEW_ASPECT,
    WRITE_REVIEW,
    Aspect,
    AspectInput,
    AspectReply,
    CandidateReply,
    RefuteInput,
    RefuteReply,
    ReviewInput,
    ReviewReply,
    SectionInput,
    SectionReply,
    Verdict,
    baseline_section,
)

FILLER = "Plain words about the pebbles of the shop fill this section until it is long. " * 60
TEXT = f"""# Pebbles

## 1 Introduction
We sorted four hundred pebbles in the spring of the year. {FILLER}

## 2 Methods
Every pebble was washed twice before it was weighed on a scale. {FILLER}

## 3 Results
In all 12 of 40 (25%) pebbles were found to be round enough. {FILLER}
The weight of the round pebbles was higher than that of the others. {FILLER}
"""
WASHED = "Every pebble was washed twice before it was weighed on a scale."
HIGHER = "The weight of the round pebbles was higher than that of the others."
SAID = Provenance(
    step="read_section",
    step_version=1,
    prompt_sha256="ab",
    engine="test",
    model_requested="test",
    model_answered="test",
    seed=None,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def manuscript(text: str = TEXT) -> Manuscript:
    return Manuscript("m", "m.md", "Pebbles", ManuscriptForm.TEXT, "ab", text)


def candidate(
    quote: str,
    problem: str = "It is wrong.",
    confidence: int = 60,
    consequence: str = "The second conclusion falls.",
) -> CandidateReply:
    return CandidateReply(
        problem=problem,
        quote=quote,
        explanation="See there.",
        consequence=consequence,
        confidence_percent=confidence,
    )


class Answering:
    """An engine that answers by plain functions and keeps what it was asked."""

    def __init__(
        self,
        section: Callable[[SectionInput], SectionReply | Reason],
        refute: Callable[[RefuteInput], RefuteReply | Reason] = lambda _: stands(),
        aspect: Callable[[AspectInput], AspectReply | Reason] = lambda _: AspectReply(
            candidates=[]
        ),
    ) -> None:
        self._answers: dict[str, Callable[[Any], Reply | Reason]] = {
            READ_SECTION.name: section,
            REFUTE_PROBLEM.name: refute,
            REVIEW_ASPECT.name: aspect,
            WRITE_REVIEW.name: self._write,
        }
        self.sections: list[SectionInput] = []
        self.looks: list[RefuteInput] = []
        self.whole: list[ReviewInput] = []
        self.aspects: list[AspectInput] = []

    def _write(self, inputs: ReviewInput) -> ReviewReply:
        self.whole.append(inputs)
        return ReviewReply(summary="They sorted pebbles.", soundness_1_to_5=2)

    async def run(self, step: Step[Any, Any], inputs: Noun) -> Outcome[Any]:
        if isinstance(inputs, SectionInput):
            self.sections.append(inputs)
        if isinstance(inputs, AspectInput):
            self.aspects.append(inputs)
        if isinstance(inputs, RefuteInput):
            self.looks.append(inputs)
        answer = self._answers[step.name](inputs)
        number = len(self.sections) + len(self.looks)
        provenance = SAID.model_copy(update={"call_ids": (f"c{number}",)})
        if isinstance(answer, Reason):
            return Unscored(answer, "no answer", provenance)
        return Scored(answer, provenance)


def stands(confidence: int = 80) -> RefuteReply:
    return RefuteReply(reason="It holds.", verdict=Verdict.WRONG, confidence_percent=confidence)


def refuted(quote: str = "") -> RefuteReply:
    return RefuteReply(
        innocent_explanation="They mean another scale.",
        reason="It is wrong.",
        quote=quote,
        verdict=Verdict.REFUTED,
        confidence_percent=90,
    )


def left_open(confidence: int = 80) -> RefuteReply:
    return RefuteReply(reason="Who knows.", verdict=Verdict.OPEN, confidence_percent=confidence)


async def reviewed(
    engine: Answering, text: str = TEXT, most: int = 5, pool: Pool | None = None
) -> Review:
    return await review_manuscript(manuscript(text), engine, 1, most, pool or Pool())


def raising(*raised: CandidateReply, notes: str = "") -> Callable[[SectionInput], SectionReply]:
    """Each candidate where its quotation stands."""

    def answer(inputs: SectionInput) -> SectionReply:
        here = [
            one for one in raised if " ".join(one.quote.split()) in " ".join(inputs.section.split())
        ]
        return SectionReply(candidates=here, notes=notes or f"after {inputs.place}")

    return answer


def test_a_text_is_cut_into_sections_that_a_question_can_show_and_nothing_is_lost() -> None:
    sections = sections_of(Reading("text", TEXT))
    assert all(len(section.text.split()) <= 1.1 * SECTION_WORDS for section in sections)
    joined = " ".join(section.text for section in sections)
    assert joined.count("Plain words") == TEXT.count("Plain words")
    assert [section.place for section in sections] == [
        "section 1 Introduction",
        "section 2 Methods",
        "section 3 Results",
        "section 3 Results",
    ]


async def test_each_section_is_read_once_in_order_with_notes_on_those_before() -> None:
    engine = Answering(raising())
    review = await reviewed(engine)
    places = [asked.place for asked in engine.sections]
    assert places == [section.place for section in sections_of(Reading("text", TEXT))]
    assert engine.sections[0].notes == ""
    assert engine.sections[2].notes == f"after {places[1]}"
    assert (review.attempt.problem_count, review.problems) == (0, ())
    assert review.attempt.provenance is not None
    assert len(review.attempt.provenance.call_ids) == len(places) + 1 + 3


async def test_leads_of_the_checks_go_to_their_section_and_the_baseline_raises_them() -> None:
    engine = Answering(raising())
    await reviewed(engine)
    leads = [[lead.quote for lead in asked.leads] for asked in engine.sections]
    assert [len(each) for each in leads] == [0, 0, 1, 0]
    assert "12 of 40" in leads[2][0]
    answer = await baseline_section(engine.sections[2], None)  # type: ignore[arg-type]
    assert [one.problem.split(":")[0] for one in answer.candidates] == [
        "A percentage contradicts its own counts"
    ]
    assert "12 of 40" in answer.notes


async def test_a_refuted_problem_is_kept_with_the_reason_behind_those_that_stand() -> None:
    engine = Answering(
        raising(candidate(WASHED, confidence=95), candidate(HIGHER, "Not shown.")),
        lambda inputs: refuted(HIGHER) if "washed" in inputs.quote else stands(),
    )
    review = await reviewed(engine)
    assert [(one.problem_id, one.refuted, one.quote) for one in review.problems] == [
        ("a1p1", False, HIGHER),
        ("a1p2", True, WASHED),
    ]
    assert review.attempt.problem_count == 1
    assert review.problems[0].confidence_0_to_1 == 0.7
    told = "For the authors: They mean another scale. It is wrong."
    assert review.problems[1].second_look == told


async def test_a_verdict_that_quotes_what_the_text_does_not_say_decides_nothing() -> None:
    invented = "Pebbles were never washed."
    for look in (refuted(invented), stands(95).model_copy(update={"quote": invented})):
        engine = Answering(raising(candidate(WASHED)), lambda _, look=look: look)
        review = await reviewed(engine)
        (problem,) = review.problems
        assert (problem.refuted, problem.open_question, problem.stands) == (False, True, False)
        assert problem.second_look.endswith("stands nowhere.")
        assert review.attempt.problem_count == 0


async def test_what_a_second_look_leaves_open_is_a_question_and_no_problem() -> None:
    engine = Answering(
        raising(candidate(WASHED, "Open.", 70), candidate(HIGHER, "Hardly sure.", 50)),
        lambda inputs: left_open() if "washed" in inputs.quote else stands(65),
    )
    review = await reviewed(engine)
    found = {one.problem: one for one in review.problems}
    assert [one.stands for one in review.problems] == [False, False]
    assert found["Open."].is_open
    assert found["Hardly sure."].second_look.endswith("are 58 % sure, which is too little.")
    (asked,) = engine.whole
    assert asked.problems == ()
    assert sorted(asked.open_questions) == ["Hardly sure.", "Open."]


async def test_weak_or_unfounded_candidates_fall_without_a_question() -> None:
    damaged = "The m e a n w e i g h t o f all was told here."
    candidates = [
        candidate(WASHED, "Unsure.", LEAST_PERCENT - 1),
        candidate(HIGHER, "Idle.", 90, consequence=""),
        candidate("The pebbles were blue and came from the moon.", "Blue moon."),
        candidate(damaged, "Mean weight."),
        candidate("", "Controls lack."),
    ]
    text = f"# One\n\n{WASHED} {HIGHER}\n\n{damaged}\n"
    engine = Answering(lambda _: SectionReply(candidates=candidates[:3]))
    other = Answering(lambda _: SectionReply(candidates=candidates[3:]))
    problems = [*(await reviewed(engine, text)).problems, *(await reviewed(other, text)).problems]
    assert engine.looks == other.looks == []
    assert {one.refuted for one in problems} == {True}
    told = {one.problem: one.second_look for one in problems}
    assert told["Unsure."] == "It was raised with 49 % confidence only."
    assert told["Idle."] == "Nothing that the text says would change if it held."
    assert "does not have the sentence" in told["Blue moon."]
    assert "damaged" in told["Mean weight."]
    assert "no sentence" in told["Controls lack."]


async def test_no_more_than_twice_as_many_candidates_are_looked_at_and_doubles_once() -> None:
    text = "".join(
        f"## {number} Part\nPebble number {number} was weighed in the morning of that day."
        f" {FILLER}\n"
        for number in range(1, 10)
    )
    words = ["lost", "taken", "broken", "sold", "washed", "counted", "painted", "weighed", "hidden"]
    raised = [
        candidate(
            f"Pebble number {number} was weighed in the morning of that day.",
            f"It was {words[number - 1]} on day {number * 11}.",
            50 + number,
        )
        for number in range(1, 10)
    ]
    engine = Answering(raising(*raised, raised[0], raised[0]))
    review = await reviewed(engine, text, most=2)
    assert len(engine.looks) == 4
    assert len(review.problems) == 4
    assert "number 9" in review.problems[0].quote


async def test_a_section_without_an_answer_is_told_and_nothing_answered_is_unscored() -> None:
    engine = Answering(
        lambda inputs: (
            Reason.REPLY_EMPTY
            if "2 Methods" in inputs.place
            else SectionReply(candidates=[], notes="n")
        )
    )
    review = await reviewed(engine)
    assert review.attempt.problem_count == 0
    assert review.attempt.provenance is not None
    assert review.attempt.provenance.shortening == "no answer about section 2 Methods"
    assert [failure.reason for failure in review.failures] == [Reason.REPLY_EMPTY]
    silent = await reviewed(Answering(lambda _: Reason.REPLY_EMPTY))
    assert silent.attempt.problem_count is None
    assert silent.attempt.unscored_reason is Reason.REPLY_EMPTY


async def test_a_problem_whose_second_look_failed_stands_behind_those_that_were_looked_at() -> None:
    engine = Answering(
        raising(candidate(WASHED, "Point one.", 99), candidate(HIGHER, "Another.", 55)),
        lambda inputs: Reason.REPLY_EMPTY if "washed" in inputs.quote else stands(65),
    )
    review = await reviewed(engine)
    assert [(one.quote, one.refuted) for one in review.problems] == [
        (HIGHER, False),
        (WASHED, None),
    ]
    assert [one.stage for one in review.failures] == ["refute_problem"]


async def test_sections_beyond_the_limit_are_named_and_cost_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(review_module, "MOST_SECTIONS", 2)
    text = "".join(f"## {number} Part\n{FILLER}{FILLER}\n" for number in range(1, 5))
    engine = Answering(raising())
    review = await reviewed(engine, text)
    assert len(engine.sections) == 2
    assert review.attempt.provenance is not None
    assert "beyond the limit of 2" in (review.attempt.provenance.shortening or "")


async def test_a_problem_is_placed_where_its_sentence_stands() -> None:
    short = TEXT.replace(FILLER, "")
    engine = Answering(raising(candidate(WASHED)))
    review = await reviewed(engine, short)
    assert [one.location for one in review.problems] == ["section 2 Methods"]
    (look,) = engine.looks
    assert look.location == "section 2 Methods"
    assert f"[section 2 Methods]\n{WASHED}" in look.passages
    assert HIGHER in look.passages


async def test_the_review_is_written_over_the_last_notes_and_what_stands_alone() -> None:
    engine = Answering(
        raising(candidate(WASHED, "Refuted."), candidate(HIGHER, "Standing.")),
        lambda inputs: refuted() if "washed" in inputs.quote else stands(),
    )
    review = await reviewed(engine)
    (asked,) = engine.whole
    assert asked.notes == "after section 3 Results"
    assert asked.problems == ("Standing. See there.",)
    assert review.written is not None
    assert (review.written.summary, review.written.soundness_1_to_5) == ("They sorted pebbles.", 2)
    assert review.written.clarity_1_to_5 is None
    silent = await reviewed(Answering(lambda _: Reason.REPLY_EMPTY))
    assert silent.written is None


def a_work(name: str, title: str, **fields: Any) -> PooledWork:
    told = {"year": 2001, "publication_date": None, "relevance_0_to_5": None, "retracted": False}
    url = "https://example.org/a"
    return PooledWork(paper_id=PaperId(name), title=title, url=url, **told | fields)


async def test_a_second_look_sees_what_was_looked_up_and_cites_nothing_else() -> None:
    work = a_work("p", "Pebbles washed and weighed")
    engine = Answering(
        raising(candidate(WASHED)),
        lambda _: RefuteReply(
            reason="Known since [P1], and [P7].",
            quote="Pebbles washed and weighed",
            verdict=Verdict.WRONG,
            confidence_percent=70,
        ),
    )
    review = await reviewed(engine, pool=Pool(works=(work,)))
    (asked,) = engine.looks
    assert asked.works == ("P1 (2001, not cited by it): Pebbles washed and weighed.",)
    (problem,) = review.problems
    assert problem.stands
    assert "https://example.org/a" in problem.second_look
    assert "P7" not in problem.second_look
    await reviewed(alone := Answering(raising(candidate(WASHED))))
    assert alone.looks[0].works == ()


async def test_cited_retracted_works_are_one_problem_that_names_each() -> None:
    entries = [
        f"[{n}] A. Stone. {name} pebbles. 200{n}." for n, name in enumerate(("Oval", "Flat"))
    ]
    works = [
        a_work(f"p{n}", f"Retracted: pebbles {n}", cited_as=entry, retracted=True)
        for n, entry in enumerate(entries)
    ]
    text = "\n".join((TEXT, "References", *entries, ""))
    pool = Pool(works=tuple(works))
    engine = Answering(raising())
    (problem,) = (await reviewed(engine, text, pool=pool)).problems
    assert problem.problem == "The manuscript cites a work that has been retracted."
    assert problem.refuted is False
    other = entries[1 - entries.index(problem.quote)]
    assert problem.explanation.endswith(f"The same is said of the list of references: “{other}”.")
    assert engine.looks[0].explanation == problem.explanation


async def test_a_problem_raised_twice_of_one_sentence_is_told_of_it_once() -> None:
    engine = Answering(raising(candidate(WASHED), candidate(WASHED, confidence=50)))
    (problem,) = (await reviewed(engine)).problems
    assert problem.explanation == "See there."


async def test_each_aspect_has_a_reviewer_of_its_own_and_novelty_only_beside_other_works() -> None:
    engine = Answering(raising(candidate(WASHED)))
    await reviewed(engine)
    assert [one.aspect for one in engine.aspects] == ["rigor", "clarity", "consistency"]
    assert all(one.raised == ("It is wrong.",) for one in engine.aspects)
    assert all("[section 3 Results] after section 3" in one.notes for one in engine.aspects)
    work = a_work("p", "Pebbles sorted in spring")
    seeing = Answering(raising())
    await reviewed(seeing, pool=Pool(works=(work,)))
    assert [one.aspect for one in seeing.aspects] == list(Aspect)
    assert all(one.works[0].startswith("P1 (2001") for one in seeing.aspects)


async def test_what_a_reviewer_of_an_aspect_raises_is_looked_at_like_any_other() -> None:

    def answer(inputs: AspectInput) -> AspectReply:
        if inputs.aspect is not Aspect.NOVELTY:
            return AspectReply(candidates=[])
        return AspectReply(
            assessment="Known since [P1] and [P9].",
            rating_1_to_5=2,
            candidates=[candidate(HIGHER, "It is known from [P1].")],
        )

    work = a_work("p", "Pebbles sorted in spring")
    engine = Answering(raising(), aspect=answer)
    review = await reviewed(engine, pool=Pool(works=(work,)))
    assert [one.quote for one in engine.looks] == [HIGHER]
    (problem,) = review.problems
    assert problem.location == "section 3 Results"
    assert review.written is not None
    assert review.written.novelty_1_to_5 == 2
    assert "https://example.org/a" in review.written.novelty
    assert "P9" not in review.written.novelty


async def test_a_silent_reviewer_of_an_aspect_is_a_failure_and_holds_nothing_back() -> None:
    engine = Answering(raising(candidate(WASHED)), aspect=lambda _: Reason.REPLY_EMPTY)
    review = await reviewed(engine)
    assert [one.stage for one in review.failures] == ["review_aspect"] * 3
    assert [one.refuted for one in review.problems] == [False]


def test_slides_other_languages_and_two_papers_are_oddities() -> None:
    slides = "".join(f"[page {number}]\nBig idea {number}\n" for number in range(1, 9))
    german = "Die Steine wurden im Herbst gesammelt und danach alle einzeln gewogen. " * 30
    paper = TEXT.replace(FILLER, "").replace("## 1", "Abstract\nOf pebbles.\n\n## 1")
    listed = f"{paper}\nReferences\n[1] A. Stone.\n\n"
    language = "another language than English"
    for form, text, told in (
        ("pdf", slides, "as slides do"),
        ("text", german, language),
        ("text", "石头很多" * 60, language),
        ("text", listed * 2, "the file seems to hold 2 papers, read as one"),
    ):
        assert told in Reading(form, text).oddities[0]
    assert Reading("text", TEXT).oddities == ()
    assert Reading("text", "Of 40 patients 12 (80 %) recovered.").oddities == ()


def test_text_without_spaces_is_cut_into_stretches_of_bounded_length() -> None:
    sections = sections_of(Reading("text", "石头很多。" * 20_000))
    assert max(len(section.text) for section in sections) < 12 * SECTION_WORDS + 100
    assert sum(section.text.count("石头很多。") for section in sections) > 19_980
    passages = passages_about("石头", "石头很多。", Reading("text", "石头很多。" * 20_000))
    assert len(passages) < 5_000
