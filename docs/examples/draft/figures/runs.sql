select program_id, replicate, value from executions where run_id = 'experiment-1176a50a51e5' and task_id = 'laplacian' and stage = 'confirmation' and value is not null
