-- Who may come in: accounts, and the tokens that prove who is calling.
-- owner: platform/accounts
-- world: users
-- export: account, avatars, banners
create table users (
    id {id},
    username text not null unique,
    global_name text,
    email text unique,
    password_hash text,
    avatar text,
    banner text,
    bio text not null default '',
    accent_color bigint,
    locale text not null default 'en-US',
    flags bigint not null default 0,
    public_flags bigint not null default 0,
    premium_type bigint not null default 0,
    verified bigint not null default 0,
    bot bigint not null default 0,
    system bigint not null default 0,
    date_of_birth text,
    disabled bigint not null default 0,
    deleting bigint not null default 0
);

-- Of a token only the digest of its secret is kept. Kinds: 1 user, 2 bot,
-- 3 bearer, 4 refresh. Times are microseconds since 1970 everywhere.
-- owner: api
-- deletion: user_id: account_revoke deletes them when an account ends
-- world: users.token, without those that exist
-- export: sessions
create table tokens (
    id bytea primary key not null,
    kind bigint not null,
    user_id bigint not null references users (id) on delete cascade,
    application_id bigint,
    scopes text not null default '',
    digest bytea not null,
    created_at bigint not null,
    expires_at bigint,
    last_used_at bigint,
    client text
) {clustered};

create index tokens_by_user on tokens (user_id);
