-- What somebody put under the messages of a page is found by one look for each message.
alter table reaction_users add column message_id bigint not null default 0;

update reaction_users set message_id =
    coalesce((select r.message_id from reactions r where r.id = reaction_users.reaction_id), 0);

create index reaction_users_by_message on reaction_users (message_id, user_id);
