"""Suite `concepts`: concepts that papers of the next three years name together first.

Asks no engine. What was known at a cutoff ranks pairs of concepts that no paper had named together:
some a later paper did, some none did. Those of the second kind have as many neighbours as those of
the first, so that a pair cannot be told by how common its concepts are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import ASSAY
from tasks.benchmarks.suite import LITERATURE_FILE, Suite, Trial
from tasks.ideation.network import ConceptNetwork, open_network
from tasks.literature.snapshot.build import index_for_parquet
from tasks.metrics.rankings import area_under_curve

WINDOWS, WINDOW_YEARS = 4, 3
PAIRS_PER_CUTOFF = 2_000
"""Pairs that were linked later, without `--limit`; as many stand beside them that were not."""
_NEARBY = 10
"""Places among the concepts ordered by degree, from which the other of a pair is drawn."""
_TRIES = 50

SYSTEMS = (
    ASSAY,
    "alike_neighbours",
    "recent_share",
    "jaccard",
    "resource_allocation",
    "adamic_adar",
    "common_neighbours",
    "preferential_attachment",
)
"""As `pair_scores.sql` names its columns."""

Pairs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """Pairs asked at one cutoff: linked later, then a counterpart of each."""

    cutoff: date
    pairs: Sequence[tuple[int, int]]
    names: Mapping[int, str]
    scores: Mapping[str, NDArray[np.float64]]


def run(trial: Trial) -> None:
    """Score the area under the curve of every way of scoring pairs, at each cutoff."""
    last = _last_year(trial.file(LITERATURE_FILE))
    snapshot = index_for_parquet(trial.file(LITERATURE_FILE), trial.settings.home)
    for number in range(WINDOWS):
        year = last - WINDOW_YEARS * (number + 1)
        with open_network(snapshot, trial.settings.home, date(year, 12, 31)) as network:
            window = _window(trial, network, year)
        cutoff, half = window.cutoff.isoformat(), len(window.pairs) // 2
        scored_pairs = zip(window.pairs, window.scores.get(ASSAY, ()), strict=True)
        for place, (pair, value) in enumerate(scored_pairs):
            gold = "linked" if place < half else "not linked"
            names = " + ".join(window.names[concept] for concept in pair)
            trial.record("link", f"{cutoff}-{place}", names, gold=gold, value=float(value))
        # Intervals draw concepts, of which pairs share either.
        for system in SYSTEMS:
            column = window.scores.get(system, np.empty(0))
            estimate = area_under_curve(column[:half], column[half:], trial.seed, window.pairs)
            trial.score("link_auc", estimate, system, f"cutoff={cutoff}")


def _last_year(path: Path) -> int:
    years = pq.read_table(path, columns=["year"]).column("year").drop_null()
    if not len(years):
        raise ConfigurationError(f"{path} holds nothing: no paper with a year")
    return int(max(years.to_pylist()))


def _window(trial: Trial, network: ConceptNetwork, year: int) -> Window:
    until = (year + WINDOW_YEARS) * 10_000 + 1231
    links = network.columns("new_links", until=until)
    places = trial.draw(range(len(links["first"])), PAIRS_PER_CUTOFF)
    drawn = np.stack([links["first"], links["second"]], axis=1).astype(np.int64)[list(places)]
    linked, others = _match_pairs(drawn, network, until, trial.seed)
    pairs = [(int(first), int(second)) for first, second in (*linked, *others)]
    return Window(
        cutoff=date(year, 12, 31),
        pairs=pairs,
        names=dict(network.rows("names")),
        scores=network.pair_scores(pairs) if pairs else {},
    )


def _match_pairs(
    linked: Pairs, network: ConceptNetwork, until: int, seed: int
) -> tuple[Pairs, Pairs]:
    """The pairs, and beside each another one, linked neither before nor after, whose concepts have
    about as many neighbours; a pair of which none was found is left out.
    """
    order = network.columns("degrees")["concept_id"].astype(np.int64)
    linked_codes = network.columns("known_links", until=until)["pair"]
    # A concept without a neighbour stands nowhere: nothing can be said of it.
    linked = linked[np.isin(linked, order).all(axis=1)]
    places = np.empty(int(order.max(initial=0)) + 1, np.int64)
    places[order] = np.arange(len(order))
    others = np.zeros_like(linked)
    generator = np.random.default_rng(seed)
    open_indices = np.arange(len(linked))
    for _ in range(_TRIES):
        steps = generator.integers(-_NEARBY, _NEARBY + 1, (len(open_indices), 2))
        near = np.clip(places[linked[open_indices]] + steps, 0, len(order) - 1)
        drawn = np.sort(order[near], axis=1)
        fits = (drawn[:, 0] != drawn[:, 1]) & ~np.isin(
            drawn[:, 0] * 2**32 + drawn[:, 1], linked_codes
        )
        others[open_indices[fits]] = drawn[fits]
        open_indices = open_indices[~fits]
    matched = np.setdiff1d(np.arange(len(linked)), open_indices)
    return linked[matched], others[matched]


SUITE = Suite(
    "concepts", "Which concepts do later papers name together first?", (LITERATURE_FILE,), run
)
