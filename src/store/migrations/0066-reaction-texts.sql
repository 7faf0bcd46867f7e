-- What is shown of a message's reactions is a text in its own row: src/model/reaction_text.h.
alter table messages add column reactions text;

delete from reactions where message_id <> 0 and not exists
    (select 1 from reaction_users u where u.reaction_id = reactions.id);

-- sqlite:
update messages set reactions = '0000000000000000' || char(10) || (select group_concat(line, '') from (
    select printf('%016x0', r.id) || sum(c.normal) || ',' || sum(c.burst) || ',,' || r.emoji_key ||
        char(9) || '{"id":' || coalesce('"' || r.emoji_id || '"', 'null') || ',"name":' ||
        json_quote(r.name) || case r.animated when 0 then '' else ',"animated":true' end || '}' ||
        char(10) as line
    from reactions r join reaction_counts c on c.reaction_id = r.id
    where r.message_id = messages.id group by r.id order by r.id))
where id in (select message_id from reactions);
-- postgres:
update messages set reactions = '0000000000000000' || chr(10) || (select string_agg(line, '' order by id) from (
    select r.id, lpad(to_hex(r.id), 16, '0') || '0' || sum(c.normal) || ',' || sum(c.burst) || ',,' ||
        r.emoji_key || chr(9) || '{"id":' || coalesce('"' || r.emoji_id || '"', 'null') ||
        ',"name":' || to_json(r.name) || case r.animated when 0 then '' else ',"animated":true' end ||
        '}' || chr(10) as line
    from reactions r join reaction_counts c on c.reaction_id = r.id
    where r.message_id = messages.id group by r.id) lines)
where id in (select message_id from reactions);
-- both:

-- Where many write at once: what each lane has counted beside that text. messages.reacted is 2
-- where there may be some.
-- owner: platform/reactions
-- world: no, because it is made from the reactions
create table reaction_lanes (
    message_id bigint not null,
    lane bigint not null,
    counts text not null,
    primary key (message_id, lane)
) {clustered};

-- What somebody put under the messages of a page is found by one look for all of them.
alter table reaction_users add column channel_id bigint not null default 0;

update reaction_users set channel_id =
    coalesce((select m.channel_id from messages m where m.id = reaction_users.message_id), 0);

drop index reaction_users_by_message;

create index reaction_users_by_channel on reaction_users (user_id, channel_id, message_id);

drop table reaction_counts;
