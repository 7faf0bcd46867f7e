/* features.c - features of a guild that come and go with what other folders keep. */
#include "platform/guilds/internal.h"

/* The list is kept as JSON text of plain names. */
static struct str features_with(struct arena *arena, struct str old, const char *feature, bool on)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, 64 * 1024);
    json_array(&j);
    for (str_cut(&old, '"'); old.n; str_cut(&old, '"')) {
        struct str name = str_cut(&old, '"');

        if (!str_is(name, feature))
            json_text(&j, name);
    }
    if (on)
        json_text(&j, str_of(feature));
    json_array_end(&j);
    return buf_take(&out, arena);
}

enum err guild_tell(struct call *call, snowflake id)
{
    struct guild g;
    enum err e = guild_find(call->tx, id, &g);

    if (!e)
        e = guild_show(call, &g);
    if (!e)
        call_emit(call, EVENT_GUILD_UPDATE, to_guild(id), &guild_schema, &g);
    return e;
}

enum err guild_turn_feature(struct call *call, snowflake id, const char *feature, bool on)
{
    struct guild g;
    enum err e = guild_find(call->tx, id, &g);

    if (!e)
        g.features = features_with(call->arena, g.features, feature, on);
    if (!e)
        e = guild_update(call->tx, &g);
    return e ? e : guild_tell(call, id);
}
