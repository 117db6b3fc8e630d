select concept_id, name, paper_count from known where key in (select unnest($keys))
