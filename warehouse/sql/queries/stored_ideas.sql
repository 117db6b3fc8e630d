-- The ideas of a run with all their columns, by identifier.
select * from ideas where run_id = $run_id order by idea_id
