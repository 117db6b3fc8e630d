"""The choice between batches and calls."""

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.profile import Profile


def wants_batches(batch_option: bool | None, profile: Profile, engine: EngineChoice) -> bool:
    """Return whether questions travel in batches.

    The option decides, else the profile; an engine without a model uses none.

    Raises:
        ConfigurationError: a model that takes no batches.
    """
    if engine.model is None:
        if batch_option:
            raise ConfigurationError(
                f"--batch: the {engine} engine asks no model; add --engine litellm:MODEL"
            )
        return False
    use_batches = profile.batch if batch_option is None else batch_option
    if use_batches:
        from tasks.judging.batches.providers.opening import check_takes_batches

        for model in dict.fromkeys((engine.model, *profile.judging.models)):
            check_takes_batches(model)
    return use_batches
