-- severity: critical
-- A judged match has a winner and no reason; one that was not judged has a reason and no winner.
select ranking_id, match_id, winner, unscored_reason from matches where (winner is null) <> (unscored_reason is not null)
