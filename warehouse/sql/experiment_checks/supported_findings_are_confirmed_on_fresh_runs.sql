-- severity: critical
-- What is called supported lies above 0 where it was chosen and where it was confirmed.
select e.run_id, e.task_id
from experiments as e
left join programs as p
  on p.run_id = e.run_id and p.task_id = e.task_id and p.program_id = e.best_program_id
where e.finding = 'supported'
  and not coalesce(p.fate = 'confirmed' and p.gain_low > 0 and e.selected_low > 0, false)
