"""What earlier runs have done of a request, which is not paid again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DoneBefore:
    """What earlier runs have done of a request.

    Attributes:
        evaluated: ideas with a whole evaluation, which is taken over.
        replies: of each idea whose evaluation ended early, how many model replies it had, which
            the cache holds.
        interrupted: ideas of a run that was begun, about which nothing has landed.
        ranked: whether a whole ranking by matches is there, too.
    """

    evaluated: int = 0
    replies: tuple[int, ...] = ()
    interrupted: int = 0
    ranked: bool = False

    def left_of(self, idea_count: int, calls_per_idea: float) -> float:
        """Ideas still to be paid for; one whose evaluation ended early counts by its open calls."""
        answered = sum(min(count / calls_per_idea, 1.0) for count in self.replies if count)
        return max(idea_count - self.evaluated - answered, 0.0)


NOTHING_DONE = DoneBefore()
