"""Whether questions travel in batches."""

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.profile import Profile


def wants_batches(asked: bool | None, profile: Profile, engine: EngineChoice) -> bool:
    """Return whether questions travel in batches: as asked, else as the profile says, where models
    are asked at all.

    Raises:
        ConfigurationError: a model that takes no batches.
    """
    if engine.model is None:
        if asked:
            raise ConfigurationError(
                f"--batch: the {engine} engine asks no model; add --engine litellm:MODEL"
            )
        return False
    wanted = profile.batch if asked is None else asked
    if wanted:
        from tasks.judging.batches.providers.opening import check_takes_batches

        for model in dict.fromkeys((engine.model, *profile.judging.models)):
            check_takes_batches(model)
    return wanted
