-- Cost of each module of a run, highest number of tokens first.
select * exclude (run_id) from module_costs where run_id = $run_id order by prompt_tokens + completion_tokens desc, module
