-- severity: critical
-- No work that was retracted, withdrawn or is under an expression of concern was looked at.
select run_id, question_id, paper_id, state
from survey_papers
where state is not null
