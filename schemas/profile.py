"""A profile: every parameter of the method in one file a user can copy and edit."""

from pydantic import Field

from schemas.base import Noun


class SoundnessParameters(Noun):
    """ScholarEval §2.1 and B.1."""

    maximum_methods: int = Field(ge=1, le=50, description="Most important methods kept.")
    query_word_limit: int = Field(default=70, ge=5, le=70)
    snippets_per_method: int = Field(ge=1, le=1000)
    papers_per_method: int = Field(ge=1, description="Papers read per method, in order of passage score.")
    papers_per_reading_call: int = Field(ge=1, description="Papers judged in one model call; 1 is the published method.")
    include_passage_papers: bool = Field(description="Read the papers the passages stand in, besides those they cite.")
    section_word_limit: int = Field(ge=50, description="Words of each section shown; what is left out is recorded.")


class ContributionParameters(Noun):
    """ScholarEval §2.2 and B.2."""

    maximum_dimensions: int = Field(ge=1, le=20)
    queries_per_statement: int = Field(ge=1, le=10)
    papers_per_query: int = Field(ge=1, le=100)
    papers_per_relevance_call: int = Field(ge=1, description="1 is the published method.")
    minimum_relevance: int = Field(ge=0, le=5)
    maximum_judged_papers: int = Field(ge=1, description="Most papers judged for relevance in the first pass, best similarity first.")
    maximum_seeds: int = Field(ge=1, description="Most seeds augmented, most relevant first.")
    recommendations_per_seed: int = Field(ge=0, le=500)
    references_per_seed: int = Field(ge=0)
    embedding_top: int = Field(ge=1, description="Augmented papers kept by similarity for the second relevance pass.")
    papers_compared: int = Field(ge=1)
    papers_per_comparison_call: int = Field(ge=1, description="1 is the published method.")
    lexical_prefilter: bool = Field(
        default=False,
        description="Before embedding a list much longer than needed, keep the twice as many that share most weighted words with the idea.",
    )


class ScoreWeights(Noun):
    """Weights of the modules in `idea_scores.score`."""

    soundness: float = Field(ge=0)
    contribution: float = Field(ge=0)


class Profile(Noun):
    """Every parameter of the method. `name` travels in every row."""

    name: str = Field(min_length=1, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    description: str = ""
    seed: int = Field(ge=0, description="Sent to models that take one, and used wherever chance enters.")
    temperature: float = Field(ge=0, le=2)
    soundness: SoundnessParameters
    contribution: ContributionParameters
    score_weights: ScoreWeights
