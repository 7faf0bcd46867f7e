-- Following a channel: a webhook of type 2 that copies of its messages come through.
alter table webhooks add column source_channel_id bigint;
alter table webhooks add column source_guild_id bigint;

create index webhooks_by_source on webhooks (source_channel_id, id)
    where source_channel_id is not null;

-- Copies of messages that were published.
-- owner: platform/announcement_channels
-- deletion: channel_id: they go with their message
-- world: no, because followed channels stay behind
create table crossposts (
    source_id bigint not null,
    message_id bigint not null,
    channel_id bigint not null,
    primary key (source_id, message_id)
) {clustered};

create index crossposts_by_message on crossposts (message_id);
