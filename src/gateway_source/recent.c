/* recent.c - caches the guilds that were read last, per thread.
 *
 * After a restart all clients connect at once, and all members of a guild get the same roles and
 * channels. Each thread caches those of the last guilds that it read (store/kept.h). */
#include "gateway/capabilities.h"
#include "gateway_source/gateway_source.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"
#include "platform/guilds/guilds.h"
#include "platform/sounds/sounds.h"
#include "platform/stickers/stickers.h"
#include "store/kept.h"

/* A larger guild is not also cached as JSON: both together might be too large for the cache. */
enum { LARGEST_WRITTEN = 64 * 1024 };

static enum err read_parts(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    enum err e = guild_find(tx, guild_id, &ret->guild);

    if (!e)
        e = guild_load_roles(tx, &ret->guild);
    return e ? e : guild_channels(tx, guild_id, &ret->channels, &ret->threads);
}

static enum err read_rest(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    enum err e = guild_emojis(tx, guild_id, &ret->guild.emojis);

    if (!e)
        e = guild_stickers(tx, guild_id, &ret->guild.stickers);
    return e ? e : guild_sounds(tx, guild_id, &ret->sounds);
}

static enum err read_guild(struct tx *tx, snowflake guild_id, bool whole, struct guild_parts *ret)
{
    enum err e = read_parts(tx, guild_id, ret);

    return e || !whole ? e : read_rest(tx, guild_id, ret);
}

static enum err read_cached(struct tx *tx, const struct kept_key *key, struct kept_read *kept,
                            struct guild_parts *ret)
{
    struct arena *arena = kept_arena(kept), *before = tx_use_arena(tx, arena);
    struct guild_parts *parts = arena_alloc(arena, sizeof *parts);
    bool whole = key->of[1];
    enum err e = read_guild(tx, key->of[0], whole, parts);

    if (!e && whole && arena_used(arena) <= LARGEST_WRITTEN)
        parts->written = guild_write(arena, &parts->guild, &parts->sounds, &parts->channels);
    tx_use_arena(tx, before);
    if (!e)
        *ret = *parts;
    /* Incidents end by time, without a write, so such a guild is not cached for long. */
    kept_end_reading(kept, e ? NULL : parts, parts->guild.incidents_data);
    return e;
}

static enum err parts_of(struct tx *tx, snowflake guild_id, bool whole, struct guild_parts *ret)
{
    static const char what[] = "guild";
    struct kept_key key = { what, { guild_id, whole } };
    const struct guild_parts *found = kept_find(tx, &key);

    if (found) {
        *ret = *found;
        return OK;
    }
    struct kept_read *kept = kept_begin_reading(tx, &key);
    if (kept)
        return read_cached(tx, &key, kept, ret);
    ret->written = NULL;
    return read_guild(tx, guild_id, whole, ret);
}

enum err guild_parts(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    return parts_of(tx, guild_id, false, ret);
}

enum err guild_whole(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    return parts_of(tx, guild_id, true, ret);
}
