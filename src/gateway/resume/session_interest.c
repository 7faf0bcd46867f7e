/* session_interest.c - the guilds and the account of a session that resumes. */
#include "gateway/resume/session_interest.h"

static void log_part_set_add_key(struct log_part_set *s, uint64_t key)
{
    unsigned part = log_address_get_nats_part_of_key(key);

    s->bits[part / 8] |= (unsigned char)(1 << part % 8);
}

static void add_key(struct session_interest *i, uint64_t key)
{
    log_part_set_add_key(&i->parts, key);
    map_set_value(&i->keys, key, i);
}

void session_interest_init(struct session_interest *i, snowflake user_id)
{
    *i = (struct session_interest){ 0 };
    map_init(&i->keys);
    add_key(i, log_address_key(AUDIENCE_USER, user_id));
}

void session_interest_clear(struct session_interest *i)
{
    map_clear(&i->keys);
}

void session_interest_add_guild(struct session_interest *i, snowflake guild_id)
{
    add_key(i, log_address_key(AUDIENCE_GUILD, guild_id));
}

bool session_interest_includes(const struct session_interest *i, const struct gateway_event *n)
{
    if (!event_is_unread_log_entry(n))
        return n->to.kind == AUDIENCE_SESSION ||
               map_find_value(&i->keys, log_address_key(n->to.kind, n->to.id));
    for (size_t k = 0; k < n->to.user_count; k++)
        if (map_find_value(&i->keys, n->to.user_ids[k]))
            return true;
    return false;
}

void session_interest_add_parts_of_entry(const struct session_interest *i,
                                         const struct gateway_event *n, struct log_part_set *to)
{
    for (size_t k = 0; k < n->to.user_count; k++)
        if (map_find_value(&i->keys, n->to.user_ids[k]))
            log_part_set_add_key(to, n->to.user_ids[k]);
}
