-- severity: critical
-- A group's summary counts the matches of its engine; votes of people are separate.
select g.ranking_id, g."group", g.match_count, g.unscored_match_count, count(m.match_id) as matches, count(m.unscored_reason) as unscored
from ranking_groups as g
left join matches as m on m.ranking_id = g.ranking_id and m."group" = g."group" and not starts_with(m.judge, 'human:')
group by all
having g.match_count <> count(m.match_id) or g.unscored_match_count <> count(m.unscored_reason)
