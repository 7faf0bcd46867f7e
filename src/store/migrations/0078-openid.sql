-- expand: servers of the version before sign nothing, and give no code a nonce.
-- What id tokens are signed with: one RSA key, made when somebody is first asked for one. The secret
-- is sealed with the server's key.
-- owner: platform/oauth2
create table signing_keys (
    id bigint primary key, -- 1
    kid text not null,
    modulus text not null, -- base64url
    exponent text not null,
    secret bytea not null
);
alter table authorization_codes add column nonce text;

-- What makers say of an application besides.
alter table applications add column cover_image text;
alter table applications add column terms_of_service_url text;
alter table applications add column privacy_policy_url text;
alter table applications add column event_webhooks_url text;
alter table applications add column event_webhooks_status bigint not null default 1;
alter table applications add column event_webhooks_types text not null default '[]';
