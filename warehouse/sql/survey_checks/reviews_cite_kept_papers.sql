-- severity: critical
-- Every citation of a written review, and every paper of a join, is a kept paper.
with named as (
  select run_id, question_id, unnest(cited_paper_ids) as paper_id from survey_sections
  union all
  select run_id, question_id, unnest([paper_id, other_paper_id, said_in_paper_id]) from survey_joins
)
select n.run_id, n.question_id, n.paper_id
from named as n
left join survey_papers as p
  on p.run_id = n.run_id and p.question_id = n.question_id and p.paper_id = n.paper_id and p.kept
where p.paper_id is null
