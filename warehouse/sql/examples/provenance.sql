-- Which prompt and call made each soundness score
select r.idea_id, r.method_id, r.score_0_to_10, r.unscored_reason, r.step, r.step_version, r.prompt_sha256, r.model_answered, r.seed
from soundness_reviews as r
order by r.created_at desc
limit 100
