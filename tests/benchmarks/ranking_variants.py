"""What each choice of the ranking adds on labelled submissions, offline, with `--data DIR`
(InnoEval's sets and `literature.parquet`).

1. Title and abstract alone, all pairs and groups: matches of the extractive engine once, rated with
every choice on and off. 2. The first 24 groups evaluated by all modules over the snapshot, with the
committee's panel and the shown scores on and off. The engine measures how similar words and
sentences are: its figures say what the machinery does to a weak judge, not how good a model is.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from statistics import fmean

from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Rating, RatingMethod
from schemas.profile import RankingParameters
from schemas.settings import Settings
from tasks.benchmarks.submissions import (
    GROUPS_FILE,
    PAIR_FILES,
    Submission,
    linked_submissions,
    read_groups,
    read_pairs,
)
from tasks.benchmarks.suites.decisions import scale_of
from tasks.calibration.examples import Example, item_sha256
from tasks.calibration.fitting import cross_validate
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import BaselineTools
from tasks.metrics.estimate import Estimate
from tasks.metrics.labelled import GRADES
from tasks.metrics.rankings import TIE, Group, Pair, best_of_group, pairwise_accuracy
from tasks.ranking.dimensions import AS_REVIEWERS, DIMENSIONS, OVERALL
from tasks.ranking.dossier import Dossier
from tasks.ranking.rank import Joined, rank_groups
from tasks.ranking.rating import rate
from tests.benchmarks._assay import command, environment
from tests.benchmarks.ranking_stack import submissions_of
from warehouse.kinds.rankings.queries import ranked_by, rankings_of
from warehouse.warehouse import Warehouse

SEED = 7
BRIDGE_PAIRS = 8
EVALUATED_GROUPS = 24
OF_ONE_STEP = 1e-6
"""Weight of the dimensions beside the whole, where they only break ties."""

Values = Mapping[str, float | None]


@dataclass(frozen=True)
class Contest:
    """A group or pair, and all matches of its members."""

    name: str
    kind: str
    members: tuple[Submission, ...]
    matches: tuple[Match, ...] = field(repr=False)

    @property
    def ids(self) -> tuple[IdeaId, ...]:
        return tuple(one.idea.idea_id for one in self.members)


@dataclass(frozen=True)
class Variant:
    """How matches become strengths; the defaults are Assay's."""

    matches: Callable[[Sequence[Match]], Sequence[Match]] = list
    method: RatingMethod = RatingMethod.BRADLEY_TERRY
    break_ties: bool = True
    with_prior: bool = False
    with_matches: bool = True


def one_order(matches: Sequence[Match]) -> list[Match]:
    return [match for match in matches if match.first_idea_id < match.second_idea_id]


def winners_alone(matches: Sequence[Match]) -> list[Match]:
    return [replace(match, first_better_0_to_1=None) for match in matches]


def orders_apart(matches: Sequence[Match]) -> list[Match]:
    """Both orders as two observations."""
    return [
        match
        if match.first_idea_id < match.second_idea_id
        else replace(match, round=match.round + 1000)
        for match in matches
    ]


VARIANTS = {
    "as shipped": Variant(),
    "without probabilities, winners alone": Variant(matches=winners_alone),
    "without the second order": Variant(matches=one_order),
    "both orders as two observations": Variant(matches=orders_apart),
    "without the dimensions to break ties": Variant(break_ties=False),
    "Elo": Variant(method=RatingMethod.ELO),
    "with a prior of words": Variant(with_prior=True),
    "the prior alone": Variant(with_prior=True, with_matches=False),
}


def main() -> None:
    arguments = sys.argv[1:]
    if "--data" not in arguments:
        print("(--data DIR: InnoEval's submissions, with every choice of the ranking on and off)")
        return
    folder = Path(arguments[arguments.index("--data") + 1]).resolve()
    asyncio.run(print_texts_alone(folder))
    print_evaluated(folder)


async def print_texts_alone(folder: Path) -> None:
    engine = ExtractiveEngine(BaselineTools(SentenceEmbedder(Settings().embeddings, None)), SEED)
    contests = await contests_of(folder, engine)
    decided = submissions_of(folder, read_groups(folder / GROUPS_FILE))
    clusters = linked_submissions(folder, list(decided.values()))
    prior = prior_of(decided, clusters)
    print("\n| title and abstract alone | easy pairs | hard pairs | best of group |")
    print("|---|---|---|---|")
    for name, variant in VARIANTS.items():
        values = {one.name: strengths(one, variant, prior) for one in contests}
        print(f"| {name} | {cells(contests, values, clusters)} |", flush=True)
    adaptive = RankingParameters(round_robin_limit=2, matches_per_idea=2)
    fewer = await contests_of(folder, engine, adaptive, contests)
    values = {one.name: strengths(one, Variant(), prior) for one in fewer}
    print(f"| two pairs an idea at most | {cells(fewer, values, clusters)} |")
    await print_bridges(contests, engine, clusters)


async def contests_of(
    folder: Path,
    engine: ExtractiveEngine,
    parameters: RankingParameters | None = None,
    known: Iterable[Contest] = (),
) -> list[Contest]:
    """Every group and pair with its matches; those of `known` are not asked again."""
    stored = {one.name: one.matches for one in known}
    listed = [
        ("group", group.name, group.members) for group in read_groups(folder / GROUPS_FILE)
    ] + [
        (kind, f"{kind} {pair.pair_id}", (pair.first, pair.second))
        for kind, file in PAIR_FILES.items()
        for pair in read_pairs(folder / file, kind)
    ]
    found = []
    for kind, name, members in listed:
        ranked = await rank_groups(
            [dossier(one) for one in members],
            parameters or RankingParameters(),
            engine,
            SEED,
            dimensions=(*DIMENSIONS, AS_REVIEWERS),
            stored=stored.get(name, ()),
        )
        found.append(Contest(name, kind, tuple(members), ranked.matches))
    return found


def dossier(one: Submission, group: str | None = None) -> Dossier:
    return Dossier(idea_id=one.idea.idea_id, title=one.idea.title, text=one.idea.text, group=group)


def prior_of(decided: Mapping[str, Submission], clusters: Mapping[str, str]) -> Mapping[str, float]:
    """Log-odds by submission, from the words of the submissions of other folds."""
    examples = [
        Example(
            item_sha256(one.idea.text), one.decision, "reject", {}, clusters[name], one.idea.text
        )
        for name, one in decided.items()
    ]
    latent = {one.item_sha256: one.latent for one in cross_validate(examples, scale_of(4), SEED)}
    return {name: latent[item_sha256(one.idea.text)] for name, one in decided.items()}


def strengths(contest: Contest, variant: Variant, prior: Mapping[str, float]) -> Values:
    expected = {one: prior[one] for one in contest.ids if one in prior}
    if not variant.with_matches:
        return {str(one): expected.get(one) for one in contest.ids}
    along: dict[str, list[float]] = {}
    overall: dict[str, float | None] = {}
    for dimension in (*DIMENSIONS, OVERALL):
        whole = dimension.name == OVERALL.name
        for rating in of_method(
            rate(
                contest.name,
                contest.ids,
                variant.matches(contest.matches),
                dimension.name,
                RankingParameters(),
                SEED,
                expected if whole and variant.with_prior else None,
            ),
            variant.method,
        ):
            if whole:
                overall[rating.idea_id] = rating.strength
            elif rating.strength is not None:
                along.setdefault(rating.idea_id, []).append(rating.strength)
    step = OF_ONE_STEP if variant.break_ties else 0.0
    return {
        name: None if value is None else value + step * fmean(along.get(name) or [0.0])
        for name, value in overall.items()
    }


def of_method(ratings: Iterable[Rating], method: RatingMethod) -> list[Rating]:
    return [rating for rating in ratings if rating.method is method]


def cells(
    contests: Sequence[Contest], values: Mapping[str, Values], clusters: Mapping[str, str]
) -> str:
    """Of easy pairs, hard pairs and groups, as far as there are any."""
    found = []
    for kind in PAIR_FILES:
        pairs = [
            pair
            for one in contests
            if one.kind == kind
            for pair in pairs_of(one.members, values[one.name], clusters)
        ]
        found.append(pairwise_accuracy(pairs, SEED))
    groups = [group_of(one, values[one.name], clusters) for one in contests if one.kind == "group"]
    return " | ".join(cell(one) for one in (*found, best_of_group(groups, SEED)))


def pairs_of(
    members: Iterable[Submission], values: Values, clusters: Mapping[str, str]
) -> list[Pair]:
    """Every two of different decisions; a draw is no answer that could be right."""
    found = []
    for first, second in combinations(members, 2):
        if None in (first.decision, second.decision) or first.decision == second.decision:
            continue
        better, worse = sorted((first, second), key=lambda one: -GRADES[one.decision or ""])
        names = (str(better.idea.idea_id), str(worse.idea.idea_id))
        one, other = values.get(names[0]), values.get(names[1])
        preferred = (
            None
            if one is None or other is None
            else TIE
            if one == other
            else names[0]
            if one > other
            else names[1]
        )
        found.append(Pair(*names, preferred, "", clusters.get(names[0])))
    return found


def group_of(contest: Contest, values: Values, clusters: Mapping[str, str]) -> Group:
    gold = {
        str(one.idea.idea_id): float(GRADES[one.decision])
        for one in contest.members
        if one.decision is not None
    }
    return Group(contest.name, gold, values, clusters.get(str(contest.ids[0])))


def cell(estimate: Estimate) -> str:
    if not estimate.defined:
        return "–"
    interval = estimate.interval
    return f"{estimate.value:.3f} ({interval.lower:.3f} to {interval.upper:.3f})"


async def print_bridges(
    contests: Sequence[Contest], engine: ExtractiveEngine, clusters: Mapping[str, str]
) -> None:
    """Every two submissions of different groups and decisions, by strengths within the groups and
    over all of them. A submission of several groups counts in the first.
    """
    group_of_idea: dict[str, Contest] = {}
    for one in contests:
        if one.kind == "group":
            for idea_id in one.ids:
                group_of_idea.setdefault(idea_id, one)
    members = {
        str(one.idea.idea_id): one for contest in group_of_idea.values() for one in contest.members
    }
    within = [
        match
        for contest in {one.name: one for one in group_of_idea.values()}.values()
        for match in contest.matches
        if group_of_idea[match.first_idea_id] is group_of_idea[match.second_idea_id] is contest
    ]
    parameters = RankingParameters(bridge_pairs=BRIDGE_PAIRS)
    joined = await rank_groups(
        [dossier(one, group_of_idea[name].name) for name, one in sorted(members.items())],
        parameters,
        engine,
        SEED,
        dimensions=(AS_REVIEWERS,),
        joined=Joined("across groups", within),
    )
    apart: dict[str, float | None] = {}
    for contest in {one.name: one for one in group_of_idea.values()}.values():
        found = strengths(contest, Variant(break_ties=False), {})
        apart |= {name: v for name, v in found.items() if group_of_idea[name] is contest}
    over_all = {str(one.idea_id): one.strength for one in joined.ratings}
    print(f"\n| {len(members)} submissions in groups | pairs of different groups |\n|---|---|")
    for name, values in (
        ("strengths within the groups", apart),
        (f"over all groups, {len(joined.matches) // 2} pairs between them", over_all),
    ):
        pairs = [
            pair
            for pair in pairs_of(members.values(), values, clusters)
            if group_of_idea[pair.better] is not group_of_idea[pair.worse]
        ]
        right = [pair.preferred == pair.better for pair in pairs]
        print(f"| {name} | {fmean(right):.3f} of {len(pairs):,} |", flush=True)


PROFILE = Path(__file__).parents[2] / "flows" / "profiles" / "economy.toml"
MODULES = "soundness,contribution,committee,novelty"
RANKING = '\n[ranking]\ncriterion = "expert_reviewers"\nshow_scores = {shown}\n'


def print_evaluated(folder: Path) -> None:
    groups = read_groups(folder / GROUPS_FILE)[:EVALUATED_GROUPS]
    decided = {
        str(one.idea.idea_id): one
        for group in groups
        for one in group.members
        if one.decision is not None
    }
    contests = [Contest(group.name, "group", tuple(group.members), ()) for group in groups]
    print(f"\n| {len(decided)} submissions, all modules | pairs of a group | best of group |")
    print("|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        ideas, index = place / "ideas.jsonl", place / "index"
        with ideas.open("w") as stream:
            for one in decided.values():
                row = one.idea.model_dump(mode="json", include={"idea_id", "title", "text"})
                cutoff = one.idea.cutoff_date
                group = next(each.name for each in groups if one in each.members)
                row |= {"cutoff_date": str(cutoff) if cutoff else None, "group": group}
                stream.write(json.dumps(row) + "\n")
        run(place, "literature", "build", str(folder / "literature.parquet"), str(index))
        for panel, same in (("the same panel", "true"), ("a panel for each idea", "false")):
            profile = place / f"same-{same}.toml"
            profile.write_text(profile_text(f"same-{same}", same, "false"))
            lake = place / f"lake-{same}"
            evaluated = run(
                place,
                *("evaluate", str(ideas), "--warehouse", str(lake), "--modules", MODULES),
                *("--profile", str(profile), "--literature", f"snapshot:{index}", "--json"),
            )
            run_id = json.loads(evaluated)["run"]["run_id"]
            with Warehouse(lake).queries() as queries:
                scores = queries.idea_scores(run_id)
            rows = {"committee alone": {one.idea_id: one.committee_0_to_10 for one in scores}}
            if same == "true":
                rows = {
                    "scores": {one.idea_id: one.score for one in scores},
                    "scores, shrunk": {one.idea_id: one.shrunk_score for one in scores},
                    **rows,
                }
                for shown in ("false", "true"):
                    profile.write_text(profile_text(f"same-{same}", same, shown))
                    run(
                        place,
                        *("rank", run_id, "--warehouse", str(lake)),
                        *("--profile", str(profile), "--json"),
                    )
                    with Warehouse(lake).queries() as queries:
                        newest = rankings_of(queries, run_id)[0]
                        ranked = ranked_by(queries, newest)
                    label = f"matches, scores {'shown' if shown == 'true' else 'hidden'}"
                    rows[label] = {one.idea_id: one.strength for one in ranked}
            for label, values in rows.items():
                print_row(f"{label}, {panel}", contests, values)


def profile_text(name: str, same_panel: str, shown: str) -> str:
    text = PROFILE.read_text().replace('name = "economy"', f'name = "{name}"')
    text = text.replace("same_panel = true", f"same_panel = {same_panel}")
    return text + RANKING.format(shown=shown)


def print_row(name: str, contests: Sequence[Contest], values: Values) -> None:
    pairs = [pair for one in contests for pair in pairs_of(one.members, values, {})]
    groups = [group_of(one, values, {}) for one in contests]
    of_pairs, best = pairwise_accuracy(pairs, SEED), best_of_group(groups, SEED)
    print(f"| {name} | {cell(of_pairs)} | {cell(best)} |", flush=True)


def run(home: Path, *arguments: str) -> str:
    """What a command prints; where it fails, that ends the benchmark."""
    done = subprocess.run(
        command(*arguments), env=environment(home / "home"), capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"assay {' '.join(arguments[:2])} failed:\n{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
