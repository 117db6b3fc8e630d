-- severity: warning
-- An evaluation without a single module judged nothing.
select run_id, idea_id
from ideas
where not (soundness_requested or contribution_requested or coalesce(committee_requested, false) or coalesce(novelty_requested, false) or coalesce(assessment_requested, false))
