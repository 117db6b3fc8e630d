-- Published check runs, newest first; $dataset NULL: all.
select * from check_runs where $dataset is null or dataset = $dataset order by started_at desc, run_id
