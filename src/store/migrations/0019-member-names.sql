-- What a member is found by: each name in small letters. The engine keeps it right with
-- members; a change of an account's own names is carried on by the program, in steps.
-- owner: platform/members
-- world: no, because it is made from the members
-- export: no, because it is made from the members
create table member_names (
    guild_id bigint not null,
    user_id bigint not null,
    kind bigint not null, -- 0: username, 1: global name, 2: nick
    name text not null,
    primary key (guild_id, user_id, kind),
    foreign key (guild_id, user_id) references members (guild_id, user_id) on delete cascade
) {clustered};

insert into member_names (guild_id, user_id, kind, name)
    select m.guild_id, m.user_id, 0, lower(u.username) from members m join users u on u.id = m.user_id;
insert into member_names (guild_id, user_id, kind, name)
    select m.guild_id, m.user_id, 1, lower(u.global_name) from members m join users u on u.id = m.user_id
    where u.global_name is not null;
insert into member_names (guild_id, user_id, kind, name)
    select guild_id, user_id, 2, lower(nick) from members where nick is not null;

-- postgres:
-- Beginnings are found by comparing bytes.
alter table member_names alter column name type text collate "C";
-- both:
create index member_names_by_name on member_names (guild_id, name, user_id);
create index members_by_join on members (guild_id, joined_at, user_id);

-- sqlite:
create trigger member_named after insert on members begin
    insert into member_names (guild_id, user_id, kind, name)
        select new.guild_id, new.user_id, 0, lower(username) from users where id = new.user_id;
    insert into member_names (guild_id, user_id, kind, name)
        select new.guild_id, new.user_id, 1, lower(global_name) from users
        where id = new.user_id and global_name is not null;
    insert into member_names (guild_id, user_id, kind, name)
        select new.guild_id, new.user_id, 2, lower(new.nick) where new.nick is not null;
end;
create trigger member_renamed after update of nick on members when new.nick is not old.nick begin
    delete from member_names where guild_id = new.guild_id and user_id = new.user_id and kind = 2;
    insert into member_names (guild_id, user_id, kind, name)
        select new.guild_id, new.user_id, 2, lower(new.nick) where new.nick is not null;
end;
-- postgres:
create function member_named() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into member_names (guild_id, user_id, kind, name)
            select new.guild_id, new.user_id, 0, lower(username) from users where id = new.user_id;
        insert into member_names (guild_id, user_id, kind, name)
            select new.guild_id, new.user_id, 1, lower(global_name) from users
            where id = new.user_id and global_name is not null;
    elsif new.nick is not distinct from old.nick then
        return null;
    end if;
    delete from member_names where guild_id = new.guild_id and user_id = new.user_id and kind = 2;
    if new.nick is not null then
        insert into member_names (guild_id, user_id, kind, name)
            values (new.guild_id, new.user_id, 2, lower(new.nick));
    end if;
    return null;
end $$;
create trigger member_named after insert or update of nick on members
    for each row execute function member_named();
