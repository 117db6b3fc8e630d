-- severity: critical
-- A match has either a winner or a reason why it was not judged.
select ranking_id, match_id, winner, unscored_reason from matches where (winner is null) <> (unscored_reason is not null)
