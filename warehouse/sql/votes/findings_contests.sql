-- Problems that several checks found in one manuscript.
select m.content_sha256 as "group", m.run_id, m.manuscript_id as item_id
from manuscripts as m
where (m.run_id, m.manuscript_id) in (select run_id, manuscript_id from problems)
qualify count(*) over (partition by m.content_sha256) > 1
order by all
