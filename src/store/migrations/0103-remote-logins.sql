-- expand: a device that shows a QR code waits until a device that is logged in lets it in
-- owner: platform/accounts
-- world: no, because sessions are of the server that has them
-- export: no, because it is a secret
create table remote_logins (
    id {id},
    fingerprint_digest text not null,
    public_key text not null,     -- base64 of the RSA key (SPKI)
    state bigint not null,        -- enum remote_login_state
    expires_at bigint not null,
    user_id bigint,               -- account that scanned the code, and its session
    token_id bytea,
    handshake_digest text,
    ticket_digest text
);

create unique index remote_logins_by_fingerprint on remote_logins (fingerprint_digest);
create index remote_logins_by_handshake on remote_logins (handshake_digest);
create index remote_logins_by_ticket on remote_logins (ticket_digest);
create index remote_logins_by_user on remote_logins (user_id);
create index remote_logins_by_end on remote_logins (expires_at);
