"""Roles, the one list of them: what a person or a program may do with a warehouse."""

from enum import StrEnum

from schemas.errors import NotAllowedError


class Action(StrEnum):
    """What is allowed or refused as one."""

    READ = "read results"
    SUBMIT = "submit ideas"
    VOTE = "vote"
    DECIDE = "decide"
    OVERSEE = "watch and stop the jobs of others"


class Role(StrEnum):
    """What an account or a token is made for."""

    READER = "reader"
    SUBMITTER = "submitter"
    VOTER = "voter"
    DECIDER = "decider"
    OWNER = "owner"

    def may(self, action: Action) -> bool:
        """Whether who has this role may do it."""
        return action in _ALLOWED[self]

    def check(self, action: Action) -> None:
        """Raises NotAllowedError when who has this role may not do it."""
        if not self.may(action):
            raise NotAllowedError(f"a {self} may not {action}")


_ALLOWED: dict[Role, frozenset[Action]] = {
    Role.READER: frozenset({Action.READ}),
    Role.SUBMITTER: frozenset({Action.READ, Action.SUBMIT}),
    Role.VOTER: frozenset({Action.READ, Action.VOTE}),
    Role.DECIDER: frozenset({Action.READ, Action.SUBMIT, Action.VOTE, Action.DECIDE}),
    Role.OWNER: frozenset(Action),
}

ROLES_IN_WORDS = (
    "reader: results; submitter: ideas too; voter: results, votes and questions"
    " to vote on; decider: ideas, votes and decisions; owner: everything, and the jobs of others."
)
