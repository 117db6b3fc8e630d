-- severity: critical
-- A survey's counts of kept and judged papers are those of its rows.
select s.run_id, s.question_id
from surveys as s
left join survey_papers as p using (run_id, question_id)
group by s.run_id, s.question_id, s.kept_count, s.judged_count
having s.judged_count <> count(p.paper_id)
  or coalesce(s.kept_count, 0) <> count(p.paper_id) filter (where p.kept)
