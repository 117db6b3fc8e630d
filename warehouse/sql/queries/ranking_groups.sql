-- Summaries of a ranking's groups.
select * from ranking_groups where run_id = $run_id and ranking_id = $ranking_id order by "group"
