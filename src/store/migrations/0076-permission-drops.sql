-- expand: servers of the version before write rows of round 0, which go while the command's rows do.
-- A command may have rows of permissions in very many guilds. When it is renamed or deleted they are
-- marked together and go in steps: rows of an earlier round than the mark's are not seen any more.
alter table command_permissions add column round bigint not null default 0;

create index command_permissions_by_round on command_permissions (target_id, round, guild_id);

-- owner: commands
-- world: no, because each server decides who may use a command
create table permission_drops (
    target_id {id}, -- a command
    application_id bigint not null references applications (id) on delete cascade,
    round bigint not null, -- rows of this one and of later ones stay
    told bigint not null   -- each guild is told that it has none any more
);

create index permission_drops_by_application on permission_drops (application_id);

-- Whether half a million members used a token since a day is looked up without the tokens themselves.
create index tokens_by_user_and_time on tokens (user_id, created_at, last_used_at);

-- Last, because servers of the version before wait from here on.
drop index command_permissions_by_target;
drop index tokens_by_user;
