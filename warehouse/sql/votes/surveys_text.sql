-- What a voter sees of a survey.
select heading, text from survey_sections
where run_id = $run_id and question_id = $item_id and length(trim(text)) > 0
order by position
