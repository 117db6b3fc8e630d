update questions set ended = :ended where question_id = :question_id and ended is null
