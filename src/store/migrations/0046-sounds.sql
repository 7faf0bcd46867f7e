-- Sounds with their files: who brought one, and under which name its bytes are kept.
alter table sounds add column user_id bigint;
alter table sounds add column file text;
