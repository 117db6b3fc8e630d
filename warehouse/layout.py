"""Where everything lies inside a warehouse folder."""

from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import EvaluationKey, RunId, content_hash
from schemas.patterns import bounded

_NAME = bounded(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def _safe(kind: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{kind} {name!r} cannot name a folder: use letters, digits, dot, dash and underscore"
        )
    return name


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one warehouse; creates nothing.

    landing/run=<run>/idea=<key>/<table>.parquet   what workers write
    landing/run=<run>/ranking=<id>/group=<hash>/   the same for each group of a ranking; ranking.json last
    landing/check=<run>/part=<hash>/               the same for each manuscript of a check run; check.json last
    landing/benchmark=<run>/                       all of one benchmark
    landing/receipts/<kk>/<key>/<run>              which runs landed an evaluation
    lake/catalog.sqlite, lake/data/                what is published
    state/, cache/, reports/                       resumption, replies, reports
    """

    root: Path

    @property
    def landing(self) -> Path:
        return self.root / "landing"

    @property
    def state(self) -> Path:
        return self.root / "state"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def reports(self) -> Path:
        return self.root / "reports"

    @property
    def lake(self) -> Path:
        return self.root / "lake"

    @property
    def catalogue(self) -> Path:
        return self.lake / "catalog.sqlite"

    @property
    def data(self) -> Path:
        return self.lake / "data"

    @property
    def publisher_lock(self) -> Path:
        return self.lake / "publisher.lock"

    def run(self, run_id: RunId) -> Path:
        """Landing folder of a run. Raises ConfigurationError for a name that is no folder name."""
        return self.landing / f"run={_safe('run', run_id)}"

    def idea(self, run_id: RunId, key: EvaluationKey) -> Path:
        """Landing folder of one evaluation."""
        return self.run(run_id) / f"idea={_safe('evaluation key', key)}"

    def ranking(self, run_id: RunId, ranking_id: str) -> Path:
        """Landing folder of a ranking of a run."""
        return self.run(run_id) / f"ranking={_safe('ranking', ranking_id)}"

    def ranking_head(self, run_id: RunId, ranking_id: str) -> Path:
        """Written when every group of a ranking has landed."""
        return self.ranking(run_id, ranking_id) / "ranking.json"

    def ranked_group(self, run_id: RunId, ranking_id: str, group: str) -> Path:
        """Landing folder of one group of a ranking; a group's name is the user's, so a hash stands for it."""
        return self.ranking(run_id, ranking_id) / f"group={content_hash(group, length=16)}"

    def check(self, run_id: RunId) -> Path:
        """Landing folder of a check run. Raises ConfigurationError for a name that is no folder name."""
        return self.landing / f"check={_safe('check run', run_id)}"

    def check_head(self, run_id: RunId) -> Path:
        """Written when every manuscript of a check run has landed."""
        return self.check(run_id) / "check.json"

    def check_part(self, run_id: RunId, part: str) -> Path:
        """Landing folder of one manuscript of a check run; its name is the user's, so a hash stands for it."""
        return self.check(run_id) / f"part={content_hash(part, length=16)}"

    def benchmark(self, run_id: RunId) -> Path:
        """Landing folder of a benchmark. Raises ConfigurationError for a name that is no folder name."""
        return self.landing / f"benchmark={_safe('benchmark', run_id)}"

    def building_places(self) -> tuple[Path, ...]:
        """Folders in which units are built before they are moved into place: where killed processes leave some behind."""
        if not self.landing.is_dir():
            return ()
        return (
            self.landing,
            *(
                folder
                for kind in ("run", "check")
                for folder in sorted(self.landing.glob(f"{kind}=*"))
            ),
        )

    def receipt(self, run_id: RunId, key: EvaluationKey) -> Path:
        return self.idea(run_id, key) / "receipt.json"

    def rejections(self, run_id: RunId) -> Path:
        """Rows of `failures` for the entries of the idea file that could not enter."""
        return self.run(run_id) / "rejected.parquet"

    def validation(self, run_id: RunId) -> Path:
        """The last validation result of a run."""
        return self.run(run_id) / "validation.json"

    def planned_run(self, run_id: RunId) -> Path:
        """What a run set out to do."""
        return self.state / "runs" / _safe("run", run_id) / "planned.json"

    def receipt_index(self, key: EvaluationKey) -> Path:
        """Folder with one empty file per run that landed `key`."""
        return self.landing / "receipts" / key[:2] / _safe("evaluation key", key)
