-- Rankings of a run, newest first.
select * from rankings where run_id = $run_id order by finished_at desc, ranking_id
