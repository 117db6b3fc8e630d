"""Profiles: all parameters of the method, in a file that users can copy and edit."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import Field

from schemas.base import Noun
from schemas.judgement.assessment import WEIGHTED_CRITERIA
from schemas.judging import JudgingParameters

CitationCheck = bool | Literal["published"]
_CITATION_CHECK = (
    "True: check every cited sentence of the reviews against the stored texts. `published`: give"
    " every sentence that needs citations those of the papers that carry it (ScholarEval B.1.1,"
    " B.2.1). False: neither."
)
WORDS_ASKED = "None: as many as the text needs. The extractive engine takes no notice."


class SearchKind(StrEnum):
    """Strategy of literature searches.

    relevance: one relevance request per query, as published. packed: one relevance request for all
    queries of a dimension, and bulk requests where that finds too little; results are matched to
    queries locally. bulk: few bulk requests for all queries, matched in the same way.
    """

    RELEVANCE = "relevance"
    PACKED = "packed"
    BULK = "bulk"


class RecommendationKind(StrEnum):
    """Requests for recommendations: one per seed, or one for many seeds together."""

    PER_SEED = "per_seed"
    POOLED = "pooled"


class Ranking(StrEnum):
    """Order in which papers are judged: by embeddings, or also by shared words."""

    EMBEDDING = "embedding"
    EMBEDDING_AND_WORDS = "embedding_and_words"


class SoundnessParameters(Noun):
    """ScholarEval §2.1 and B.1."""

    maximum_methods: int = Field(ge=1, le=50, description="Most important methods kept.")
    maximum_points: int = Field(
        default=15,
        ge=0,
        le=30,
        description=(
            "Points kept of the review of the plan itself; 0, the published method: no such review,"
            " no questions and no concerns."
        ),
    )
    maximum_questions: int = Field(
        default=20, ge=1, le=40, description="Questions about single things that the plan names."
    )
    words_per_concern: int | None = Field(
        default=None,
        ge=20,
        description=f"Words asked of one point, without its quote. {WORDS_ASKED}",
    )
    resources_shown: int = Field(
        default=0,
        ge=0,
        le=30,
        description=(
            "Data sets, baselines and metrics of the works found that are shown to the review of"
            " the plan, which then starts after the searches; 0: none, and it starts at once."
            " Needs no further requests."
        ),
    )
    query_word_limit: int = Field(default=70, ge=5, le=70)
    queries_per_method: int = Field(
        default=1,
        ge=1,
        le=6,
        description="Queries for work like a method; 1 is the published method.",
    )
    search_failures: bool = Field(
        default=True,
        description="Search once more per method, for failures, limits and null results.",
    )
    methods_per_query_call: int = Field(
        default=1,
        ge=1,
        description="Methods whose queries one model call writes; 1 is the published method.",
    )
    snippets_per_method: int = Field(
        ge=1, le=1000, description="Passages per query, and kept per method."
    )
    minimum_relevance: int = Field(
        default=1,
        ge=1,
        le=3,
        description=(
            "A method is reviewed against the literature only with a paper of this relevance or"
            " more; 1, the published method: a distant one is enough."
        ),
    )
    papers_per_method: int = Field(
        ge=1, description="Papers read per method, in the order their passages rank."
    )
    papers_per_reading_call: int = Field(
        ge=1, description="Papers judged in one model call; 1 is the published method."
    )
    include_passage_papers: bool = Field(
        description="Read the papers of the passages, in addition to those they cite."
    )
    section_word_limit: int = Field(
        ge=50,
        description=(
            "Words of each section shown, the sentences nearest to the method; the rest is"
            " recorded as left out."
        ),
    )
    idea_word_limit: int | None = Field(
        default=None,
        ge=100,
        description=(
            "Words of the idea shown where papers are read and a method is reviewed, the sentences"
            " nearest to its methods; None: all."
        ),
    )
    extract_methods_and_results: bool = Field(
        default=True,
        description=(
            "Read the papers that passages belong to and cite. False: judge by the passages"
            " themselves (ScholarEval F.3, -MRE)."
        ),
    )
    words_per_finding: int | None = Field(
        default=None, ge=5, description=f"Words asked of each text about a paper. {WORDS_ASKED}"
    )
    words_per_review_text: int | None = Field(
        default=None, ge=20, description=f"Words asked of each text of a review. {WORDS_ASKED}"
    )

    verify_citations: CitationCheck = Field(default=False, description=_CITATION_CHECK)
    summarise: bool = Field(
        default=True,
        description=(
            "Summarize the reviews. False for assessed ideas, which have weighed concerns and"
            " reasons instead."
        ),
    )


class ContributionParameters(Noun):
    """ScholarEval §2.2 and B.2."""

    maximum_dimensions: int = Field(ge=1, le=20)
    dimensions_per_query_call: int = Field(
        default=1,
        ge=1,
        description="Dimensions whose queries one model call writes; 1 is the published method.",
    )
    queries_per_statement: int = Field(ge=1, le=10)
    search: SearchKind = SearchKind.RELEVANCE
    papers_per_query: int = Field(
        ge=1,
        le=100,
        description="Kept of each query; packed and bulk requests bring more to choose from.",
    )
    maximum_bulk_requests: int = Field(
        default=2, ge=1, le=20, description="Bulk requests per idea."
    )
    papers_per_relevance_call: int = Field(ge=1, description="1 is the published method.")
    minimum_relevance: int = Field(ge=0, le=5)
    abstract_word_limit: int | None = Field(
        default=None,
        ge=20,
        description=(
            "Words of an abstract shown for relevance, the sentences nearest to the idea; None:"
            " all."
        ),
    )
    second_pass_word_limit: int | None = Field(
        default=None,
        ge=20,
        description="Words of an abstract shown in the second pass; None: as in the first.",
    )
    idea_word_limit: int | None = Field(
        default=None,
        ge=100,
        description=(
            "Words of the idea shown where papers are judged, compared and reviewed, the sentences"
            " nearest to its dimensions; None: all."
        ),
    )
    words_per_rationale: int | None = Field(
        default=None, ge=5, description=f"Words asked of a rationale. {WORDS_ASKED}"
    )
    ranking: Ranking = Ranking.EMBEDDING
    embedded_word_limit: int | None = Field(
        default=None,
        ge=20,
        description=(
            "Words of a paper's title and abstract that are embedded to choose which papers are"
            " judged; None: as many as the encoder reads."
        ),
    )
    maximum_judged_papers: int = Field(
        ge=1,
        description="Most papers judged for relevance in the first pass, best similarity first.",
    )
    maximum_seeds: int = Field(ge=1, description="Most seeds augmented, most relevant first.")
    augment_papers: bool = Field(
        default=True,
        description=(
            "Add neighbors of the most relevant papers. False: only search results (ScholarEval"
            " F.3, -PA)."
        ),
    )
    recommendations: RecommendationKind = RecommendationKind.PER_SEED
    recommendations_per_seed: int = Field(ge=0, le=500)
    seeds_per_recommendation_request: int = Field(
        default=10, ge=1, le=100, description="Of pooled recommendations."
    )
    references_per_seed: int = Field(ge=0)
    embedding_top: int = Field(
        ge=1,
        description=(
            "Papers not judged yet, augmented ones first of all, kept by similarity for the second"
            " pass."
        ),
    )
    second_pass_margin: float | None = Field(
        default=None,
        gt=0,
        description=(
            "Factor of the number of papers in the second pass, relative to the number that would"
            " complete the papers to compare at the first pass's share of relevant ones; at least a"
            " third of embedding_top. None: all of embedding_top, the published method."
        ),
    )
    papers_compared: int = Field(ge=1)
    compare_papers: bool = Field(
        default=True,
        description=(
            "Compare the idea with each paper. False: the review sees the papers' abstracts instead"
            " (ScholarEval F.3, -PC)."
        ),
    )
    papers_per_comparison_call: int = Field(ge=1, description="1 is the published method.")
    closest_papers: int = Field(
        default=0,
        ge=0,
        description="Number of most relevant papers that are compared at length.",
    )
    words_per_closest_comparison: int | None = Field(
        default=None, ge=5, description=f"Words asked of each text about these. {WORDS_ASKED}"
    )
    words_per_comparison: int | None = Field(
        default=None, ge=5, description=f"Words asked of each text about a paper. {WORDS_ASKED}"
    )
    words_per_review_text: int | None = Field(
        default=None, ge=20, description=f"Words asked of each text of a review. {WORDS_ASKED}"
    )
    verify_citations: CitationCheck = Field(default=False, description=_CITATION_CHECK)
    lexical_prefilter: bool = Field(
        default=False,
        description=(
            "Before embedding a list much longer than needed, keep three times as many by words"
            " shared with the idea."
        ),
    )


class CommitteeParameters(Noun):
    """InnoEval, "Method": heterogeneous search, grounding and the committee. The
    defaults are the published ones.
    """

    sources: tuple[str, ...] = Field(
        default=("literature",),
        description=(
            "`literature` (the gateway) and names of registered sources, used if configured."
        ),
    )
    search_rounds: int = Field(
        default=3, ge=1, le=10, description="N: rounds of search and query refinement."
    )
    knowledge_per_kind: int = Field(
        default=10,
        ge=1,
        le=100,
        description="m: best items kept per kind; 3 m by similarity before.",
    )
    references_per_paper: int = Field(
        default=0,
        ge=0,
        le=50,
        description=(
            "References of each kept paper that enter the next round, those with known citation"
            " contexts first; one packed look-up per round. 0, as published: none."
        ),
    )
    judge_weight: float = Field(
        default=0.2, ge=0, le=1, description="α: weight of the judge's score, 1 - α of similarity."
    )
    queries_per_part: int = Field(
        default=2, ge=1, le=10, description="For each kind of source, synonyms expanded."
    )
    parts_per_query_call: int = Field(
        default=1,
        ge=1,
        description=(
            "Parts of the idea whose queries are written in one call; 1 is the published method."
        ),
    )
    reranker: str | None = Field(
        default=None,
        description=(
            "A sentence-transformers cross-encoder for reranking, such as InnoEval's"
            " BAAI/bge-reranker-base; None: the order of embeddings."
        ),
    )
    items_per_judge_call: int = Field(
        default=1,
        ge=1,
        description="Items whose credibility is judged in one call; 1 is the published method.",
    )
    pages_per_summary_call: int = Field(
        default=1, ge=1, description="Web pages summarised in one call; 1 is the published method."
    )
    reading_word_limit: int = Field(
        default=1500, ge=50, description="Words of one item's reading that are kept and shown."
    )
    items_per_grounding_call: int = Field(
        default=1,
        ge=1,
        description="Items grounded against a part in one call; 1 is the published method.",
    )
    use_later_knowledge: bool = Field(
        default=True, description="Search works after the cutoff, for suggestions only."
    )
    personas_file: str | None = Field(
        default=None, description="TOML file of personas; None: the shipped ones."
    )
    persona_count: int = Field(
        default=5, ge=1, le=100, description="Personas drawn by the seed from the file."
    )
    same_panel: bool = Field(
        default=False,
        description=(
            "Use the same personas for every idea, so that scores do not depend on the draw; False,"
            " as published: each idea has its own."
        ),
    )
    panel_field: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Field of the ideas: half of the personas, rounded down, are then those with the"
            " nearest profiles; None: all are drawn."
        ),
    )
    dimensions_per_call: int = Field(
        default=1, ge=1, description="Dimensions judged in one call; 1 is the published method."
    )


class Criterion(StrEnum):
    """Criterion by which `overall` compares two ideas."""

    PURSUE_FIRST = "pursue_first"
    EXPERT_REVIEWERS = "expert_reviewers"


class AssessmentParameters(Noun):
    """Parameters of the assessment, the last judgement of an idea."""

    repetitions: int = Field(
        default=0,
        ge=0,
        le=9,
        description="Repetitions, of which the median counts; 0: no assessment.",
    )
    maximum_concerns: int = Field(
        default=7, ge=1, le=20, description="Concerns that are weighed and challenged."
    )


class RankingParameters(Noun):
    """Grouped ranking: matches, schedule, ratings (InnoEval; OmniScientist §5.2)."""

    round_robin_limit: int = Field(
        default=8,
        ge=2,
        description="Groups up to this size play every pair; larger ones are scheduled.",
    )
    matches_per_idea: int = Field(
        default=24, ge=1, description="Most pairs an idea plays in a scheduled group."
    )
    stable_top: int = Field(
        default=10, ge=1, description="The schedule ends early when this many leaders are settled."
    )
    bridge_pairs: int = Field(
        default=0,
        ge=0,
        description=(
            "Most pairs that each group plays with other groups, so that strengths compare across "
            "groups; 0: none, and they compare within a group only."
        ),
    )
    dimensions: tuple[str, ...] | None = Field(
        default=None,
        description=(
            "Names of the committee's dimensions of the comparison, in addition to overall; None:"
            " all of them."
        ),
    )
    criterion: Criterion = Field(
        default=Criterion.PURSUE_FIRST,
        description=(
            "Question of `overall`: the idea to pursue first, or the one that expert reviewers"
            " would rank higher."
        ),
    )
    prior: str | None = Field(
        default=None,
        description=(
            "Path of a fitted prior (`assay prior`) of overall strengths before any match; None:"
            " equal strengths."
        ),
    )
    show_scores: bool = Field(
        default=False,
        description=(
            "Show the judge the scores of modules and committee, which bias its judgement."
        ),
    )
    both_orders: bool = Field(
        default=True, description="Ask each pair in both orders, which measures position bias."
    )


class NoveltyParameters(Noun):
    """The five-point novelty judgement (RINoBench §3)."""

    maximum_statements: int = Field(
        default=4, ge=1, le=12, description="Key statements of the idea for searches."
    )
    queries_per_statement: int = Field(default=2, ge=1, le=10)
    papers_per_query: int = Field(default=20, ge=1, le=100)
    related_works: int = Field(
        default=10, ge=1, le=100, description="Related works shown, most similar first."
    )
    words_per_text: int | None = Field(
        default=None, ge=10, description="Asked of a justification; None: two to four sentences."
    )
    rerank_by_facet: bool = Field(
        default=True,
        description=(
            "Choose related works by similarity of purpose, mechanism, evaluation and application"
            " in turn, instead of the idea as a whole."
        ),
    )
    exemplars: str | None = Field(
        default=None,
        description="Path of ideas labeled by experts, shown to the judge; None: none.",
    )
    calibrator: str | None = Field(
        default=None, description="Path of a fitted calibrator; None: no calibration."
    )


class ResourceParameters(Noun):
    """Parameters of extracting resources from an idea's papers."""

    asked_papers: int = Field(
        default=0,
        ge=0,
        le=500,
        description=(
            "Papers from which the engine extracts resources, those with most text first; 0: rules"
            " only."
        ),
    )
    papers_per_call: int = Field(default=8, ge=1, description="Papers shown in one call.")
    words: int = Field(default=600, ge=50, description="Words shown of each paper.")
    maximum_per_paper: int = Field(default=20, ge=1, le=100, description="Rows kept of a paper.")


class AnswerParameters(Noun):
    """Parameters of an answer to a question (`assay ask`)."""

    papers_read: int = Field(
        default=12, ge=1, le=100, description="Number of most relevant papers that are read."
    )


_CRITERIA = frozenset(criterion.value for criterion in WEIGHTED_CRITERIA)


class ScoreWeights(Noun):
    """Weights in `idea_scores.score`: of modules, or in an assessed run of criteria.

    Without weights of criteria, the score of an assessed idea is that of `overall`.
    """

    soundness: float = Field(ge=0)
    contribution: float = Field(ge=0)
    committee: float = Field(default=0.0, ge=0)
    novelty: float = Field(default=0.0, ge=0)
    worth_asking: float = Field(default=0.0, ge=0)
    new: float = Field(default=0.0, ge=0)
    decisive_test: float = Field(default=0.0, ge=0)
    feasible: float = Field(default=0.0, ge=0)

    def acting(self, *, assessed: bool) -> dict[str, float]:
        """Return the weights of a score: by criterion in an assessed run, else by module."""
        weights: dict[str, float] = self.model_dump()
        return {name: each for name, each in weights.items() if (name in _CRITERIA) is assessed}


class Profile(Noun):
    """All parameters of the method."""

    name: str = Field(min_length=1, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    description: str = ""
    seed: int = Field(
        ge=0, description="Sent to models that accept one, and used for all random draws."
    )
    temperature: float = Field(ge=0, le=2)
    batch: bool = Field(default=False, description="Use the provider's batches, at half the price.")
    soundness: SoundnessParameters
    contribution: ContributionParameters
    committee: CommitteeParameters = CommitteeParameters()
    novelty: NoveltyParameters = NoveltyParameters()
    assessment: AssessmentParameters = AssessmentParameters()
    ranking: RankingParameters = RankingParameters()
    judging: JudgingParameters = JudgingParameters()
    resources: ResourceParameters = ResourceParameters()
    answers: AnswerParameters = AnswerParameters()
    score_weights: ScoreWeights

    @property
    def files(self) -> tuple[Path, ...]:
        """Paths in the profile."""
        novelty = (self.novelty.exemplars, self.novelty.calibrator)
        file_names = (self.committee.personas_file, self.ranking.prior, *novelty)
        return tuple(Path(name) for name in file_names if name is not None)
