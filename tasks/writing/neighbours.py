"""An outline after the papers near to a draft: order of sections, words and manner of each, as the
medians of what was measured.
"""

from collections.abc import Iterable, Sequence

from schemas.base import replace
from schemas.works.draft_habits import Habit, Habits
from schemas.works.draft_neighbour import SectionPart
from schemas.works.draft_run import PlannedSection

LEAST_SHARE = 0.5
"""Of the papers measured, those that must have a section of a kind."""
MOST_NEIGHBOURS = 40
"""Papers that are looked up, the nearest first."""
_LEAST_PLANNED, _LEAST_SHORTENED, _MOST_PLANNED = 60, 20, 5_000


def planned_by(
    outline: Sequence[PlannedSection], habits: Habits, most_words: int
) -> tuple[PlannedSection, ...]:
    """The outline with words, order and manner of its neighbours, where enough were measured; each
    section says what its words are from.

    Args:
        most_words: of all sections together; longer ones keep their shares of it.
    """
    if not habits.are_enough:
        because = f"fixed, since {habits.why_not}"
        return _within(
            [replace(each, planned_from=because if each.part else "") for each in outline],
            most_words,
        )
    taken: dict[SectionPart, Habit] = {}
    planned = []
    for section in outline:
        part = section.part
        habit = habits.by_part.get(part) if part is not None else None
        if habit is None or habit.papers < LEAST_SHARE * habits.measured:
            having = f"{habit.papers if habit else 0} of {habits.measured} neighbours"
            told = part is not None and part is not SectionPart.ABSTRACT
            because = f"fixed, since {having} have such a section" if told else ""
            planned.append(replace(section, planned_from=because))
            continue
        taken[habit.part] = habit
        words = min(max(round(habit.words / 10) * 10, _LEAST_PLANNED), _MOST_PLANNED)
        because = (
            f"median of {habit.papers} neighbours, {habit.words:,.0f} words; half of"
            f" them have {habit.low:,.0f} to {habit.high:,.0f}"
        )
        planned.append(
            replace(section, planned_words=words, planned_from=because, style=habit.style)
        )
    return _within(_ordered(planned, taken), most_words)


def _ordered(
    planned: Sequence[PlannedSection], habits: dict[SectionPart, Habit]
) -> list[PlannedSection]:
    """Sections whose place was measured change places among each other; the others stay."""
    places = {
        part: habit.place_0_to_1 for part, habit in habits.items() if habit.place_0_to_1 is not None
    }
    moving = [each for each in planned if each.part in places]
    order = iter(sorted(moving, key=lambda each: places[each.part] or 0.0))  # type: ignore[index]
    return [next(order) if each.part in places else each for each in planned]


def _within(outline: Iterable[PlannedSection], most_words: int) -> tuple[PlannedSection, ...]:
    sections = tuple(outline)
    total = sum(each.planned_words for each in sections if each.part)
    if total <= most_words:
        return sections
    return tuple(
        replace(
            each,
            planned_words=max(_LEAST_SHORTENED, int(each.planned_words * most_words / total)),
            planned_from=f"{each.planned_from}; shortened, since the whole may have"
            f" {most_words:,} words",
        )
        if each.part
        else each
        for each in sections
    )
