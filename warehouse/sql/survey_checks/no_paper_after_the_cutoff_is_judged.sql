-- severity: critical
-- No paper published after a survey's cutoff was judged.
select p.run_id, p.question_id, p.paper_id
from survey_papers as p
join surveys as s using (run_id, question_id)
where s.cutoff_date is not null
  and coalesce(p.publication_date > s.cutoff_date, p.year > year(s.cutoff_date), true)
