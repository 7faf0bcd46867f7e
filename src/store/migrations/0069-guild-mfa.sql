-- Guilds whose moderators have to have a second factor.
alter table guilds add column mfa_level bigint not null default 0;
