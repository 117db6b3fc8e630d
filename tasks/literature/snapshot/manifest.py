"""The file that says a snapshot is finished. It is written last and at once, or not at all."""

import json
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import SnapshotError

FILE_NAME = "manifest.json"
FORMAT_VERSION = 1
STORE_NAME = "papers.sqlite"
TEXT_NAME = "text"
VECTORS_NAME = "embeddings.f16"


class Manifest(BaseModel):
    """What a finished snapshot holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int = FORMAT_VERSION
    fingerprint: str = Field(
        min_length=12,
        description="SHA-256 over the papers by identifier, the same on every machine.",
    )
    source: str = Field(description="Name of the file the snapshot was built from.")
    source_identity: str = Field(description="Changes when that file does.")
    paper_count: int = Field(ge=1)
    duplicate_count: int = Field(
        ge=0, description="Rows left out because their paper was there already."
    )
    untitled_count: int = Field(ge=0, description="Rows left out because they have no title.")
    citation_count: int = Field(ge=0, description="References between papers of the snapshot.")
    has_references: bool
    embedding_dimensions: int | None = Field(default=None, description="None: without embeddings.")
    identified: bool = Field(
        default=False,
        description="The source's own identifiers alone say which papers are the same.",
    )
    through: str | None = Field(
        default=None, description="Last release or day of the source that is in it."
    )
    updates: tuple[str, ...] = Field(
        default=(), description="Identities of the changes applied since it was built."
    )
    generation: int = Field(
        default=0,
        ge=0,
        description="Names the files below; an update writes new ones beside the old.",
    )

    @property
    def store_name(self) -> str:
        return of_generation(STORE_NAME, self.generation)

    @property
    def text_name(self) -> str:
        return of_generation(TEXT_NAME, self.generation)

    @property
    def vectors_name(self) -> str:
        return of_generation(VECTORS_NAME, self.generation)


def of_generation(name: str, generation: int) -> str:
    """`papers.sqlite` → `papers-3.sqlite`; the first build's files carry no number."""
    if generation == 0:
        return name
    stem, dot, suffix = name.partition(".")
    return f"{stem}-{generation}{dot}{suffix}"


def read_manifest(folder: Path) -> Manifest:
    """Raises SnapshotError when `folder` is missing, empty, half-built, or of another version."""
    path = folder / FILE_NAME
    if not folder.is_dir():
        raise SnapshotError(
            f"no snapshot at {folder}; build one with: assay literature build PAPERS {folder}"
        )
    if not any(folder.iterdir()):
        raise SnapshotError(
            f"{folder} is an empty folder, not a snapshot; build one with: assay literature build"
            f" PAPERS {folder}"
        )
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise SnapshotError(
            f"{folder} holds no finished snapshot; run its build again, it goes on where it stopped"
        ) from error
    except (OSError, ValidationError) as error:
        raise SnapshotError(f"{path} cannot be read; build the snapshot again") from error
    if manifest.format_version != FORMAT_VERSION:
        raise SnapshotError(
            f"{folder} has format {manifest.format_version}, this version reads {FORMAT_VERSION};"
            " build it again"
        )
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write under a temporary name, flush to disk, rename."""
    temporary = folder / f"{FILE_NAME}.new"
    with temporary.open("w", encoding="utf-8") as stream:
        stream.write(json.dumps(manifest.model_dump(), indent=1))
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(folder / FILE_NAME)
