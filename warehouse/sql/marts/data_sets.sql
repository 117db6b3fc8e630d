-- The data sets that papers of an idea name as used: what each says of itself beside how others describe it. A data set is
-- known by its own paper where that is known, by its name elsewhere; own_description is NULL where its paper says nothing.
select
  run_id,
  idea_id,
  resource_paper_id,
  min_by(name, position) as name,
  min_by(quote, position) filter (where paper_id = resource_paper_id) as own_description,
  count(distinct paper_id) filter (where paper_id is distinct from resource_paper_id) as used_by_count,
  coalesce(
    list(struct_pack(paper_id, section, quote) order by position) filter (where paper_id is distinct from resource_paper_id), []
  ) as descriptions
from resources
where kind = 'data_set'
group by run_id, idea_id, resource_paper_id, case when resource_paper_id is null then lower(name) end
