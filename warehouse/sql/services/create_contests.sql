create table if not exists contests (
    contest text primary key,
    document text not null, -- schemas/votes.py as JSON
    standing text -- schemas/votes.py as JSON; null: not counted yet
) strict
