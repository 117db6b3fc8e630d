-- severity: critical
-- Every idea has a review from each module asked for, or a failure or a reason that says why not.
select i.run_id, i.idea_id, missing.module
from ideas as i
cross join (values ('soundness'), ('contribution')) as missing (module)
where case missing.module when 'soundness' then i.soundness_requested else i.contribution_requested end
  and not exists (select 1 from soundness_reviews as r where missing.module = 'soundness' and r.idea_id = i.idea_id)
  and not exists (select 1 from soundness_summaries as r where missing.module = 'soundness' and r.idea_id = i.idea_id and r.unscored_reason is not null)
  and not exists (select 1 from contribution_reviews as r where missing.module = 'contribution' and r.idea_id = i.idea_id)
  and not exists (select 1 from failures as f where f.idea_id = i.idea_id)
