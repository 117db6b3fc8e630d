-- severity: critical
-- The removed sentences of a section are stored.
select s.run_id, s.question_id, s.section_id
from survey_sections as s
left join survey_removed_sentences as r using (run_id, question_id, section_id)
group by s.run_id, s.question_id, s.section_id, s.uncited_sentence_count, s.dropped_sentence_count
having count(r.why) filter (where r.why = 'uncited') <> s.uncited_sentence_count
  or count(r.why) filter (where r.why = 'unsupported') <> coalesce(s.dropped_sentence_count, 0)
