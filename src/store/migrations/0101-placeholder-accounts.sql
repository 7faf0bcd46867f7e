-- expand: people of a copied guild have accounts that nobody can log in to until they are claimed
-- owner: platform/accounts
-- world: users.placeholder, without codes
-- export: no, because nobody has claimed the account
create table placeholder_accounts (
    user_id {id},
    code_digest text,       -- of the code that claims the account; null if there is none
    code_expires_at bigint
);

create unique index placeholder_accounts_by_code on placeholder_accounts (code_digest);
