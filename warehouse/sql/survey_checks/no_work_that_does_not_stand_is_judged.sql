-- severity: critical
-- No work that is retracted, withdrawn or under an expression of concern was judged.
select run_id, question_id, paper_id, state
from survey_papers
where state is not null
