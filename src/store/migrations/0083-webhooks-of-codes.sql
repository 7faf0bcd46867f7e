-- expand: servers of the version before take no webhook back.
-- The webhook that was made when a code was used.
alter table authorization_codes add column webhook_id bigint
