"""Calibrators as JSON files: numbers and hashes only, nothing that runs."""

from pathlib import Path

from pydantic import ValidationError

from schemas.calibration import CALIBRATOR_VERSION, Calibrator
from schemas.errors import ConfigurationError


def write_calibrator(calibrator: Calibrator, path: Path) -> None:
    """Write it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(calibrator.model_dump_json(indent=2), "utf-8")
    unfinished.replace(path)


def load_calibrator(path: str | Path) -> Calibrator:
    """Read a calibrator.

    Raises:
        ConfigurationError: the file is missing, is no calibrator, or was written by another
            version.
    """
    try:
        found = Calibrator.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise ConfigurationError(
            f"calibrator {path} cannot be read ({type(error).__name__}): fit one with assay"
            " benchmark novelty"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "file"
        raise ConfigurationError(
            f"{path} is no calibrator: {where}: {first['msg']}; fit one with assay benchmark"
            " novelty"
        ) from error
    if found.calibrator_version != CALIBRATOR_VERSION:
        raise ConfigurationError(
            f"calibrator {path} has version {found.calibrator_version}, this is"
            f" {CALIBRATOR_VERSION}: fit it again"
        )
    return found
