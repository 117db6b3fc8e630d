-- severity: critical
-- A supported finding is above 0 on the selection runs and on the confirmation runs.
select e.run_id, e.task_id
from experiments as e
left join programs as p
  on p.run_id = e.run_id and p.task_id = e.task_id and p.program_id = e.best_program_id
where e.finding = 'supported'
  and not coalesce(p.fate = 'confirmed' and p.gain_low > 0 and e.selected_low > 0, false)
