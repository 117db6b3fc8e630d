-- What the papers retrieved for each idea are about: keywords and topics as `concept`, broad fields as `field`. A paper of
-- which the source says neither has no row.
select run_id, idea_id, paper_id, 'concept' as kind, unnest(concepts) as concept from papers
union all
select run_id, idea_id, paper_id, 'field' as kind, unnest(fields_of_study) as concept from papers
