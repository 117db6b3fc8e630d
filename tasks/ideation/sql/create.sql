create table named (number integer not null, key varchar not null, phrase varchar not null);
create table paper_concepts (
  number integer not null, concept_id integer not null, last_day integer not null
);
create table concepts (concept_id integer not null, key varchar not null, name varchar not null)
