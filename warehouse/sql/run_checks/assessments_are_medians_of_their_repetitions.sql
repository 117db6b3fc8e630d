-- severity: critical
-- A probability is between the lowest and the highest of its repetitions, and every counted
-- repetition is stored.
select run_id, idea_id, criterion, probability_0_to_1, lowest_0_to_1, highest_0_to_1, repetition_count
from assessments
where (probability_0_to_1 is null) <> (repetition_count = 0)
  or (probability_0_to_1 is null) <> (lowest_0_to_1 is null)
  or (probability_0_to_1 is null) <> (highest_0_to_1 is null)
  or (probability_0_to_1 is null) <> (confidence_0_to_3 is null)
  or probability_0_to_1 not between lowest_0_to_1 and highest_0_to_1
  or len(json_keys(by_repetition)) <> repetition_count
