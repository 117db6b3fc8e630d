-- severity: critical
-- A rating has strength, interval and ranks, or a reason for their absence; the interval contains
-- the strength, the range the rank.
select ranking_id, idea_id, dimension, method, strength, lower, upper, rank, best_rank, worst_rank, unranked_reason
from (select * from ratings union all by name select * from ratings_across_groups)
where (strength is null) <> (unranked_reason is not null)
  or (strength is null) <> (rank is null)
  or lower > strength
  or upper < strength
  or best_rank > rank
  or worst_rank < rank
