/* recent.c - the parts of guilds that were read last, for the next reader.
 *
 * After a restart everybody connects at once, and all members of a guild are sent the same roles
 * and channels. Each thread caches those of the last guilds that it read, as long as nothing at
 * all was written since. */
#include "base/cache.h"
#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway_source/gateway_source.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"
#include "platform/guilds/guilds.h"
#include "platform/sounds/sounds.h"
#include "platform/stickers/stickers.h"

/* A larger guild is not cached. If its parts are larger than a quarter of that, it is not also
 * cached as text, with which it might become too large. */
enum { LARGEST = 256 * 1024, LARGEST_WRITTEN = LARGEST / 4 };

struct recent {
    struct cache_entry entry;
    snowflake guild_id;
    uint64_t version;
    bool whole;
    struct arena *arena;
    struct guild_parts *parts; /* in the arena */
};

static bool recent_is(const struct cache_entry *e, const void *version)
{
    return ((const struct recent *)e)->version == *(const uint64_t *)version;
}

static void recent_free(struct cache_entry *e)
{
    arena_free(((struct recent *)e)->arena);
    mem_free(e);
}

/* An outdated entry is replaced by the next read of its guild; idle ones return their memory. */
static struct cache_kind recents = {
    .name = "guilds",
    .entries = 256,
    .bytes = 8 * 1024 * 1024,
    .idle_ms = 60 * 1000,
    .is = recent_is,
    .free = recent_free,
};
/* The guild that was read last and is not cached: its parts are valid until the next such read. */
static struct cache_kind passing = { .entries = 1, .free = recent_free };

static struct recent *recent_new(snowflake guild_id, uint64_t version)
{
    struct recent *r = mem_new(sizeof *r);

    r->guild_id = guild_id;
    r->version = version;
    r->arena = arena_new_small();
    r->parts = arena_alloc(r->arena, sizeof *r->parts);
    return r;
}

static void recent_keep(struct recent *r, bool failed)
{
    size_t size = arena_used(r->arena);
    /* Incidents end at some time, whether or not anything is written. */
    bool passes = failed || size > LARGEST || r->parts->guild.incidents_data;

    cache_put(cache_of_thread(passes ? &passing : &recents), r->guild_id, sizeof *r + size,
              &r->entry);
}

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

/* Reads what the entry lacks; it is in no cache meanwhile. */
static enum err recent_read(struct tx *tx, struct recent *r, bool has_parts, bool whole)
{
    struct arena *before = tx_use_arena(tx, r->arena);
    enum err e = has_parts ? OK : read_parts(tx, r->guild_id, r->parts);

    if (!e && whole)
        e = read_rest(tx, r->guild_id, r->parts);
    if (!e && whole && arena_used(r->arena) <= LARGEST_WRITTEN)
        r->parts->written =
            guild_write(r->arena, &r->parts->guild, &r->parts->sounds, &r->parts->channels);
    tx_use_arena(tx, before);
    r->whole = whole;
    recent_keep(r, e != OK);
    return e;
}

static enum err parts_of(struct tx *tx, snowflake guild_id, bool whole, struct guild_parts *ret)
{
    uint64_t version = tx_version(tx);

    if (!version) {
        ret->written = NULL;
        enum err e = read_parts(tx, guild_id, ret);

        return e || !whole ? e : read_rest(tx, guild_id, ret);
    }
    struct cache *cache = cache_of_thread(&recents);
    struct recent *r = cache_find(cache, guild_id, &version);
    bool has_parts = r != NULL;
    enum err e = OK;
    if (has_parts && whole && !r->whole)
        cache_take(cache, &r->entry);
    if (!has_parts)
        r = recent_new(guild_id, version);
    if (!has_parts || (whole && !r->whole))
        e = recent_read(tx, r, has_parts, whole);
    if (!e)
        *ret = *r->parts;
    return e;
}

enum err guild_parts(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    return parts_of(tx, guild_id, false, ret);
}

enum err guild_whole(struct tx *tx, snowflake guild_id, struct guild_parts *ret)
{
    return parts_of(tx, guild_id, true, ret);
}
