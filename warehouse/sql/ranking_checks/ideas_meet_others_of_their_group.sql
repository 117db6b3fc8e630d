-- severity: critical
-- Both ideas of a match are rated in its group, and no idea meets itself.
select m.ranking_id, m.match_id, m."group", m.first_idea_id, m.second_idea_id
from matches as m
where m.first_idea_id = m.second_idea_id
  or not exists (select 1 from ratings as r where r."group" = m."group" and r.idea_id = m.first_idea_id)
  or not exists (select 1 from ratings as r where r."group" = m."group" and r.idea_id = m.second_idea_id)
