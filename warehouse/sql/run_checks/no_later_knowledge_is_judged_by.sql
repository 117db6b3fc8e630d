-- severity: critical
-- Knowledge that appeared after an idea's cutoff date, or at an unknown time, only advises and is
-- no basis of a judgement.
with before_the_cutoff as (
  select k.run_id, k.idea_id, k.knowledge_id, 'knowledge_items' as used_in, k.published, i.cutoff_date
  from knowledge_items as k
  inner join ideas as i on i.idea_id = k.idea_id
  where k.phase = 'before' and i.cutoff_date is not null and coalesce(k.published > i.cutoff_date, true)
),
of_another_phase as (
  select e.run_id, e.idea_id, e.knowledge_id, 'evidence' as used_in, k.published, i.cutoff_date
  from evidence as e
  inner join ideas as i on i.idea_id = e.idea_id
  inner join knowledge_items as k on k.idea_id = e.idea_id and k.knowledge_id = e.knowledge_id
  where e.phase <> k.phase
),
cited_in_judgement as (
  select c.run_id, c.idea_id, c.knowledge_id, c.field as used_in, k.published, i.cutoff_date
  from citations as c
  inner join ideas as i on i.idea_id = c.idea_id
  inner join knowledge_items as k on k.idea_id = c.idea_id and k.knowledge_id = c.knowledge_id
  where k.phase = 'after' and c.field <> 'suggestions'
)
from before_the_cutoff
union all
from of_another_phase
union all
from cited_in_judgement
