-- severity: warning
-- An evaluation without a single module judged nothing.
select run_id, idea_id
from ideas
where not (soundness_requested or contribution_requested or committee_requested or novelty_requested or assessment_requested)
