-- severity: critical
-- A review with a score has at least one text that is not empty.
select run_id, idea_id, 'soundness_reviews' as table_name, method_id as subject
from soundness_reviews
where score_0_to_10 is not null and support || contradictions || suggestions || open_questions = ''
union all
select run_id, idea_id, 'persona_reviews', persona_id || ' ' || dimension
from persona_reviews
where score_0_to_10 is not null and review = ''
union all
select run_id, idea_id, 'meta_reviews', 'meta_review'
from meta_reviews
where decision is not null and summary || strengths || weaknesses || suggestions = ''
union all
select run_id, idea_id, 'novelty', 'judgement'
from novelty
where score_1_to_5 is not null and justification = '' and len(known_aspects) + len(novel_aspects) = 0
union all
select run_id, idea_id, 'assessments', criterion
from assessments
where probability_0_to_1 is not null and len(reasons) = 0
