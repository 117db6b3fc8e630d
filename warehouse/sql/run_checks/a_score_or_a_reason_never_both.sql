-- severity: critical
-- A judgement has either a score or a reason for its absence.
select run_id, idea_id, 'soundness_reviews' as table_name, method_id as subject, score_0_to_10 as score, unscored_reason
from soundness_reviews
where (score_0_to_10 is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'plan_reviews', 'plan', concern_count, unscored_reason
from plan_reviews
where (concern_count is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'officer_answers', question, (status is not null)::integer, unscored_reason
from officer_answers
where (status is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'comparisons', paper_id || ' ' || dimension_id, score, unscored_reason
from comparisons
where (score is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'method_evidence', method_id || ' ' || paper_id, relevant::integer, unscored_reason
from method_evidence
where (relevant is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'candidates', paper_id, relevance_0_to_5, unscored_reason
from candidates
where relevance_0_to_5 is not null and unscored_reason is not null
union all
select run_id, idea_id, 'contribution_reviews', dimension_id, mean_comparison_score, unscored_reason
from contribution_reviews
where (mean_comparison_score is null) <> (scored_comparison_count = 0)
union all
select run_id, idea_id, 'knowledge_items', knowledge_id, judge_score_0_to_1, unscored_reason
from knowledge_items
where judge_score_0_to_1 is not null and unscored_reason is not null
union all
select run_id, idea_id, 'evidence', evidence_id, relevance_0_to_1, unscored_reason
from evidence
where (relation is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'persona_reviews', persona_id || ' ' || dimension, score_0_to_10, unscored_reason
from persona_reviews
where (score_0_to_10 is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'meta_reviews', 'total_score', total_score_0_to_10, unscored_reason
from meta_reviews
where (total_score_0_to_10 is null) <> (scored_review_count = 0) or (decision is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'novelty', 'judgement', score_1_to_5, unscored_reason
from novelty
where (score_1_to_5 is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'assessments', criterion, probability_0_to_1, unscored_reason
from assessments
where (probability_0_to_1 is null) <> (unscored_reason is not null)
union all
select run_id, idea_id, 'judge_votes', judge || ' ' || item, score, unscored_reason
from judge_votes
where (score is null) <> (unscored_reason is not null)
