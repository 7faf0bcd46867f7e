/* homes.c - assigns rooms to the nodes that carry them (table voice_homes). */
#include "voice/homes.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "model/configured/regions.h"
#include "model/fields/rows.h"
#include "voice/state_rows.h"
#include "voice/streams/streams.h"
#include "voice/voice.h"

/* Limits of one transaction that moves rooms: a larger one would block clients that reconnect. */
enum { ROOMS_AT_ONCE = 32, PEOPLE_AT_ONCE = 320 };

static _Atomic(const char *) relay_endpoint;

void voice_set_relay(const char *endpoint)
{
    relay_endpoint = endpoint;
}

static bool has_others(const struct call *call)
{
    const struct cluster *cluster = api_options(call->api)->cluster;

    return cluster && !cluster_is_alone(cluster);
}

/* Rooms have owner nodes in a cluster, unless voice is on an external host of the operator. */
static bool rooms_have_homes(const struct call *call)
{
    return has_others(call) && (relay_endpoint || !regions_endpoint());
}

static uint32_t own_identity(const struct call *call)
{
    return cluster_identity(api_options(call->api)->cluster);
}

/* --- nodes that carry voice ----------------------------------------------------------- */

/* A node that accepts rooms. */
struct voice_carrier {
    uint32_t identity;
    struct str endpoint; /* may contain {region} */
};

static void read_carrier(const struct rows *r, void *ret)
{
    *(struct voice_carrier *)ret = (struct voice_carrier){
        .identity = (uint32_t)row_int(r, 0),
        .endpoint = row_text(r, 1),
    };
}

static const char CARRIERS[] =
    "select identity, voice from nodes where state = 1 and voice <> '' order by node";

static enum err carriers_find(struct tx *tx, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_list(tx, CARRIERS, NO_BIND, sizeof(struct voice_carrier), read_carrier, ret);
}

/* Rendezvous hashing, so that every node computes the same distribution. NULL: no node carries
 * voice. */
static const struct voice_carrier *carrier_choose(const struct list *carriers, snowflake room_id)
{
    const struct voice_carrier *c = carriers->items, *best = NULL;
    uint64_t most = 0;

    for (size_t i = 0; i < carriers->count; i++) {
        uint64_t weight = hash_u64(room_id ^ hash_u64(c[i].identity));

        if (best && weight < most)
            continue;
        best = &c[i];
        most = weight;
    }
    return best;
}

static const struct voice_carrier *carrier_of(const struct list *carriers, uint32_t identity)
{
    const struct voice_carrier *c = carriers->items;

    for (size_t i = 0; i < carriers->count; i++)
        if (c[i].identity == identity)
            return &c[i];
    return NULL;
}

static const char OFFER[] = "update nodes set voice = $2 where identity = $1";

enum err voice_home_offer(struct call *call, struct str endpoint)
{
    return tx_exec(call->tx, OFFER, BIND(v_int(own_identity(call)), v_text(endpoint)), NULL);
}

/* --- owner nodes of rooms ------------------------------------------------------------- */

static const char FIND_HOME[] = "select identity from voice_homes where room_id = $1";
static const char PUT_HOME[] = "insert into voice_homes (room_id, identity) values ($1, $2) "
                               "on conflict (room_id) do update set identity = excluded.identity";

/* Returns the identity of the owner node; 0: none. *ret_found (may be NULL): whether there is a
 * row. */
static enum err home_find(struct tx *tx, snowflake room_id, uint32_t *ret, bool *ret_found)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND_HOME, BIND(v_id(room_id)), &r, &found);

    *ret = !e && found ? (uint32_t)row_int(&r, 0) : 0;
    if (ret_found)
        *ret_found = !e && found;
    return e;
}

static enum err home_put(struct tx *tx, snowflake room_id, const struct voice_carrier *c)
{
    return tx_exec(tx, PUT_HOME, BIND(v_id(room_id), v_int(c ? c->identity : 0)), NULL);
}

/* Assigns a new room to the node of its first session, so that its changes stay on one node. A room
 * whose node is dead is not reassigned here, because only this caller would be informed:
 * home_watch.c reassigns it and informs all participants. */
static enum err home_settle(struct call *call, snowflake room_id, struct voice_carrier *ret)
{
    struct list carriers;
    uint32_t identity;
    bool found;
    enum err e = home_find(call->tx, room_id, &identity, &found);

    *ret = (struct voice_carrier){ 0 };
    if (!e)
        e = carriers_find(call->tx, &carriers);
    if (e)
        return e;
    const struct voice_carrier *c = carrier_of(&carriers, found ? identity : own_identity(call));
    if (!found) {
        c = c ? c : carrier_choose(&carriers, room_id);
        e = home_put(call->tx, room_id, c);
    }
    if (c)
        *ret = *c;
    return e;
}

enum err voice_endpoint(struct call *call, snowflake room_id, struct str region, struct str *ret)
{
    struct voice_carrier home;

    if (!rooms_have_homes(call)) {
        struct str named = region_endpoint(call->arena, region);

        *ret = named.p ? named : str_of(relay_endpoint);
        return OK;
    }
    enum err e = home_settle(call, room_id, &home);
    *ret = home.endpoint.p ? region_fill(call->arena, home.endpoint, region) : home.endpoint;
    return e;
}

enum err voice_home_is_here(struct call *call, snowflake room_id, bool *ret)
{
    uint32_t identity = 0;
    enum err e = OK;

    *ret = !rooms_have_homes(call);
    if (!*ret) {
        e = home_find(call->tx, room_id, &identity, NULL);
        *ret = identity == own_identity(call);
    }
    return e;
}

enum err voice_home_drop(struct call *call, snowflake room_id)
{
    if (!has_others(call))
        return OK;
    return tx_exec(call->tx, "delete from voice_homes where room_id = $1", BIND(v_id(room_id)),
                   NULL);
}

static const char DROP_EMPTY[] = "delete from voice_homes where room_id = $1 and not exists "
                                 "(select 1 from voice_states where channel_id = $1)";

enum err voice_home_left(struct call *call, const struct voice_state *was)
{
    if (!has_others(call))
        return OK;
    return tx_exec(call->tx, DROP_EMPTY, BIND(v_id(voice_channel(was))), NULL);
}

/* --- rooms without a live owner ------------------------------------------------------- */

struct homeless_room {
    snowflake id;
    bool lost; /* the node is dead; otherwise it is alive and gives the room up */
    int64_t people;
};

static void read_homeless(const struct rows *r, void *ret)
{
    *(struct homeless_room *)ret = (struct homeless_room){
        .id = row_id(r, 0),
        .lost = row_null(r, 1),
        .people = row_int(r, 2),
    };
}

/* Rooms without any owner (identity 0) are listed only if there is a node that can take them. */
static const char HOMELESS[] =
    "select h.room_id, n.identity, "
    "(select count(*) from voice_states v where v.channel_id = h.room_id) from voice_homes h "
    "left join nodes n on n.identity = h.identity and n.state = 1 "
    "where (n.identity is null or n.voice = '') and (h.identity <> 0 or $1 = 1) "
    "order by h.room_id limit $2";

static enum err homeless_find(struct tx *tx, const struct list *carriers, int64_t max,
                              struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_list(tx, HOMELESS, BIND(v_int(carriers->count > 0), v_int(max)),
                   sizeof(struct homeless_room), read_homeless, ret);
}

static enum err homeless_settle(struct call *call, const struct homeless_room *room,
                                const struct list *carriers)
{
    const struct voice_carrier *c = carrier_choose(carriers, room->id);
    struct stream stream;
    bool empty = false;
    enum err e = home_put(call->tx, room->id, c);

    if (!e)
        e = stream_of_server(call->tx, room->id, &stream);
    if (!e)
        return stream_resettle(call, &stream, room->lost);
    if (e != ERR_UNKNOWN_STREAM)
        return e;
    e = voice_resettle(call, room->id, c ? c->endpoint : (struct str){ 0 }, room->lost, &empty);
    return e || !empty ? e : voice_home_drop(call, room->id);
}

enum err voice_homes_mend(struct call *call, bool *ret_more)
{
    struct list carriers, rooms = { 0 };
    int64_t people = 0;
    size_t done = 0;
    enum err e = carriers_find(call->tx, &carriers);

    if (!e)
        e = homeless_find(call->tx, &carriers, ROOMS_AT_ONCE, &rooms);
    for (; !e && done < rooms.count && people < PEOPLE_AT_ONCE; done++) {
        const struct homeless_room *room = (const struct homeless_room *)rooms.items + done;

        e = homeless_settle(call, room, &carriers);
        people += room->people;
    }
    *ret_more = rooms.count == ROOMS_AT_ONCE || done < rooms.count;
    return e;
}

enum err voice_homes_lost(struct call *call, bool *ret)
{
    struct list carriers, rooms = { 0 };
    enum err e = carriers_find(call->tx, &carriers);

    if (!e)
        e = homeless_find(call->tx, &carriers, 1, &rooms);
    *ret = rooms.count > 0;
    return e;
}
