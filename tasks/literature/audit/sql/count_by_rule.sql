-- How many proposals of each rule stand where.
select
  rule, any_value(defect) as defect,
  count(*) filter (where state = 'proposed' and action <> 'none') as proposed,
  count(*) filter (where state = 'proposed' and action = 'none') as without_remedy,
  count(*) filter (where state = 'accepted') as accepted,
  count(*) filter (where state = 'rejected') as rejected,
  count(*) filter (where state = 'undone') as undone
from proposals
group by rule
order by rule
