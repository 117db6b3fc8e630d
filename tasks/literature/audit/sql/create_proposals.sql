-- What was proposed for this snapshot and what became of it; `looked` says which version was looked at, and how.
create table if not exists proposals (
  proposal_id varchar primary key, rule varchar, defect varchar, paper_id varchar, title varchar, field varchar,
  action varchar, old varchar, new varchar, evidence varchar, confidence_0_to_1 double, state varchar, decided_by varchar
);
create table if not exists looked (fingerprint varchar, how varchar);
