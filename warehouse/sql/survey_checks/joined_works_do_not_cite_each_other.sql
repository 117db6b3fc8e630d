-- severity: critical
-- Works joined only by a third work do not cite each other.
select j.run_id, j.question_id, j.paper_id
from survey_joins as j
join citation_edges as e
  on e.run_id = j.run_id and e.idea_id = j.question_id
  and (
    (e.citing_paper_id = j.paper_id and e.cited_paper_id = j.other_paper_id)
    or (e.citing_paper_id = j.other_paper_id and e.cited_paper_id = j.paper_id)
  )
