-- expand: a person may claim a placeholder account by logging in at the server from which it was copied
alter table placeholder_accounts add column identity_code_digest text; -- of a code that followed such a log-in
alter table placeholder_accounts add column identity_code_expires_at bigint;

create unique index placeholder_accounts_by_identity_code on placeholder_accounts (identity_code_digest);

-- Log-ins at the other server that have begun.
-- owner: platform/accounts
-- world: no, because it is valid for minutes
-- export: no, because it is a secret of a browser without an account
create table claim_states (
    digest text primary key not null, -- of the OAuth2 state and of the proof that only the browser has
    expires_at bigint not null
) {clustered};

create index claim_states_by_expiry on claim_states (expires_at);
