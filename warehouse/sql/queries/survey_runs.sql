-- Published runs of surveys, newest first.
select * from survey_runs order by started_at desc, run_id
