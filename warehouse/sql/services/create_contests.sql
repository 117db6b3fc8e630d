create table if not exists contests (
    contest text primary key,
    document text not null, -- schemas/people/votes.py as JSON
    standing text -- schemas/people/votes.py as JSON; null: not counted yet
) strict
