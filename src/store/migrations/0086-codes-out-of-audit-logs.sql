-- expand: codes of invites that give roles leave the audit log, which people without these roles can read.
update audit_log set changes = replace(changes, (
    select '"' || i.code || '"' from invites i where i.guild_id = audit_log.guild_id
    and i.role_ids is not null
    and replace(audit_log.changes, '"' || i.code || '"', 'null') <> audit_log.changes limit 1), 'null')
where action = 40 and guild_id in (select guild_id from invites where role_ids is not null)
and exists (
    select 1 from invites i where i.guild_id = audit_log.guild_id and i.role_ids is not null
    and replace(audit_log.changes, '"' || i.code || '"', 'null') <> audit_log.changes);
