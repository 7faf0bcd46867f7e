/* guild_cache.c - caches recently read guilds, per thread.
 *
 * After a restart all clients connect at once, and all members of a guild get the same roles and
 * channels. So each thread that reads the store caches roles and channels of the guilds that it
 * read last (store/result_cache.h). */
#include "gateway/capabilities.h"
#include "gateway_source/gateway_source.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"
#include "platform/guilds/guilds.h"
#include "platform/sounds/sounds.h"
#include "platform/stickers/stickers.h"
#include "store/result_cache.h"

/* A guild with more JSON than this is cached without the JSON, because both may be too large for
 * the cache. */
enum { MAX_ENCODED_GUILD_BYTES = 64 * 1024 };

static enum err read_roles_and_channels(struct tx *tx, snowflake guild_id,
                                        struct guild_with_channels *ret)
{
    enum err e = guild_find(tx, guild_id, &ret->guild);

    if (!e)
        e = guild_read_roles(tx, &ret->guild);
    return e ? e : guild_channels_list(tx, guild_id, &ret->channels, &ret->threads);
}

static enum err read_emojis_stickers_sounds(struct tx *tx, snowflake guild_id,
                                            struct guild_with_channels *ret)
{
    enum err e = guild_emojis_list(tx, guild_id, &ret->guild.emojis);

    if (!e)
        e = guild_stickers_read(tx, guild_id, &ret->guild.stickers);
    return e ? e : guild_soundboard_sounds_read(tx, guild_id, &ret->sounds);
}

static enum err read_guild_from_store(struct tx *tx, snowflake guild_id, bool whole,
                                      struct guild_with_channels *ret)
{
    enum err e = read_roles_and_channels(tx, guild_id, ret);

    return e || !whole ? e : read_emojis_stickers_sounds(tx, guild_id, ret);
}

static enum err read_guild_into_cache(struct tx *tx, const struct result_cache_key *key,
                                      struct result_cache_entry *retained,
                                      struct guild_with_channels *ret)
{
    struct arena *arena = result_cache_get_entry_arena(retained),
                 *before = tx_replace_arena(tx, arena);
    struct guild_with_channels *parts = arena_alloc(arena, sizeof *parts);
    bool whole = key->ids[1];
    enum err e = read_guild_from_store(tx, key->ids[0], whole, parts);

    if (!e && whole && arena_used_bytes(arena) <= MAX_ENCODED_GUILD_BYTES)
        parts->encoded = encode_viewer_independent_guild_fields(arena, &parts->guild,
                                                                &parts->sounds, &parts->channels);
    tx_replace_arena(tx, before);
    if (!e)
        *ret = *parts;
    /* A guild with incident actions is cached for a short time only, because these end at a certain
     * time without a write that would invalidate the cache. */
    result_cache_end_entry_tracking_queries(retained, e ? NULL : parts,
                                            parts->guild.incidents_data);
    return e;
}

static enum err read_guild_from_cache_or_store(struct tx *tx, snowflake guild_id, bool whole,
                                               struct guild_with_channels *ret)
{
    static const char what[] = "guild";
    struct result_cache_key key = { what, { guild_id, whole } };
    const struct guild_with_channels *found = result_cache_find(tx, &key);

    if (found) {
        *ret = *found;
        return OK;
    }
    struct result_cache_entry *retained = result_cache_begin_entry_tracking_queries(tx, &key);
    if (retained)
        return read_guild_into_cache(tx, &key, retained, ret);
    ret->encoded = NULL;
    return read_guild_from_store(tx, guild_id, whole, ret);
}

enum err read_guild_with_channels(struct tx *tx, snowflake guild_id,
                                  struct guild_with_channels *ret)
{
    return read_guild_from_cache_or_store(tx, guild_id, false, ret);
}

enum err read_guild_with_all_lists(struct tx *tx, snowflake guild_id,
                                   struct guild_with_channels *ret)
{
    return read_guild_from_cache_or_store(tx, guild_id, true, ret);
}
