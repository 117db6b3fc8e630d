"""Repeated ideas: found whatever their order, in time linear in the text."""

import random
import subprocess
import sys

import pytest

from schemas.idea import Idea
from schemas.identifiers import IdeaId
from tasks.ideas.duplicates import mark_duplicates
from tests.support.growth import superlinear_from

VOCABULARY = [f"word{number}" for number in range(3000)]


def idea(name: str, text: str) -> Idea:
    return Idea(idea_id=IdeaId(name), title=name, text=text)


def words(seed: int, count: int) -> list[str]:
    return random.Random(seed).choices(VOCABULARY, k=count)


def test_the_same_text_under_another_id_is_kept_and_marked() -> None:
    text = " ".join(words(1, 200))
    marked = mark_duplicates([idea("a", text), idea("b", text.upper() + "!"), idea("c", text)])
    assert [(item.duplicate_of, item.duplicate_similarity_0_to_1) for item in marked] == [
        (None, None),
        ("a", 1.0),
        ("a", 1.0),
    ]


def test_a_slightly_changed_text_is_a_near_duplicate() -> None:
    original = words(2, 300)
    changed = [*original]
    changed[100], changed[200] = "new", "newer"
    _, second = mark_duplicates([idea("a", " ".join(original)), idea("b", " ".join(changed))])
    assert second.duplicate_of == "a"
    assert second.duplicate_similarity_0_to_1 == pytest.approx(286 / 306, abs=0.01)


def test_texts_that_share_half_are_no_duplicates() -> None:
    original = words(3, 300)
    half = original[:150] + words(4, 150)
    assert not any(
        item.duplicate_of
        for item in mark_duplicates([idea("a", " ".join(original)), idea("b", " ".join(half))])
    )


def test_a_text_without_spaces_between_words_is_compared_by_characters() -> None:
    text = "我们研究大型语言模型在科学文献评估中的可靠性问题并提出新的方法"
    _, second = mark_duplicates([idea("a", text), idea("b", text + "。")])
    assert second.duplicate_of == "a"


def test_marks_do_not_depend_on_the_process() -> None:
    code = (
        "import random; from schemas.idea import Idea; from tasks.ideas.duplicates import"
        " mark_duplicates\nr = random.Random(5); base = [str(r.random()) for _ in"
        " range(100)]\ntexts = [' '.join(base[:100 - n % 7]) for n in range(20)]\nideas ="
        " [Idea(idea_id=str(n), title='', text=t) for n, t in"
        " enumerate(texts)]\nprint([(i.duplicate_of, i.duplicate_similarity_0_to_1) for i in"
        " mark_duplicates(ideas)])"
    )
    command = [sys.executable, "-c", code]
    answers = {
        subprocess.check_output(command, env={"PYTHONHASHSEED": seed}) for seed in ("1", "2")
    }
    assert len(answers) == 1


def test_time_stays_linear_where_all_ideas_follow_one_template() -> None:
    """All share keys with all, and few are duplicates: what is looked at of them is bounded."""
    chosen = random.Random(6)
    ideas = [
        idea(
            str(number),
            f"We train {chosen.choice(VOCABULARY)} to model {chosen.choice(VOCABULARY)} with a "
            f"new form of {chosen.choice(VOCABULARY)} that is learned end to end, and we "
            "measure whether it helps on public data compared with strong earlier baselines.",
        )
        for number in range(1000)
    ]
    assert superlinear_from(lambda count: mark_duplicates(ideas[:count]), 1000, 250) is None


def test_the_same_text_is_found_among_many_of_one_template() -> None:
    texts = [f"We apply the method of {word} to all of the data there is." for word in VOCABULARY]
    marked = mark_duplicates([idea(str(n), text) for n, text in enumerate([*texts, texts[1700]])])
    assert (marked[-1].duplicate_of, marked[-1].duplicate_similarity_0_to_1) == ("1700", 1.0)
