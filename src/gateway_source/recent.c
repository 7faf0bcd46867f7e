/* recent.c - what was just read of a guild, for whoever looks at it next.
 *
 * After a restart everybody connects at once, and all members of a guild are told of
 * the same roles and channels. Each thread keeps those of the last guilds that it read, as
 * long as nothing at all was written since. What is outdated goes with the reads that follow, a few
 * for each. */
#include <pthread.h>

#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway_source/gateway_source.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"
#include "platform/guilds/guilds.h"
#include "platform/sounds/sounds.h"
#include "platform/stickers/stickers.h"

/* Where a guild lies follows from its id, so that who is in a hundred finds all of them again. */
enum { SETS = 64, PLACES = 4, KEPT = SETS * PLACES, LARGEST = 256 * 1024, MOST = 8 * 1024 * 1024 };
enum { LOOKED_THROUGH = 8 }; /* places that a read looks through for what is outdated */
/* A guild with more is not written out as well: it might be too large to be kept then. */
enum { LARGEST_WRITTEN = LARGEST / 4 };

struct recent {
    snowflake guild_id;
    uint64_t version;
    struct arena *arena;
    size_t size; /* counted in .bytes of all */
    bool whole;
    struct guild_parts *parts; /* in the arena */
};

struct recents {
    struct recent all[KEPT];
    unsigned char next[SETS]; /* whose place is taken */
    unsigned sweep;           /* and where there is not enough room for all */
    unsigned looked;          /* where outdated ones are looked for next */
    size_t bytes;
    struct recent *passing; /* what was read last and is not kept: it holds until the next such */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t of_thread;

static void recents_free(void *arg)
{
    struct recents *r = arg;

    for (size_t i = 0; i < KEPT; i++)
        arena_free(r->all[i].arena);
    mem_free(r);
}

static void make_key(void)
{
    pthread_key_create(&of_thread, recents_free);
}

static struct recents *recents_here(void)
{
    pthread_once(&once, make_key);
    struct recents *r = pthread_getspecific(of_thread);
    if (!r) {
        r = mem_new(sizeof *r);
        pthread_setspecific(of_thread, r);
    }
    return r;
}

static struct recent *recent_find(struct recents *here, snowflake guild_id)
{
    unsigned set = (unsigned)((guild_id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % SETS;
    struct recent *places = &here->all[set * PLACES];

    for (size_t i = 0; i < PLACES; i++)
        if (places[i].guild_id == guild_id)
            return &places[i];
    return &places[here->next[set]++ % PLACES];
}

static void recent_drop(struct recents *here, struct recent *r)
{
    here->bytes -= r->size;
    arena_free(r->arena);
    *r = (struct recent){ 0 };
}

/* For what is to be read now. */
static void recent_empty(struct recents *here, struct recent *r)
{
    r->guild_id = 0;
    here->bytes -= r->size;
    r->size = 0;
    if (r->arena && arena_used(r->arena) <= LARGEST) {
        arena_reset(r->arena);
    } else {
        arena_free(r->arena);
        r->arena = arena_new_small();
    }
    r->parts = arena_alloc(r->arena, sizeof *r->parts);
}

/* It is not counted in .bytes, so there is one of them. */
static void recent_pass(struct recents *here, struct recent *r)
{
    if (here->passing && here->passing != r && !here->passing->guild_id)
        recent_drop(here, here->passing);
    here->passing = r;
    r->guild_id = 0;
    here->bytes -= r->size;
    r->size = 0;
}

static void recent_keep(struct recents *here, struct recent *r, snowflake guild_id,
                        uint64_t version)
{
    size_t size = arena_used(r->arena);

    if (size > LARGEST || r->parts->guild.incidents_data) {
        recent_pass(here, r); /* those are over at some time, whether or not anything is written */
        return;
    }
    r->guild_id = 0;
    while (here->bytes - r->size + size > MOST) {
        struct recent *other = &here->all[here->sweep++ % KEPT];

        if (other != r)
            recent_drop(here, other);
    }
    r->guild_id = guild_id;
    r->version = version;
    here->bytes += size - r->size;
    r->size = size;
}

/* Nobody holds anything of those: whoever reads has one version from beginning to end. */
static void recents_forget(struct recents *here, uint64_t version)
{
    for (int i = 0; i < LOOKED_THROUGH; i++) {
        struct recent *r = &here->all[here->looked++ % KEPT];

        if (r->guild_id && r->version != version)
            recent_drop(here, r);
    }
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

/* The guild's place; it is not kept there before recent_keep. */
static enum err recent_read(struct tx *tx, struct recents *here, struct recent *r,
                            snowflake guild_id, uint64_t version, bool whole)
{
    bool has_parts = r->guild_id == guild_id && r->version == version;
    enum err e = OK;

    if (has_parts && (r->whole || !whole))
        return OK;
    if (!has_parts)
        recent_empty(here, r);
    struct arena *before = tx_use_arena(tx, r->arena);
    if (!has_parts)
        e = read_parts(tx, guild_id, r->parts);
    if (!e && whole)
        e = read_rest(tx, guild_id, r->parts);
    if (!e && whole && arena_used(r->arena) <= LARGEST_WRITTEN)
        r->parts->written =
            guild_write(r->arena, &r->parts->guild, &r->parts->sounds, &r->parts->channels);
    tx_use_arena(tx, before);
    if (e) {
        recent_pass(here, r);
        return e;
    }
    r->whole = whole;
    recent_keep(here, r, guild_id, version);
    return OK;
}

static enum err parts_of(struct tx *tx, snowflake guild_id, bool whole, struct guild_parts *ret)
{
    uint64_t version = tx_version(tx);

    if (!version) {
        ret->written = NULL;
        enum err e = read_parts(tx, guild_id, ret);

        return e || !whole ? e : read_rest(tx, guild_id, ret);
    }
    struct recents *here = recents_here();
    recents_forget(here, version);
    struct recent *r = recent_find(here, guild_id);
    enum err e = recent_read(tx, here, r, guild_id, version, whole);
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
