"""ScholarEval's ablations as profile switches (§4.2 and F.3)."""

from collections.abc import Callable, Mapping

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.profile import Profile


def _without_methods_and_results(profile: Profile) -> Profile:
    return replace(profile, soundness=replace(profile.soundness, extract_methods_and_results=False))


def _without_augmentation(profile: Profile) -> Profile:
    return replace(profile, contribution=replace(profile.contribution, augment_papers=False))


def _without_comparison(profile: Profile) -> Profile:
    return replace(profile, contribution=replace(profile.contribution, compare_papers=False))


ABLATIONS: Mapping[str, Callable[[Profile], Profile]] = {
    "mre": _without_methods_and_results,
    "pa": _without_augmentation,
    "pc": _without_comparison,
}
"""mre: passages go to the review as they are, no paper is read. pa: no recommendations, no references. pc: the review sees the
papers themselves, not comparisons with them."""


def profile_without(profile: Profile, text: str) -> Profile:
    """`profile` without the parts named in `text`, such as `mre,pa`; its name says what it lacks.

    Raises:
        ConfigurationError: an unknown part.
    """
    names = list(
        dict.fromkeys(name.strip().lower().lstrip("-") for name in text.split(",") if name.strip())
    )
    unknown = [name for name in names if name not in ABLATIONS]
    if unknown:
        raise ConfigurationError(
            f"--without {text!r}: {', '.join(unknown)}; choose from {', '.join(ABLATIONS)}"
        )
    for name in names:
        profile = ABLATIONS[name](profile)
    return replace(profile, name="-".join([profile.name, *(["without", *names] if names else [])]))
