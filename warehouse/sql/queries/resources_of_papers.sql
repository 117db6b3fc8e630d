-- Resources that some papers name as used, once per paper, by the latest evaluation that read it.
select resources.*
from resources
join ideas using (run_id, idea_id)
where list_contains($paper_ids, resources.paper_id)
qualify row_number() over (
  partition by resources.paper_id, kind, coalesce(resource_paper_id, lower(name))
  order by finished_at desc, run_id, idea_id, resources.position
) = 1
order by resources.paper_id, kind, name
