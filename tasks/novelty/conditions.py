"""What of a profile's novelty part counts by its content: files that it names."""

from schemas.profile import NoveltyParameters
from tasks.novelty.calibration.store import load_calibrator
from tasks.novelty.exemplars import exemplars_sha256


def novelty_conditions(parameters: NoveltyParameters) -> tuple[str, ...]:
    """Raises ConfigurationError for a file that cannot be read."""
    found = []
    if parameters.calibrator is not None:
        found.append(f"calibrator {load_calibrator(parameters.calibrator).sha256}")
    if parameters.exemplars is not None:
        found.append(f"exemplars {exemplars_sha256(parameters.exemplars)}")
    return tuple(found)
