"""Writing and checking of a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.base import replace
from schemas.failure import Failure
from schemas.identifiers import content_hash
from schemas.literature.naming import claim_span
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.draft import (
    DECLARATION_KEY,
    ClaimKind,
    Draft,
    DraftClaim,
    DraftFigure,
    DraftSection,
    FigureKind,
)
from schemas.works.draft_neighbour import SectionPart
from schemas.works.draft_run import DraftRequest, Material, PlannedDraft, PlannedSection
from tasks.judging.messages import Attachment, takes_images
from tasks.judging.opening import with_spans
from tasks.judging.panel import models_of_step
from tasks.judging.step import Engine
from tasks.shards.work import Cause
from tasks.work.tools import Tools
from tasks.writing.checking import (
    MOST_OWN_WORDS,
    against_rules,
    check,
    faults_of,
    numbers_in,
    word_count,
)
from tasks.writing.figures import draft_failure
from tasks.writing.figuring import (
    See,
    describe_method,
    draw_picture,
    look_at_figures,
    mark_pictures,
)
from tasks.writing.parsing import words_of
from tasks.writing.sentences import (
    Piece,
    check_statements,
    cited_in,
    citing_sentence,
    fill_keys,
    join_pieces,
    keys_in,
    pieces_of,
    restore_keys,
    without_citations,
)
from tasks.writing.skeleton import fixed_text, program_tables, write_sections
from tasks.writing.steps import (
    DRAFT_READING,
    DRAFT_SECTION,
    LOOK_AT_FIGURE,
    LOOK_AT_PICTURE,
    DraftReadingInput,
    DraftSectionInput,
    ShownClaim,
    ShownFigure,
    ShownSource,
    WrittenSection,
)

METHOD_VERSION = 2
"""Version of fixed sentences and of the check."""


async def follow_plan(unit: PlannedDraft, tools: Tools) -> Draft:
    """Write a draft as planned; it lands whole, even if it is refused."""
    request: DraftRequest = tools.request

    def see(picture: Attachment) -> Engine:
        return with_spans(tools.shared.judging.engine_of(tools.ledger, picture))

    draft = await write_draft(
        unit,
        None if request.engine.is_baseline else tools.engine,
        see if sees(request, tools.settings) else None,
        draws=request.parameters.draws,
    )
    api_calls = unit.api_calls if unit.revision is None else ()
    return replace(draft, llm_calls=tuple(tools.ledger.llm_calls), api_calls=api_calls)


def failed_draft(unit: PlannedDraft, tools: Tools, cause: Cause) -> Draft:
    material = unit.material
    return Draft(
        draft_id=unit.draft_id,
        content_sha256=unit.content_sha256,
        form=material.form,
        title=material.title,
        word_count=None,
        unscored_reason=cause.reason,
        unscored_detail=cause.text,
        failures=(draft_failure(unit.draft_id, cause.reason, cause.text),),
        llm_calls=tuple(tools.ledger.llm_calls),
    )


async def write_draft(
    unit: PlannedDraft,
    engine: Engine | None = None,
    see: See | None = None,
    *,
    draws: bool = False,
) -> Draft:
    """Write and check the draft; without a word count it was refused or is unfinished.

    Args:
        engine: writes the sentences; None for fixed ones.
        see: engine for a picture; None if the engine sees none.
        draws: whether an image model draws the method figure.
    """
    material = unit.material
    draft = Draft(
        draft_id=unit.draft_id,
        content_sha256=unit.content_sha256,
        form=material.form,
        title=material.title,
        word_count=0,
        claims=material.claims,
        figures=material.figures,
        works=material.works,
        failures=material.failures,
        neighbours=material.neighbours,
    )
    if engine is None:
        draft = replace(draft, sections=write_sections(unit.outline, material))
    else:
        draft = await _Authoring(draft, material, engine).run(unit, see, draws=draws)
    if draft.word_count is None:
        return draft
    refusals = (*check(draft, material.stored), *against_rules(draft, material.venue))
    if not refusals:
        return replace(draft, word_count=word_count(draft))
    return replace(
        draft,
        word_count=None,
        unscored_reason=refusals[0].reason,
        unscored_detail=refusals[0].detail,
        failures=(*draft.failures, *refusals),
    )


def sees(request: DraftRequest, settings: Settings) -> bool:
    judging, engine = request.profile.judging, request.engine
    models = {
        model
        for step in (LOOK_AT_FIGURE, LOOK_AT_PICTURE)
        for model in models_of_step(step, judging) or [engine.model or ""]
    }
    return not engine.is_baseline and all(
        takes_images(model, settings.language_model) for model in models
    )


def material_hash(material: Material, outline: Sequence[PlannedSection]) -> str:
    """Hash the material of a draft."""
    return content_hash(
        material.model_dump_json(exclude={"figures": {"__all__": {"svg", "drawn_by"}}}),
        *(section.model_dump_json() for section in outline),
    )


_SHOWN_WORDS = 40


@dataclass(slots=True)
class SectionDraft:
    """A section in progress: its text with keys in braces, or why there is none."""

    planned: PlannedSection
    text: str = ""
    unscored: Unscored | None = None
    points: list[str] = field(default_factory=list)

    @property
    def is_fixed(self) -> bool:
        """Return whether the text is fixed: the declaration of machine writing."""
        return self.planned.claim_keys == (DECLARATION_KEY,)


@dataclass(slots=True)
class _Authoring:
    """Work on a draft that has all its material, but no section yet."""

    draft: Draft
    material: Material
    engine: Engine
    provenance: Provenance | None = None
    seen: Mapping[str, Sequence[str]] = field(default_factory=dict)

    async def run(self, unit: PlannedDraft, see: See | None, *, draws: bool) -> Draft:
        """Write the sections, have them read, rewrite those with points, and drop what fails.

        A second round only rewrites the sections that a reviewer criticized.
        """
        revision = unit.revision
        if revision is None:
            sections = [SectionDraft(plan) for plan in unit.outline]
            await self.figures(see, draws=draws)
            for section in sections:
                await self.write(section, sections)
            await self.read(sections)
        else:
            first = revision.draft
            self.draft = mark_pictures(replace(self.draft, figures=first.figures))
            self.provenance = first.provenance
            claims = {claim.claim_key: claim for claim in first.claims}
            sections = [
                SectionDraft(
                    plan,
                    restore_keys(earlier_section.text, claims),
                    points=[each.point for each in revision.points if each.heading == plan.heading],
                )
                for plan, earlier_section in zip(unit.outline, first.sections, strict=True)
            ]
        for section in sections:
            if section.points:
                await self.write(section, sections)
        return await self.settle(sections)

    @property
    def claims(self) -> dict[str, DraftClaim]:
        return {claim.claim_key: claim for claim in self.draft.claims}

    @property
    def passages(self) -> dict[str, str]:
        quote_claims = (claim for claim in self.draft.claims if claim.kind is ClaimKind.QUOTE)
        return {key: claim.passage for claim in quote_claims for key in claim.cited_keys}

    async def figures(self, see: See | None, *, draws: bool) -> None:
        """Describe and draw the method figure, and show all figures to a model that sees."""
        fallbacks: dict[str, Sequence[DraftFigure]] = {}
        for graph_figure in self.draft.figures:
            if graph_figure.kind is FigureKind.GRAPH:
                best, *fallback_figures = await self._method_figures(graph_figure, draws=draws)
                figures = (best if each is graph_figure else each for each in self.draft.figures)
                self.draft = replace(self.draft, figures=tuple(figures))
                fallbacks[graph_figure.figure_id] = fallback_figures
                break
        if see is not None:
            self.draft, self.seen = await look_at_figures(self.draft, fallbacks, see)
        self.draft = mark_pictures(self.draft)

    async def _method_figures(self, graph_figure: DraftFigure, *, draws: bool) -> list[DraftFigure]:
        """Return the method figure, best first, with its fallbacks."""
        description = await describe_method(self.draft, self.engine)
        results = [description]
        if isinstance(description, DraftFigure) and draws:
            results.insert(0, await draw_picture(description, self.draft, self.engine))
        failures = [each for each in results if isinstance(each, Failure)]
        self.draft = replace(self.draft, failures=(*self.draft.failures, *failures))
        figures = [each for each in results if isinstance(each, DraftFigure)]
        if not figures or figures[-1].spec != graph_figure.spec:
            figures.append(graph_figure)
        return figures

    async def write(self, section: SectionDraft, sections: Sequence[SectionDraft]) -> None:
        if section.is_fixed:
            return
        outcome = await self.engine.run(DRAFT_SECTION, self._section_input(section, sections))
        if isinstance(outcome, Unscored):
            if not section.text:
                section.unscored = outcome
            return
        self.provenance = outcome.provenance
        section.text = join_pieces(pieces_of(outcome.value.section))

    def _section_input(
        self, section: SectionDraft, sections: Sequence[SectionDraft]
    ) -> DraftSectionInput:
        plan, claims = section.planned, self.claims
        figures = {figure.figure_id: figure for figure in self.draft.figures}
        cited_keys = {key for name in plan.claim_keys for key in claims[name].cited_keys}
        passages = self.passages
        other_sections = [each for each in sections if each is not section]
        return DraftSectionInput(
            title=self.draft.title,
            form=self.draft.form.value,
            heading=plan.heading,
            purpose=plan.purpose,
            words=plan.planned_words,
            style=plan.style,
            other_headings=tuple(each.planned.heading for each in other_sections),
            claims=tuple(
                ShownClaim(key=key, means=claims[key].means, shown=claims[key].shown)
                for key in plan.claim_keys
                if not (claims[key].cited_keys and claims[key].kind is ClaimKind.TEXT)
            ),
            works=tuple(
                ShownSource(
                    key=work.cite_key,
                    title=work.title,
                    year=work.year,
                    passage=passages[work.cite_key],
                )
                for work in self.draft.works
                if work.cite_key in cited_keys and work.cite_key in passages
            ),
            figures=tuple(
                ShownFigure(figure_id=name, caption=figures[name].caption)
                for name in plan.figure_ids
            ),
            before="\n\n".join(
                f"{each.planned.heading}\n{each.text}" for each in other_sections if each.text
            ),
            own=section.text if section.points else "",
            points=tuple(section.points),
        )

    async def read(self, sections: Sequence[SectionDraft]) -> None:
        for section in sections:
            self._note(section)
        written_sections = tuple(
            WrittenSection(
                heading=each.planned.heading, purpose=each.planned.purpose, text=each.text
            )
            for each in sections
            if each.text
        )
        if not written_sections:
            return
        outcome = await self.engine.run(
            DRAFT_READING,
            DraftReadingInput(
                title=self.draft.title, form=self.draft.form.value, sections=written_sections
            ),
        )
        points = [] if isinstance(outcome, Unscored) else outcome.value.points
        for point in points:
            for section in sections:
                if section.text and section.planned.heading.casefold() == point.heading.casefold():
                    section.points.append(point.point)

    def _note(self, section: SectionDraft) -> None:
        all_sentences = [each for piece in pieces_of(section.text) for each in piece.sentences]
        for sentence in filter(self._states, all_sentences):
            stored_text = " ".join(self.passages.get(key, "") for key in cited_in(sentence))
            numbers = numbers_in(without_citations(sentence))
            for number in sorted({*numbers} - {*numbers_in(stored_text)}):
                section.points.append(f"no passage cited holds {number}, in: {sentence}")
        plain_sentences = [each for each in all_sentences if not self._states(each)]
        for sentence, faults in zip(plain_sentences, self._faults(plain_sentences), strict=True):
            if faults:
                short = " ".join(sentence.split()[:_SHOWN_WORDS])
                section.points.append(f"{faults[0]}, in: {short}")
        limit = self.material.venue.abstract_words
        if section.planned.part is SectionPart.ABSTRACT and limit is not None:
            count = len(words_of(without_citations(section.text)))
            if count > limit:
                section.points.append(f"it has {count} words, and may have {limit}")
        for name in self._unreferred(section, section.text):
            section.points.append(f"refer to the figure as [Figure](#fig-{name})")
        for name in section.planned.figure_ids:
            points = self.seen.get(name, ())
            section.points += [f"of the figure {name}, as it is seen: {each}" for each in points]

    def _states(self, sentence: str) -> bool:
        """Return whether the sentence states more about works than its quotes."""
        return bool(cited_in(sentence)) and not keys_in(sentence) and (
            len(words_of(without_citations(sentence))) > MOST_OWN_WORDS
        )  # fmt: skip

    def _faults(self, sentences: Sequence[str]) -> list[list[str]]:
        spelled_sentences = [fill_keys(each, self.claims) for each in sentences]
        return faults_of(spelled_sentences, self.draft, self.material.stored)

    def _unreferred(self, section: SectionDraft, text: str) -> list[str]:
        return [each for each in section.planned.figure_ids if f"(#fig-{each})" not in text]

    async def settle(self, sections: Sequence[SectionDraft]) -> Draft:
        """Return the draft with supported sentences, and a failure for each removed one."""
        pieces = {place: pieces_of(each.text) for place, each in enumerate(sections)}
        works = {work.cite_key: work for work in self.draft.works}
        statements = [
            sentence
            for pieces_of_section in pieces.values()
            for piece in pieces_of_section
            for sentence in piece.sentences
            if self._states(sentence) and set(cited_in(sentence)) <= works.keys()
        ]
        claims, refusals = await check_statements(statements, works, self.passages, self.engine)
        self.draft = replace(self.draft, claims=(*self.draft.claims, *claims.values()))
        failures = list(self.draft.failures)
        rows = []
        for place, section in enumerate(sections):
            text, removals = self._keep_supported(section, pieces[place], claims, refusals)
            rows.append(self._section(place, section, text))
            failures += removals
        unscored_sections = [
            (each.planned.heading, each.unscored) for each in sections if each.unscored
        ]
        failures += [
            draft_failure(name, unscored_call.reason, unscored_call.detail)
            for name, unscored_call in unscored_sections
        ]
        draft = replace(
            self.draft,
            sections=tuple(rows),
            failures=tuple(failures),
            provenance=self.provenance,
        )
        if not unscored_sections:
            return draft
        _, unscored_call = unscored_sections[0]  # a draft without a section is incomplete
        return replace(
            draft,
            word_count=None,
            unscored_reason=unscored_call.reason,
            unscored_detail=unscored_call.detail,
        )

    def _keep_supported(
        self,
        section: SectionDraft,
        pieces: Sequence[Piece],
        claims: Mapping[str, DraftClaim],
        refusals: Mapping[str, str],
    ) -> tuple[str, list[Failure]]:
        """Return the supported text, and a failure for each sentence that is left out."""
        sentences = [each for piece in pieces for each in piece.sentences]
        spelled_sentences = {
            each: citing_sentence(
                claims[each].shown, claims[each].claim_key, claims[each].cited_keys
            )
            if each in claims
            else fill_keys(each, self.claims)
            for each in sentences
        }
        faults = faults_of(
            [spelled_sentences[each] for each in sentences], self.draft, self.material.stored
        )
        reasons = {
            each: sentence_faults[0]
            for each, sentence_faults in zip(sentences, faults, strict=True)
            if sentence_faults
        }
        reasons |= {each: refusals[each] for each in sentences if each in refusals}
        removals = [
            draft_failure(
                section.planned.heading,
                Reason.UNTRACED,
                f"taken out, {line}: {' '.join(sentence.split()[:_SHOWN_WORDS])}",
            )
            for sentence, line in reasons.items()
        ]
        parts = [
            Piece(
                piece.mark,
                tuple(spelled_sentences[each] for each in piece.sentences if each not in reasons),
            )
            for piece in pieces
        ]
        return join_pieces(parts), removals

    def _section(self, place: int, section: SectionDraft, supported_text: str) -> DraftSection:
        """Return a section with the content that is visible whatever an engine writes."""
        plan, claims = section.planned, self.claims
        parts = [supported_text]
        if section.is_fixed:
            parts = [claim_span(DECLARATION_KEY, claims[DECLARATION_KEY].shown)]
        elif section.unscored is None:
            shown_claims = [claims[key] for key in plan.claim_keys]
            parts += program_tables({each.claim_key: each for each in shown_claims})
            parts += [
                f"See [Figure](#fig-{name})." for name in self._unreferred(section, supported_text)
            ]
            parts += [
                f"- {claim_span(each.claim_key, each.shown)}"
                for each in shown_claims
                if each.kind is ClaimKind.GAP and f'key="{each.claim_key}"' not in supported_text
            ]
        text = "\n\n".join(filter(None, parts))
        reason = section.unscored
        if reason is None and not text:
            text = fixed_text(plan, claims)
        return DraftSection(
            section_id=f"s{place + 1}",
            **plan.model_dump(),
            text="" if reason else text,
            unscored_reason=reason.reason if reason else None,
            unscored_detail=reason.detail if reason else "",
        )
