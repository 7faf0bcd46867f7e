-- Accounts whose owners show a second factor when they log in. The secret is sealed with the
-- server's key; backup codes follow from it and their salt, and are not kept.
alter table users add column mfa_enabled bigint not null default 0;

-- owner: platform/accounts
-- world: no, because links and secrets stay behind
-- export: no, because it is a secret
create table mfa (
    user_id bigint primary key references users (id) on delete cascade,
    secret bytea not null,
    last_step bigint not null, -- of 30 seconds; codes of it and those before are used up
    codes_salt bytea not null,
    codes_used bigint not null -- a bit for each backup code
);
