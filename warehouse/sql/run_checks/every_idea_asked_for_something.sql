-- severity: warning
-- An evaluation requests at least one module, unless it failed before.
select run_id, idea_id
from ideas
where
  not (soundness_requested or contribution_requested or committee_requested or novelty_requested or assessment_requested)
  and not exists (
    select 1
    from failures as f
    where f.run_id = ideas.run_id and f.idea_id = ideas.idea_id and f.stage = 'evaluate'
  )
