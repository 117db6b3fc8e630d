select program_id, gain, gain_low, gain_high from programs where run_id = 'experiment-1176a50a51e5' and task_id = 'laplacian' and program_id in ('quasi_monte_carlo', 'c029')
