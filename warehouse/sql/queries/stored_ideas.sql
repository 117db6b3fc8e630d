-- The ideas of a run with all that is known of them, by identifier.
select * from ideas where run_id = $run_id order by idea_id
