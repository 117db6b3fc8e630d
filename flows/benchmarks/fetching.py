"""`assay benchmark fetch DIR`: the public sets in the layout that the suites read."""

import asyncio
from pathlib import Path

from flows.cli.talk import print_note
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.benchmarks.homes import LOCK_FILE, Fetched, fetch_sets, public_sets, sets_elsewhere


def fetch(folder: Path, settings: Settings) -> Fetched:
    """Fetch into `folder`, and say of each set its licence, and of each file what became of it.

    Raises:
        ConfigurationError: `folder` is a file, or what is there or at home is not what the lock
            says.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder} is no folder: name one for the data sets")
    sets = public_sets()
    for one in sets:
        print_note(f"{one.name} (suites {one.suites}), licence: {one.licence}; from {one.home}")
    found = asyncio.run(fetch_sets(sets, folder, settings.documents, print_note))
    if found.locked:
        print_note(
            f"first fetch of {len(found.locked)} files: their digests are in {folder / LOCK_FILE},"
            " and later fetches hold them to it"
        )
    for other in sets_elsewhere():
        print_note(f"not fetched: {other.name} ({other.files}), in another form at {other.home}")
    return found
