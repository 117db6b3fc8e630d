"""What has to hold before a committee can sit, and what beyond the profile could change its result."""

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.profile import CommitteeParameters
from schemas.settings import Settings
from tasks.committee.knowledge.tools import LITERATURE
from tasks.personas.roster import Roster, load_roster
from tasks.sources.registry import SOURCES, configured


def check_committee(parameters: CommitteeParameters) -> None:
    """Look before anything is paid for.

    Raises:
        ConfigurationError: a personas file with a mistake, too few personas, or a source that does
            not exist.
    """
    roster = load_roster(parameters.personas_file)
    if len(roster.personas) < parameters.persona_count:
        raise ConfigurationError(
            f"persona_count is {parameters.persona_count}, but there are {len(roster.personas)}"
            " personas: ask for fewer, or add some"
        )
    known = {LITERATURE, *(source.name for source in SOURCES)}
    if unknown := sorted(set(parameters.sources) - known):
        raise ConfigurationError(
            f"[committee] sources: no source is named {', '.join(unknown)}; choose from"
            f" {', '.join(sorted(known))}"
        )


def committee_conditions(parameters: CommitteeParameters, settings: Settings) -> tuple[str, ...]:
    """The personas as they stand in their file, and which of the profile's sources can be asked.

    Never a key or an address.
    """
    asked = sorted(set(parameters.sources) & {LITERATURE, *configured(settings)})
    return (
        f"roster {_hash_of(load_roster(parameters.personas_file))}",
        f"sources {','.join(asked)}",
    )


def _hash_of(roster: Roster) -> str:
    """Over all that a committee is shown; what only matches are asked is none of its business."""
    judged = (dimension.model_dump_json(exclude={"comparison"}) for dimension in roster.dimensions)
    return content_hash(*(persona.model_dump_json() for persona in roster.personas), *judged)
