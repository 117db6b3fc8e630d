-- What the papers retrieved for each idea are about: keywords and topics as `concept`, broad fields as `field`. A paper of
-- which the source says neither has no row of these; where it tells no keywords, phrases of title and abstract stand as `key_phrase`.
select run_id, idea_id, paper_id, 'concept' as kind, unnest(concepts) as concept from papers
union all
select run_id, idea_id, paper_id, 'field' as kind, unnest(fields_of_study) as concept from papers
union all
select run_id, idea_id, paper_id, 'key_phrase' as kind, unnest(key_phrases) as concept from papers
