-- severity: critical
-- Both ideas of a match are rated in its group (for a match between groups: across groups), and no
-- idea meets itself.
with rated as (
  select ranking_id, "group", idea_id from ratings
  union
  select a.ranking_id, g."group", a.idea_id
  from ratings_across_groups as a
  inner join ranking_groups as g on g.ranking_id = a.ranking_id and g.schedule = 'bridges'
)
select m.ranking_id, m.match_id, m."group", m.first_idea_id, m.second_idea_id
from matches as m
where m.first_idea_id = m.second_idea_id
  or not exists (
    select 1 from rated as r where r.ranking_id = m.ranking_id and r."group" = m."group" and r.idea_id = m.first_idea_id
  )
  or not exists (
    select 1 from rated as r where r.ranking_id = m.ranking_id and r."group" = m."group" and r.idea_id = m.second_idea_id
  )
