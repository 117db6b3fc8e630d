insert into questions (question_id, voter, question, asked_at)
values (:question_id, :voter, :question, :asked_at)
