-- Ratings of some ideas by one method along every dimension.
select idea_id, dimension, strength, lower, upper, rank, best_rank, worst_rank, wins, losses, ties, unscored_count, unranked_reason
from ratings
where run_id = $run_id and ranking_id = $ranking_id and method = $method and list_contains($idea_ids, idea_id)
order by idea_id, dimension
