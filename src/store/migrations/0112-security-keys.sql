-- expand: accounts with a security key but no TOTP secret have an empty secret in table mfa
-- owner: platform/accounts
-- world: no, because links and secrets stay behind
-- export: no, because it is a secret
create table webauthn_credentials (
    id {id},
    user_id bigint not null,
    credential_id bytea not null, -- chosen by the key
    public_key bytea not null,    -- COSE
    rp_id text not null,          -- host of the page that registered the key
    name text not null,
    sign_count bigint not null,   -- counter of the key at its last use; 0 if it does not count
    last_used_at bigint,
    last_ticket bigint not null   -- expiry in seconds of the last ticket that the key signed
);

create unique index webauthn_credentials_by_user on webauthn_credentials (user_id, credential_id);
