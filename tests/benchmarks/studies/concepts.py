"""Study `concepts`: prediction of concept pairs that later papers link first.

Makes no model calls. The concept network before a cutoff scores pairs without a link: half of them
are linked within three years, half are not. Both halves have similar degrees, so that common
concepts alone do not predict a link.
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
"""Default number of later linked pairs, without `--limit`; as many counterparts are added."""
_DEGREE_RANGE = 10
"""Range of positions in the order by degree from which a counterpart's concepts are drawn."""
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
"""Columns of `pair_scores.sql`."""

Pairs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Window:
    """Later linked pairs at one cutoff, followed by their counterparts."""

    cutoff: date
    pairs: Sequence[tuple[int, int]]
    names: Mapping[int, str]
    scores: Mapping[str, NDArray[np.float64]]


def run(trial: Trial) -> None:
    """Score the area under the curve by method and cutoff."""
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
        # Intervals resample concepts, because pairs that share one are not independent.
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
    drawn_pairs = np.stack([links["first"], links["second"]], axis=1).astype(np.int64)[list(places)]
    linked_pairs, others = _match_pairs(drawn_pairs, network, until, trial.seed)
    pairs = [(int(first), int(second)) for first, second in (*linked_pairs, *others)]
    return Window(
        cutoff=date(year, 12, 31),
        pairs=pairs,
        names=dict(network.rows("names")),
        scores=network.pair_scores(pairs) if pairs else {},
    )


def _match_pairs(
    linked_pairs: Pairs, network: ConceptNetwork, until: int, seed: int
) -> tuple[Pairs, Pairs]:
    """Match each linked pair with a never linked one of similar degrees.

    Pairs without such a counterpart are left out.
    """
    order = network.columns("degrees")["concept_id"].astype(np.int64)
    linked_codes = network.columns("known_links", until=until)["pair"]
    # Concepts without a neighbor have no degree.
    linked_pairs = linked_pairs[np.isin(linked_pairs, order).all(axis=1)]
    places = np.empty(int(order.max(initial=0)) + 1, np.int64)
    places[order] = np.arange(len(order))
    others = np.zeros_like(linked_pairs)
    generator = np.random.default_rng(seed)
    open_indices = np.arange(len(linked_pairs))
    for _ in range(_TRIES):
        steps = generator.integers(-_DEGREE_RANGE, _DEGREE_RANGE + 1, (len(open_indices), 2))
        near_places = np.clip(places[linked_pairs[open_indices]] + steps, 0, len(order) - 1)
        candidate_pairs = np.sort(order[near_places], axis=1)
        fits = (candidate_pairs[:, 0] != candidate_pairs[:, 1]) & ~np.isin(
            candidate_pairs[:, 0] * 2**32 + candidate_pairs[:, 1], linked_codes
        )
        others[open_indices[fits]] = candidate_pairs[fits]
        open_indices = open_indices[~fits]
    matched_indices = np.setdiff1d(np.arange(len(linked_pairs)), open_indices)
    return linked_pairs[matched_indices], others[matched_indices]


SUITE = Suite(
    "concepts", "Which concepts do later papers name together first?", (LITERATURE_FILE,), run
)
