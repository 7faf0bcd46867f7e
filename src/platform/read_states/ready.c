/* ready.c - the READY field "read_state". */
#include "platform/read_states/internal.h"

#include "base/map.h"
#include "model/fields/types.h"
#include "platform/channels/deletion.h"

/* Number of unread mentions of a channel. */
struct channel_mentions {
    snowflake channel_id;
    int64_t count;
    bool shown;
};

/* SQL that counts unread messages per channel for READY. In private channels, every message of
 * another user counts. In guilds, only mentions of the account count, and only those since it
 * joined. */
static const char UNREAD_PRIVATE[] =
    "select r.channel_id, (select count(*) from (select m.id from messages m where "
    "m.channel_id = r.channel_id and m.id > coalesce((select s.last_id from read_states s where "
    "s.user_id = $1 and s.kind = 0 and s.entity_id = r.channel_id), 0) and m.author_id <> $1 and "
    "m.ephemeral_for is null and m.type <> 2 limit $2) x) "
    "from recipients r where r.user_id = $1 and r.closed = 0";
static const char UNREAD_GROUP_MENTIONS[] =
    "select n.channel_id, count(distinct n.message_id) from members me join mention_notes n on "
    "n.guild_id = me.guild_id and n.kind < 2 left join read_states s on s.user_id = me.user_id and "
    "s.kind = 0 and s.entity_id = n.channel_id left join user_guild_settings g on "
    "g.user_id = me.user_id and g.guild_id = me.guild_id where me.user_id = $1 and "
    "n.message_id > coalesce(s.last_id, 0) and "
    "(case when n.kind = 0 then coalesce(g.suppress_everyone, 0) "
    "else coalesce(g.suppress_roles, 0) end) = 0 and "
    "n.message_id > (me.joined_at / 1000 - 1420070400000) * 4194304 and (n.kind = 0 or exists "
    "(select 1 from member_roles r where r.guild_id = n.guild_id and r.user_id = $1 and "
    "r.role_id = n.target_id)) group by n.channel_id having not" CHANNEL_BEING_DELETED(
        "n.channel_id");
static const char UNREAD_USER_MENTIONS[] =
    "select n.channel_id, count(*) from mention_notes n left join read_states s on "
    "s.user_id = $1 and s.kind = 0 and s.entity_id = n.channel_id where n.kind = 2 and "
    "n.target_id = $1 and n.guild_id <> 0 and n.message_id > coalesce(s.last_id, 0) and not exists "
    "(select 1 from mention_notes o where o.channel_id = n.channel_id and "
    "o.message_id = n.message_id and o.kind = 0) group by n.channel_id "
    "having not" CHANNEL_BEING_DELETED("n.channel_id");

static enum err add_unread_mention_counts(struct tx *tx, struct sql sql, const struct value *values,
                                          size_t count, struct map *map)
{
    struct rows rows;
    enum err e = tx_query(tx, sql, values, count, &rows);

    if (e)
        return e;
    while (rows_next(&rows)) {
        struct channel_mentions *c = map_find_value(map, row_id(&rows, 0));

        if (!row_int(&rows, 1))
            continue;
        if (!c) {
            c = arena_alloc(tx_arena(tx), sizeof *c);
            c->channel_id = row_id(&rows, 0);
            map_set_value(map, c->channel_id, c);
        }
        c->count += row_int(&rows, 1);
    }
    return rows_end(&rows);
}

static enum err read_unread_mention_counts(struct tx *tx, snowflake user_id, struct map *map)
{
    enum err e = add_unread_mention_counts(tx, SQL(UNREAD_PRIVATE),
                                           BIND(v_id(user_id), v_int(MAX_MENTIONS)), map);

    if (!e)
        e = add_unread_mention_counts(tx, SQL(UNREAD_GROUP_MENTIONS), BIND(v_id(user_id)), map);
    if (!e)
        e = add_unread_mention_counts(tx, SQL(UNREAD_USER_MENTIONS), BIND(v_id(user_id)), map);
    return e;
}

/* --- writing -------------------------------------------------------------------------- */

static void write_optional_number_json(struct json_writer *out, const char *name,
                                       const struct opt_int *v)
{
    if (v->given != GIVEN)
        return;
    json_write_key(out, str_of(name));
    json_write_int(out, v->value);
}

static void write_read_state_json(struct json_writer *out, const struct read_state *s,
                                  int64_t mentions)
{
    bool channel = s->kind == READ_CHANNEL;

    json_begin_object(out);
    json_write_name(out, "id");
    json_write_id(out, s->id);
    if (!channel) {
        json_write_name(out, "read_state_type");
        json_write_int(out, s->kind);
    }
    json_write_key(out, channel ? STR("last_message_id") : STR("last_acked_id"));
    json_write_id(out, s->last_id);
    json_write_key(out, channel ? STR("mention_count") : STR("badge_count"));
    json_write_int(out, s->mentions + mentions);
    if (s->pins_at.given == GIVEN) {
        json_write_name(out, "last_pin_timestamp");
        json_write_time(out, s->pins_at.value);
    }
    write_optional_number_json(out, "flags", &s->flags);
    write_optional_number_json(out, "last_viewed", &s->last_viewed);
    json_end_object(out);
}

static void write_read_states_json(const struct list *states, bool others, struct map *unread,
                                   struct json_writer *out)
{
    const struct read_state *s = states->items;
    struct channel_mentions *c;
    size_t at = 0;

    json_begin_array(out);
    for (size_t i = 0; i < states->count; i++) {
        c = s[i].kind == READ_CHANNEL ? map_find_value(unread, s[i].id) : NULL;
        if (c)
            c->shown = true;
        if (s[i].kind == READ_CHANNEL || others)
            write_read_state_json(out, &s[i], c ? c->count : 0);
    }
    while ((c = map_next_value(unread, &at)))
        if (!c->shown)
            write_read_state_json(out, &(struct read_state){ .id = c->channel_id }, c->count);
    json_end_array(out);
}

enum err write_ready_read_states(struct tx *tx, snowflake user_id, bool entries, bool others,
                                 struct json_writer *out)
{
    struct list states;
    struct map unread;
    int64_t version = 0;

    map_init(&unread);
    enum err e = read_states_list_of_account(tx, user_id, &states);
    if (!e)
        e = read_unread_mention_counts(tx, user_id, &unread);
    if (!e && entries)
        e = read_state_read_version(tx, user_id, &version);
    if (!e) {
        json_write_name(out, "read_state");
        if (entries) {
            json_begin_object(out);
            json_write_name(out, "entries");
        }
        write_read_states_json(&states, others, &unread, out);
        if (entries) {
            json_write_name(out, "partial");
            json_write_bool(out, false);
            json_write_name(out, "version");
            json_write_int(out, version);
            json_end_object(out);
        }
    }
    map_clear(&unread);
    return e;
}
