-- Published benchmarks, newest first.
select * from benchmarks order by started_at desc, run_id
