-- severity: warning
-- An evaluation requests at least one module.
select run_id, idea_id
from ideas
where not (soundness_requested or contribution_requested or committee_requested or novelty_requested or assessment_requested)
