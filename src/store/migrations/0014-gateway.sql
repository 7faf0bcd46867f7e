-- A guild's roles come in this order whenever somebody connects.
create index roles_in_order on roles (guild_id, position, id desc);
drop index roles_by_guild;
