-- Agreement of the judges of each step of a run; empty if no step had several.
select * exclude (run_id) from judge_agreement where run_id = $run_id order by step
