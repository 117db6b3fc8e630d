select distinct r.run_id, r.idea_id, r."{column}"
from "{table}" as r
where r."{column}" is not null
  and not exists (
    select 1 from "{target}" as t where t.run_id = r.run_id and t.idea_id = r.idea_id and t."{target_column}" = r."{column}"
  )
