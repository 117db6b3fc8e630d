-- Published runs of experiments, newest first.
select * from experiment_runs order by started_at desc, run_id
