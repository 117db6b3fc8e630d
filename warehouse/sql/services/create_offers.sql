create table if not exists offers (
    offer_id text primary key,
    voter text not null,
    contest text not null,
    pair text not null, -- names what was shown, whichever way round
    offer text not null, -- schemas/people/votes.py as JSON
    offered_at real not null, -- seconds since 1970
    closed text, -- voted or skipped; null: the voter still looks at it
    closed_at real,
    unique (voter, pair)
) strict
