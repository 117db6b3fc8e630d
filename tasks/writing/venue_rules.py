"""What a venue asks of a text, held against a draft; its pages are counted when it is set."""

from collections.abc import Iterator, Sequence

from schemas.failure import Failure
from schemas.reasons import Reason
from schemas.works.draft import Draft, DraftSection
from schemas.works.draft_neighbour import SectionPart
from schemas.works.draft_run import PlannedSection
from schemas.works.draft_venue import VenueRules
from tasks.writing.checking import word_count
from tasks.writing.figures import STAGE


def against_rules(draft: Draft, rules: VenueRules) -> tuple[Failure, ...]:
    """What of a draft its venue does not allow; empty: all is allowed."""
    lines = [*outline_faults(draft.sections, rules)]
    limit = rules.abstract_words
    count = word_count(draft, "Abstract")
    if limit is not None and count > limit:
        lines.append(f"the abstract has {count} words, and {rules.venue} allows {limit}")
    return tuple(
        Failure(stage=STAGE, subject="Venue", reason=Reason.AGAINST_RULES, detail=line)
        for line in lines
    )


def outline_faults(
    sections: Sequence[PlannedSection] | Sequence[DraftSection], rules: VenueRules
) -> Iterator[str]:
    """Sections that are missing, or called otherwise than the venue calls them."""
    there = {each.part for each in sections}
    for part in rules.required:
        if part not in there:
            yield f"{rules.venue} asks for a section on {part.value.replace('_', ' ')}"
    if rules.abstract_words is not None and SectionPart.ABSTRACT not in there:
        yield f"{rules.venue} asks for an abstract"
    for each in sections:
        wanted = rules.headings.get(each.part) if each.part is not None else None
        if wanted is not None and each.heading != wanted:
            yield f"{rules.venue} calls the section {each.heading!r} {wanted!r}"
