-- What the ranking of each group rests on.
select * from ranking_groups where run_id = $run_id and ranking_id = $ranking_id order by "group"
