"""Collection of a draft's material: claims and works from the lake and from files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId, RunId
from schemas.judgement.soundness import standing
from schemas.literature.paper import Paper, PaperSection
from schemas.literature.survey import Survey
from schemas.profile import Profile
from schemas.settings import Settings
from schemas.works.draft import DraftFigure, Form
from schemas.works.draft_neighbour import NeighbourSection, habits_of
from schemas.works.draft_run import (
    DraftParameters,
    DraftRequest,
    Material,
    PlannedDraft,
    PlannedSection,
    StoredText,
    WriteOptions,
)
from schemas.works.draft_venue import Venue, VenueRules
from schemas.works.experiment import Experiment
from schemas.works.experiment_run import EXPERIMENTS
from schemas.works.survey_run import SURVEYS
from tasks.citations.bib_entries import read_bib
from tasks.ideas.read import read_ideas
from tasks.text.words import shorten_words
from tasks.work.declaration import Common
from tasks.writing.charts import experiment_charts
from tasks.writing.claims import (
    MOST_WORKS,
    Claims,
    StoredWork,
    add_concerns,
    add_contradictions,
    add_experiment,
    add_idea,
    add_works,
    contexts_of,
    declare,
    draft_works,
    merge_works,
    passage_of,
    stored_texts,
    works_by_key,
    works_of_survey,
)
from tasks.writing.drafting import METHOD_VERSION, material_hash
from tasks.writing.expected import drawing_model, with_drawing_model
from tasks.writing.figures import readable_figures
from tasks.writing.graphs import experiment_graph, plan_graph
from tasks.writing.neighbours import neighbours_of, plan_by_habits
from tasks.writing.outline import make_outline, read_outline
from warehouse.queries import Queries
from warehouse.row_models import IdeaReview
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse

NEUTRAL = "neutral"
_TITLE_WORDS = 12


@dataclass(slots=True)
class Sources:
    idea: Idea
    review: IdeaReview | None = None
    experiments: list[tuple[RunId, Experiment]] = field(default_factory=list)
    works: list[StoredWork] = field(default_factory=list)
    stored: list[StoredText] = field(default_factory=list)
    papers: list[Paper] = field(default_factory=list)
    sections: list[PaperSection] = field(default_factory=list)
    remarks: tuple[str, ...] = ()

    @property
    def idea_run_id(self) -> RunId | None:
        return self.review.run.run_id if self.review is not None else None

    def add_evaluation(self, review: IdeaReview) -> None:
        evaluation, idea = review.evaluation, review.evaluation.idea
        soundness = evaluation.soundness
        passages: dict[PaperId, list[str]] = {}
        for passage in soundness.passages if soundness is not None else ():
            passages.setdefault(passage.paper_id, []).append(passage.text)
        self.works += [
            StoredWork(paper, passage_of(paper, passages.get(paper.paper_id, ()), idea.text))
            for paper in review.bibliography
        ]
        sections = soundness.sections if soundness is not None else ()
        self.papers += evaluation.papers
        self.sections += sections
        texts = [
            *((paper_id, text) for paper_id, texts in passages.items() for text in texts),
            *((section.paper_id, section.text) for section in sections),
            *contexts_of(evaluation.citation_edges),
        ]
        self.stored += stored_texts(evaluation.papers, texts)

    def add_survey(self, survey: Survey) -> None:
        self.works += works_of_survey(survey)
        self.papers += [paper.text for paper in survey.papers if paper.kept]
        quotes = [(quote.said_in_paper_id, quote.quote) for quote in survey.quotes]
        texts = [*quotes, *contexts_of(survey.links)]
        self.stored += stored_texts([paper.text for paper in survey.papers], texts)


def resolve_draft(
    arguments: tuple[Path | None, str, Venue | None],
    options: WriteOptions,
    common: Common,
    settings: Settings,
) -> DraftRequest:
    """Collect the material of a draft, and plan it.

    Args:
        arguments: a file with one idea, or None for an idea of the lake; its id; the template, or None
            for the neutral one.

    Raises:
        ConfigurationError: an idea, run, bibliography or outline is missing or unreadable.
    """
    file, name, venue = arguments
    profile = _with_image_model(common["profile"], options)
    if options.review and options.engine.is_baseline:
        raise ConfigurationError("--review reads with a model: add --engine litellm:MODEL")
    bibliography = read_bib(options.bib) if options.bib is not None else []
    sources = _collect(file, name, options, settings)
    works = [StoredWork(paper, key=key) for key, paper in bibliography]
    sources.papers += [paper for _, paper in bibliography]
    neighbours, api_calls = neighbours_of(
        sources.idea,
        sources.papers,
        sources.sections,
        Warehouse(options.warehouse, settings),
        downloads=options.full_text and not options.dry_run,
    )
    rules = VenueRules(venue=NEUTRAL) if venue is None else venue.rules
    material, outline = _material(sources, works, neighbours, rules, options.engine)
    if options.outline is not None:
        outline = read_outline(options.outline, material)
        used_ids = {name for section in outline for name in section.figure_ids}
        used_figures = tuple(each for each in material.figures if each.figure_id in used_ids)
        material = replace(material, figures=used_figures)
    unit = PlannedDraft(
        draft_id=sources.idea.idea_id,
        content_sha256=material_hash(material, outline),
        material=material,
        outline=outline,
        venue=venue,
        idea_run_id=sources.idea_run_id,
        experiment_run_ids=tuple(dict.fromkeys(run_id for run_id, _ in sources.experiments)),
        survey_run_id=RunId(options.survey) if options.survey else None,
        api_calls=api_calls,
    )
    parameters = DraftParameters(
        method_version=METHOD_VERSION,
        review=options.review,
        draws=drawing_model(profile.judging) is not None,
    )
    retracted_works = {
        each.paper.title: each.paper.state.mark
        for each in [*works, *sources.works]
        if each.paper.state
    }
    remarks = (
        *sources.remarks,
        *_remarks(material, is_planned=options.outline is None),
        *(
            f"not cited, as it is {mark}: “{shorten_words(title, _TITLE_WORDS)[0]}”"
            for title, mark in retracted_works.items()
        ),
    )
    changed = {**common, "profile": profile, "remarks": remarks}
    return DraftRequest(units=(unit,), parameters=parameters, **changed)


def _with_image_model(profile: Profile, options: WriteOptions) -> Profile:
    """Return `profile` with the requested image model."""
    if options.image_model is None:
        return profile
    if options.engine.is_baseline:
        raise ConfigurationError(
            "--image-model draws what a model describes: add --engine litellm:MODEL"
        )
    name = options.image_model.strip()
    if not name or any(map(str.isspace, name)):
        raise ConfigurationError(
            f"--image-model {name!r}: write it as LiteLLM does, such as openai/gpt-image-1"
        )
    return replace(profile, judging=with_drawing_model(profile.judging, name))


def _collect(file: Path | None, name: str, options: WriteOptions, settings: Settings) -> Sources:
    of_file = None if file is None else _of_file(file, options.field)
    if of_file is not None and not (options.experiment or options.survey):
        return of_file
    warehouse = Warehouse(options.warehouse, settings)
    with warehouse.queries() as queries:
        sources = of_file or _of_lake(queries, IdeaId(name))
        connection = queries.connection
        for run_and_task in dict.fromkeys(options.experiment):
            run, _, task = run_and_task.partition("/")
            published_head(connection, kind_of(EXPERIMENTS), RunId(run))
            experiments = published_units(connection, kind_of(EXPERIMENTS), RunId(run))
            selection = [each for each in experiments if task in ("", each.task_id)]
            if not selection:
                names = ", ".join(each.task_id for each in experiments)
                raise ConfigurationError(f"--experiment {run_and_task}: its tasks are {names}")
            sources.experiments += [(RunId(run), each) for each in selection]
        if options.survey:
            run_id = RunId(options.survey)
            published_head(connection, kind_of(SURVEYS), run_id)
            for survey in published_units(connection, kind_of(SURVEYS), run_id):
                sources.add_survey(survey)
    return sources


def _of_file(path: Path, fields: tuple[str, ...]) -> Sources:
    batch = read_ideas(path, default_cutoff=None, fields=fields)
    if batch.rejected:
        raise ConfigurationError(f"{batch.rejected[0].location}: {batch.rejected[0].detail}")
    if len(batch.ideas) != 1:
        raise ConfigurationError(
            f"{path} holds {len(batch.ideas)} ideas; a draft is of one: give it a file of its own"
        )
    return Sources(batch.ideas[0], remarks=batch.remarks)


def _of_lake(queries: Queries, idea_id: IdeaId) -> Sources:
    for row in queries.rows("runs_of_idea", idea_id=idea_id):
        review = queries.idea_review(RunId(row["run_id"]), idea_id)
        sources = Sources(review.evaluation.idea, review)
        sources.add_evaluation(review)
        return sources
    raise UnknownNameError(
        f"{idea_id} is neither a file nor an idea of the lake; `assay runs list` lists its runs"
    )


def _material(
    sources: Sources,
    own_works: Sequence[StoredWork],
    neighbours: tuple[NeighbourSection, ...],
    rules: VenueRules,
    engine: EngineChoice,
) -> tuple[Material, tuple[PlannedSection, ...]]:
    claims, idea = Claims(), sources.idea
    add_idea(claims, idea, sources.idea_run_id)
    if sources.review is not None:
        concerns = standing(sources.review.evaluation.concerns)
        add_concerns(claims, concerns, idea, sources.review.run.run_id)
    sound_works = [
        each for each in merge_works([own_works, sources.works]) if each.paper.state is None
    ]
    works = works_by_key(sound_works[: max(MOST_WORKS, len(own_works))])
    add_works(claims, works, idea.text)
    stems = [add_experiment(claims, run_id, each) for run_id, each in sources.experiments]
    pairs = [(stem, each) for stem, (_, each) in zip(stems, sources.experiments, strict=True)]
    add_contradictions(claims, pairs)
    if not works:
        claims.gap("works.gap", "what is known already; no survey, evaluation or bibliography.")
    if not sources.experiments:
        claims.gap("results.gap", "whether it holds; no experiment was run.")
    declare(claims, engine)
    is_measured = any(each.finding is not None for _, each in sources.experiments)
    form = Form.PAPER if is_measured else Form.PROPOSAL
    figures, failures = readable_figures(_figures(sources, stems, form), claims.values)
    material = Material(
        form=form,
        title=claims.by_key["idea.title"].shown,
        claims=tuple(claims.by_key.values()),
        figures=figures,
        works=draft_works(works),
        stored=tuple(sources.stored),
        failures=failures,
        neighbours=neighbours,
        venue=rules,
    )
    outline = make_outline(form, claims, figures, stems, rules)
    return material, plan_by_habits(outline, habits_of(neighbours), rules.most_words)


def _figures(sources: Sources, stems: Sequence[str], form: Form) -> tuple[DraftFigure, ...]:
    if form is Form.PROPOSAL:
        parts = [
            name for name in ("problem", "method", "experiment") if getattr(sources.idea, name)
        ]
        return (plan_graph(parts),)
    experiments = [each for _, each in sources.experiments]
    charts = [
        figure
        for stem, (run_id, each) in zip(stems, sources.experiments, strict=True)
        for figure in experiment_charts(run_id, each, stem, alone=len(experiments) == 1)
    ]
    return (experiment_graph(experiments), *charts)


def _remarks(material: Material, *, is_planned: bool) -> tuple[str, ...]:
    lines = []
    habits = habits_of(material.neighbours)
    if is_planned and habits.looked_up and not habits.are_enough:
        lines.append(
            f"the outline is fixed: {habits.why_not}; full texts are fetched with --full-text"
        )
    if not material.works:
        lines.append("nothing is cited: name a survey with --survey, or a file with --bib")
    if material.form is Form.PROPOSAL:
        lines.append("nothing was measured, so this is a proposal: name a run with --experiment")
    quoted_keys = {key for claim in material.claims if claim.passage for key in claim.cited_keys}
    silent = [work.cite_key for work in material.works if work.cite_key not in quoted_keys]
    if silent:
        lines.append(f"of {len(silent)} works no text is stored: {', '.join(silent[:5])}")
    if any(claim.claim_key.endswith(".contradiction") for claim in material.claims):
        lines.append("experiments contradict each other: the draft says so, and of which runs")
    return tuple(lines)
