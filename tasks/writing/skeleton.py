"""Fixed text of a draft without a model: the purpose of each section, and its claims."""

from collections.abc import Iterable, Mapping

from schemas.literature.naming import claim_span, escaped
from schemas.works.draft import ClaimKind, DraftClaim, DraftSection
from schemas.works.draft_run import Material, PlannedSection

_COLUMNS = {
    "name": "Program",
    "mean": "Mean",
    "run_count": "Runs",
    "gain": "Gain",
    "gain_low": "from",
    "gain_high": "to",
}


def write_sections(
    outline: Iterable[PlannedSection], material: Material
) -> tuple[DraftSection, ...]:
    claims = {claim.claim_key: claim for claim in material.claims}
    return tuple(
        DraftSection(
            section_id=f"s{number}",
            **plan.model_dump(),
            text=fixed_text(plan, claims),
        )
        for number, plan in enumerate(outline, start=1)
    )


def fixed_text(plan: PlannedSection, claims: Mapping[str, DraftClaim]) -> str:
    used_claims = {key: claims[key] for key in plan.claim_keys}
    parts = [f"*This section has to: {escaped(plan.purpose)}*"]
    parts += [f"See [Figure](#fig-{name})." for name in plan.figure_ids]
    experiments: dict[str, dict[str, DraftClaim]] = {}
    for key, claim in used_claims.items():
        topic, _, name = key.partition(".")
        if claim.kind is ClaimKind.GAP:
            parts.append(f"- {_span(claim)}")
        elif claim.cited_keys:
            indent = "- " if claim.kind is ClaimKind.TEXT else "  "
            parts.append(f"{indent}{_span(claim)} [@{claim.cited_keys[0]}].")
        elif topic == "idea":
            parts.append(f"As the idea was given:\n\n> {_span(claim)}")
        elif topic == "concern":
            parts.append(f"- A machine reader objects: {_span(claim)}")
        elif not name:
            parts.append(_span(claim))
        elif name == "question":
            parts.append(f"The experiment asks: {_span(claim)}")
        else:
            experiments.setdefault(topic, {})[name] = claim
    parts += [
        part for claims_by_name in experiments.values() for part in _experiment(claims_by_name)
    ]
    return "\n\n".join(filter(None, parts))


def _experiment(claims: Mapping[str, DraftClaim]) -> Iterable[str]:
    if "task" in claims:
        yield f"## {_span(claims['task'])}"
    if "finding" in claims:
        reason_text = f", since {_span(claims['because'])}" if "because" in claims else ""
        yield f"The experiment finds: {_span(claims['finding'])}{reason_text}."
    yield from program_tables(claims)
    shown_first = ("task", "finding", "because")
    other_claims = [
        claim for name, claim in claims.items() if "." not in name and name not in shown_first
    ]
    yield "\n".join(f"- {escaped(claim.means)}: {_span(claim)}" for claim in other_claims)


def program_tables(claims: Mapping[str, DraftClaim]) -> list[str]:
    """Return a table of programs for each experiment with means among the claims.

    Args:
        claims: claims by key; the last two parts of a key are program and column.
    """
    tables: dict[str, dict[str, dict[str, DraftClaim]]] = {}
    for key, claim in claims.items():
        *stem, program, column = ["", *key.split(".")]
        if column in _COLUMNS and program and claim.claim_key.count(".") == 2:
            rows = tables.setdefault(".".join(stem), {})
            rows.setdefault(program, {})[column] = claim
    return [
        _table(rows.values())
        for rows in tables.values()
        if any("mean" in program for program in rows.values())
    ]


def _table(programs: Iterable[Mapping[str, DraftClaim]]) -> str:
    rows = [
        [_span(program[column]) if column in program else "" for column in _COLUMNS]
        for program in programs
    ]
    lines = [
        list(_COLUMNS.values()),
        [":" + "-" * 30, *["-" * 11 + ":"] * (len(_COLUMNS) - 1)],
        *rows,
    ]
    caption = ": Programs on data that chose nothing. A gain is over the parent, with its interval."
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n{caption}"


def _span(claim: DraftClaim) -> str:
    return claim_span(claim.claim_key, claim.shown)
