select concept_id, name from known
