-- expand: codes to register with are stored as digests and listed by an id and their beginning
alter table registration_invites add column id bigint not null default 0;
alter table registration_invites add column prefix text not null default '';
create index registration_invites_by_id on registration_invites (id);

-- Codes of before are plain text until this job has replaced them.
insert into jobs (kind, key, due, data) values ('registration-codes', 1, 0, '');
