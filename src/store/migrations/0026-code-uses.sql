-- A code that was used stays until it expires: who shows it again ends the tokens that came of it.
alter table authorization_codes add column challenge text; -- base64url of SHA-256 (RFC 7636)
alter table authorization_codes add column used bigint not null default 0;
alter table tokens add column code_digest bytea;

create index tokens_by_code on tokens (code_digest) where code_digest is not null;
