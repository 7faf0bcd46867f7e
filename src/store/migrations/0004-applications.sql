-- Apps: who made them, where they are installed, what they may do for whom.
-- owner: platform/teams
-- deletion: owner_id: an account that owns a team cannot be deleted
-- world: no, because teams stay behind
-- export: no, because it belongs to the team
create table teams (
    id {id},
    name text not null,
    icon text,
    owner_id bigint not null references users (id)
);

-- owner: platform/teams
-- deletion: user_id: stays, because the team removes its members itself
-- world: no, because teams stay behind
-- export: no, because it belongs to the team
create table team_members (
    team_id bigint not null references teams (id) on delete cascade,
    user_id bigint not null references users (id) on delete cascade,
    state bigint not null, -- 1 invited, 2 accepted
    role text not null,    -- admin, developer, read_only
    invite_digest bytea,
    primary key (team_id, user_id)
) {clustered};

create index team_members_by_user on team_members (user_id);

-- The signing key is made from the id, this salt and the server's key; only its
-- public half is kept.
-- owner: platform/applications
-- deletion: owner_id: an account that owns an application cannot be deleted
-- world: applications
-- export: applications
create table applications (
    id {id},
    name text not null,
    description text not null default '',
    icon text,
    owner_id bigint not null references users (id),
    team_id bigint references teams (id),
    flags bigint not null default 565248, -- may have every privileged intent
    bot_id bigint,
    bot_public bigint not null default 1,
    bot_require_code_grant bigint not null default 0,
    redirect_uris text not null default '[]',
    interactions_endpoint_url text,
    role_connections_verification_url text,
    custom_install_url text,
    install_params text,
    integration_types_config text not null default '{"0":{},"1":{}}',
    tags text not null default '[]',
    key_salt bytea not null,
    verify_key text not null,
    secret_digest bytea
);

create index applications_by_owner on applications (owner_id);
create index applications_by_team on applications (team_id);
create index applications_by_bot on applications (bot_id);
create index tokens_by_application on tokens (application_id) where application_id is not null;

-- An app in a guild, or an account of another platform (added by its domain).
-- owner: platform/applications
-- deletion: user_id: stays, because it says who added the integration to the guild
-- world: guilds.applications, guilds.integrations
-- export: no, because it belongs to the guild
create table integrations (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    type text not null,
    name text not null,
    application_id bigint,
    scopes text not null default '[]',
    enabled bigint not null default 1,
    user_id bigint,
    created_at bigint not null
);

create index integrations_by_guild on integrations (guild_id);
create index integrations_by_application on integrations (application_id);

-- What a user allowed an app to do. installed: also on the account itself.
-- owner: platform/oauth2
-- world: no, because people allow an app again what it may do
-- export: no, because it holds no more than ids
create table authorizations (
    id {id},
    user_id bigint not null references users (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    scopes text not null,
    installed bigint not null default 0,
    created_at bigint not null,
    unique (user_id, application_id)
);

create index authorizations_by_application on authorizations (application_id);

-- owner: platform/oauth2
-- deletion: guild_id: expires after ten minutes
-- world: no, because people allow an app again what it may do
-- export: no, because it is a secret
create table authorization_codes (
    digest bytea primary key not null,
    user_id bigint not null references users (id) on delete cascade,
    application_id bigint not null references applications (id) on delete cascade,
    redirect_uri text,
    scopes text not null,
    integration_type bigint not null,
    guild_id bigint,
    permissions bigint not null default 0,
    pending bigint not null default 0, -- installs only when the code is exchanged
    expires_at bigint not null
) {clustered};

create index authorization_codes_by_expiry on authorization_codes (expires_at);
create index authorization_codes_by_user on authorization_codes (user_id, application_id);
