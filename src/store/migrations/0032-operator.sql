-- What the operator changed, and who may register where that needs an invitation.
-- owner: admin
create table operator_log (
    id {id},
    at bigint not null,
    uid bigint not null,   -- the user of the machine who asked
    command text not null  -- as it was written, without passwords
);

-- owner: platform/accounts
create table registration_invites (
    code text primary key not null,
    uses_left bigint not null,
    expires_at bigint not null,
    created_at bigint not null
) {clustered};
