-- expand: servers of the version before only show these values.
-- Settings that can no longer be turned on, because nothing was ever done by them.
update guilds set explicit_content_filter = 0 where explicit_content_filter <> 0;
update applications set event_webhooks_status = 1 where event_webhooks_status <> 1;
update automod_rules set metadata = replace(metadata, '"mention_raid_protection_enabled":true',
    '"mention_raid_protection_enabled":false')
    where metadata like '%"mention_raid_protection_enabled":true%';
