-- Ratings of a ranking by one method, best first within group and dimension.
select * from ratings
where run_id = $run_id and ranking_id = $ranking_id and method = $method
order by "group", dimension, rank nulls last, strength desc, idea_id
