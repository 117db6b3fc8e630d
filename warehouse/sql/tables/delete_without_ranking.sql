delete from "{table}"
where run_id = $run_id
  and ranking_id is not null
  and not exists (select 1 from rankings as kept where kept.run_id = $run_id and kept.ranking_id = "{table}".ranking_id)
