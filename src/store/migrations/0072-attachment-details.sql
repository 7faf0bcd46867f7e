-- What a body says about a file besides its description: voice messages need how long they last and
-- how loud they are.
alter table attachments add column title text;
alter table attachments add column duration_secs double precision;
alter table attachments add column waveform text;
alter table attachments add column flags bigint not null default 0;
