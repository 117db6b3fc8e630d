-- severity: critical
-- What a plan states is quoted, and a contradiction quotes plan and paper.
select run_id, idea_id, question, status
from officer_answers
where
  (status in ('stated', 'contradicted') and quote = '')
  or (status = 'contradicted') <> (paper_id is not null)
  or (status = 'contradicted') <> (paper_quote <> '')
