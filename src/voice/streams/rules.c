/* rules.c - parses and writes stream keys. */
#include "voice/streams/rules.h"

#include <inttypes.h>

static bool parse_stream_key_id(struct str text, snowflake *ret)
{
    uint64_t id;

    if (!text.n || text.p[0] == '0' || !str_to_u64(text, &id) || id > INT64_MAX)
        return false;
    *ret = id;
    return true;
}

bool stream_key_parse(struct str text, struct stream_key *ret)
{
    struct stream_key key = { 0 };
    size_t colons = 0;

    for (size_t i = 0; i < text.n; i++)
        colons += text.p[i] == ':';
    struct str kind = str_cut(&text, ':');
    bool guild = str_is(kind, "guild");
    if ((!guild && !str_is(kind, "call")) || colons != (guild ? 3 : 2))
        return false;
    if (guild && !parse_stream_key_id(str_cut(&text, ':'), &key.guild_id))
        return false;
    if (!parse_stream_key_id(str_cut(&text, ':'), &key.channel_id) ||
        !parse_stream_key_id(text, &key.owner_id))
        return false;
    *ret = key;
    return true;
}

struct str stream_key_format(struct arena *a, const struct stream_key *k)
{
    if (k->guild_id)
        return str_printf(a, "guild:%" PRIu64 ":%" PRIu64 ":%" PRIu64, k->guild_id, k->channel_id,
                          k->owner_id);
    return str_printf(a, "call:%" PRIu64 ":%" PRIu64, k->channel_id, k->owner_id);
}
