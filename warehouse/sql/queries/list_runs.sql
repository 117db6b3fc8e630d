-- Published runs, newest first.
select * from runs order by started_at desc, run_id desc
