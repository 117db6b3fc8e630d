select question, ended from questions order by asked_at
