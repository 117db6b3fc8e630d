-- How far the judges of each step of a run agree; empty where no step had several.
select * exclude (run_id) from judge_agreement where run_id = $run_id order by step
