-- severity: critical
-- Every idea has a review from each module asked for, or a failure or a reason that says why not.
with asked as (
  select run_id, idea_id, 'soundness' as module from ideas where soundness_requested
  union all
  select run_id, idea_id, 'contribution' from ideas where contribution_requested
  union all
  select run_id, idea_id, 'committee' from ideas where committee_requested
  union all
  select run_id, idea_id, 'novelty' from ideas where novelty_requested
  union all
  select run_id, idea_id, 'assessment' from ideas where assessment_requested
),
answered as (
  select idea_id, 'soundness' as module from soundness_reviews
  union all
  select idea_id, 'soundness' from soundness_summaries where unscored_reason is not null
  union all
  select idea_id, 'contribution' from contribution_reviews
  union all
  select idea_id, 'committee' from persona_reviews
  union all
  select idea_id, 'committee' from meta_reviews where unscored_reason is not null
  union all
  select idea_id, 'novelty' from novelty
  union all
  select idea_id, 'assessment' from assessments where criterion = 'overall'
)
select a.run_id, a.idea_id, a.module
from asked as a
where not exists (select 1 from answered as r where r.idea_id = a.idea_id and r.module = a.module)
  and not exists (select 1 from failures as f where f.idea_id = a.idea_id and f.stage <> 'left_out')
  -- Outside the field of the literature no dimension is asked for, so there is none to review.
  and not (
    a.module = 'contribution' and exists (select 1 from ideas as i where i.idea_id = a.idea_id and not i.field_covered)
  )
