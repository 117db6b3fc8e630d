"""Outline of a draft: its sections, their purposes and their claims."""

from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from schemas.base import first_fault, replace
from schemas.errors import ConfigurationError
from schemas.works.draft import DECLARATION_KEY, ClaimKind, DraftFigure, FigureKind, Form
from schemas.works.draft_neighbour import SectionPart
from schemas.works.draft_run import Material, PlannedSection
from schemas.works.draft_venue import VenueRules
from tasks.writing.checking import outline_faults
from tasks.writing.claims import Claims

_IN_SHORT = (
    *("finding", "metric", "baseline_id", "baseline_gain", "baseline_low", "baseline_high"),
    *("gain", "gain_low", "gain_high"),
)
_ABSTRACT = ("question", "finding", "baseline_gain", "baseline_low", "baseline_high")
_ABSTRACT_WORDS = 150
_HOW = (
    *("metric", "direction", "least_difference", "environment", "name", "rationale", "procedure"),
    *("explanation", "settings", "docstring"),
    *("proposed_count", "tried_count", "failed_count", "executions", "fresh_executions"),
)
"""Keys of an experiment for its introduction, and for its method."""
OUTLINE = TypeAdapter(tuple[PlannedSection, ...])
MOST_BYTES = 1_000_000


def make_outline(
    form: Form,
    claims: Claims,
    figures: Sequence[DraftFigure],
    stems: Sequence[str],
    rules: VenueRules,
) -> tuple[PlannedSection, ...]:
    """Plan the sections of a paper, or of a proposal if nothing was measured.

    Args:
        stems: key prefixes of experiments.
    """
    results = tuple(key for stem in stems for key in claims.under(stem))
    gaps = tuple(key for key, each in claims.by_key.items() if each.kind is ClaimKind.GAP)
    questions = tuple(key for key in results if key.endswith(".question"))
    result_keys = tuple(key for key in results if key not in (*gaps, *questions))
    short = tuple(key for key in result_keys if key.rpartition(".")[2] in _IN_SHORT)
    keys_in_short = (*questions, *short)
    method_keys = tuple(key for key in result_keys if key.rpartition(".")[2] in _HOW)
    graphs = tuple(each.figure_id for each in figures if each.kind is FigureKind.GRAPH)
    charts = tuple(each.figure_id for each in figures if each.kind is FigureKind.CHART)
    sections = [
        PlannedSection(
            heading="Introduction",
            part=SectionPart.INTRODUCTION,
            purpose="Say what is asked, for whom it matters, and what is known by the end.",
            claim_keys=(*_of_idea(claims, "problem", "text"), *keys_in_short),
            planned_words=280,
        ),
        PlannedSection(
            heading="Related work",
            part=SectionPart.RELATED_WORK,
            purpose="Say what is known, work by work, and where the idea goes beyond it.",
            claim_keys=claims.under("work"),
            planned_words=350,
        ),
        PlannedSection(
            heading="Method" if form is Form.PAPER else "Plan",
            part=SectionPart.METHOD,
            purpose="Say what is done, so that another can do it again.",
            claim_keys=(*_of_idea(claims, "method", "experiment"), *method_keys),
            planned_words=400,
            figure_ids=graphs,
        ),
        PlannedSection(
            heading="Results",
            part=SectionPart.RESULTS,
            purpose="Say what was measured, with every interval, whichever way it went.",
            claim_keys=result_keys,
            planned_words=400,
            figure_ids=charts,
        ),
        PlannedSection(
            heading="Limits and gaps",
            part=SectionPart.DISCUSSION,
            purpose="Say what is not shown, and answer what a reader would object.",
            claim_keys=(*gaps, *claims.under("concern")),
            planned_words=220,
        ),
        PlannedSection(
            heading="Declaration",
            purpose="Say what machines wrote.",
            claim_keys=(DECLARATION_KEY,),
        ),
    ]
    if rules.abstract_words is not None:
        sections.insert(0, _abstract(claims, keys_in_short, rules.abstract_words))
    return tuple(
        replace(each, heading=rules.headings.get(each.part, each.heading)) if each.part else each
        for each in sections
        if form is Form.PAPER or each.part is not SectionPart.RESULTS
    )


def _abstract(claims: Claims, result_keys: Sequence[str], limit: int) -> PlannedSection:
    """Plan an abstract with as many claims as fit, results before the idea."""
    room, keys_that_fit = limit // 2, set()
    of_idea = _of_idea(claims, "problem", "method", "text")
    for key in (*result_keys, *of_idea):
        size = len(claims.by_key[key].shown.split()) + len(claims.by_key[key].means.split())
        if size <= room and (key in of_idea or key.rpartition(".")[2] in _ABSTRACT):
            keys_that_fit.add(key)
            room -= size
    keys = [key for key in (*of_idea, *result_keys) if key in keys_that_fit]
    return PlannedSection(
        heading="Abstract",
        part=SectionPart.ABSTRACT,
        purpose="Say in a paragraph what is asked, what is done, and what is found or open.",
        claim_keys=tuple(keys),
        planned_words=max(20, min(limit, _ABSTRACT_WORDS)),
    )


def _of_idea(claims: Claims, *names: str) -> tuple[str, ...]:
    return tuple(f"idea.{name}" for name in names if f"idea.{name}" in claims.by_key)


def read_outline(path: Path, material: Material) -> tuple[PlannedSection, ...]:
    """Read the outline edited by a person.

    Raises:
        ConfigurationError: it is unreadable, names unknown claims or figures, breaks a rule of the
            venue, or omits the declaration of machine writing.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ConfigurationError(f"{path} is too large to be an outline")
    try:
        rows = yaml.safe_load(path.read_text("utf-8"))
        if not isinstance(rows, list):
            raise ConfigurationError(
                f"{path} is no list of sections: begin with what `--outline-only` prints"
            )
        outline = OUTLINE.validate_json(TypeAdapter(object).dump_json(rows))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {first_fault(error)}") from error
    keys = {claim.claim_key for claim in material.claims}
    figures = {figure.figure_id for figure in material.figures}
    for section in outline:
        for unknown_name in sorted({*section.claim_keys} - keys):
            raise ConfigurationError(f"{path}: {section.heading} names no claim: {unknown_name}")
        for unknown_name in sorted({*section.figure_ids} - figures):
            raise ConfigurationError(f"{path}: {section.heading} names no figure: {unknown_name}")
    if not any(DECLARATION_KEY in section.claim_keys for section in outline):
        raise ConfigurationError(
            f"{path} has no section with {DECLARATION_KEY}: what machines wrote"
        )
    for fault in outline_faults(outline, material.venue):
        raise ConfigurationError(f"{path}: {fault}")
    return outline
