create table if not exists questions (
    question_id text primary key,
    voter text not null,
    question text not null, -- schemas/people/live_question.py as JSON
    asked_at real not null, -- seconds since 1970
    ended text -- how; null: it is answered, or waits for the vote
) strict
