/* room_owners.c - assigns voice rooms to the nodes that carry their media (table voice_homes). */
#include "voice/rooms/room_owners.h"

#include <stdatomic.h>

#include "base/hash.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "model/configured/regions.h"
#include "model/fields/rows.h"
#include "voice/state_rows.h"
#include "voice/streams/streams.h"
#include "voice/voice.h"

/* Limits of a transaction that moves rooms to another node. A larger transaction would block
 * clients that reconnect. */
enum { ROOMS_AT_ONCE = 32, PARTICIPANTS_AT_ONCE = 320 };

static _Atomic(const char *) relay_endpoint;

void voice_set_relay_endpoint(const char *endpoint)
{
    relay_endpoint = endpoint;
}

static bool has_other_nodes(const struct call *call)
{
    const struct cluster *cluster = api_get_options(call->api)->cluster;

    return cluster && !cluster_has_no_other_nodes(cluster);
}

/* Returns whether rooms have owner nodes. They do in a cluster, unless an external voice host of
 * the operator carries all rooms. */
static bool voice_rooms_have_owner_nodes(const struct call *call)
{
    return has_other_nodes(call) && (relay_endpoint || !voice_regions_get_endpoint_pattern());
}

static uint32_t identity_of_this_node(const struct call *call)
{
    return cluster_node_identity(api_get_options(call->api)->cluster);
}

/* --- nodes that carry voice ----------------------------------------------------------- */

/* A node that accepts rooms. */
struct voice_node {
    uint32_t identity;
    struct str endpoint; /* may contain {region} */
};

static void voice_node_from_row(const struct rows *r, void *ret)
{
    *(struct voice_node *)ret = (struct voice_node){
        .identity = (uint32_t)row_int(r, 0),
        .endpoint = row_text(r, 1),
    };
}

static const char LIST_VOICE_NODES[] =
    "select identity, voice from nodes where state = 1 and voice <> '' order by node";

static enum err list_voice_nodes(struct tx *tx, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, LIST_VOICE_NODES, NO_BIND, sizeof(struct voice_node),
                        voice_node_from_row, ret);
}

/* Chooses the node for a room by rendezvous hashing, so that every node computes the same result.
 * Returns NULL if no node carries voice. */
static const struct voice_node *choose_node_for_room(const struct list *carriers, snowflake room_id)
{
    const struct voice_node *c = carriers->items, *best = NULL;
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

static const struct voice_node *find_voice_node(const struct list *carriers, uint32_t identity)
{
    const struct voice_node *c = carriers->items;

    for (size_t i = 0; i < carriers->count; i++)
        if (c[i].identity == identity)
            return &c[i];
    return NULL;
}

static const char UPDATE_NODE_ENDPOINT[] = "update nodes set voice = $2 where identity = $1";

enum err node_publish_voice_endpoint(struct call *call, struct str endpoint)
{
    return tx_exec(call->tx, UPDATE_NODE_ENDPOINT,
                   BIND(v_int(identity_of_this_node(call)), v_text(endpoint)), NULL);
}

/* --- owner nodes of rooms ------------------------------------------------------------- */

static const char FIND_ROOM_OWNER[] = "select identity from voice_homes where room_id = $1";
static const char UPSERT_ROOM_OWNER[] =
    "insert into voice_homes (room_id, identity) values ($1, $2) "
    "on conflict (room_id) do update set identity = excluded.identity";

/* Returns the identity of the node that owns the room, or 0. *ret_found (if not NULL) is set to
 * whether the room has a row. */
static enum err find_node_of_voice_room(struct tx *tx, snowflake room_id, uint32_t *ret,
                                        bool *ret_found)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND_ROOM_OWNER, BIND(v_id(room_id)), &r, &found);

    *ret = !e && found ? (uint32_t)row_int(&r, 0) : 0;
    if (ret_found)
        *ret_found = !e && found;
    return e;
}

static enum err update_node_of_voice_room(struct tx *tx, snowflake room_id,
                                          const struct voice_node *c)
{
    return tx_exec(tx, UPSERT_ROOM_OWNER, BIND(v_id(room_id), v_int(c ? c->identity : 0)), NULL);
}

/* Assigns a new room to the node of its first session, so that its changes stay on one node. Does
 * not reassign the room of a dead node, because only the caller would get VOICE_SERVER_UPDATE.
 * room_owner_watch.c reassigns such rooms and sends the event to all participants. */
static enum err find_or_assign_node_of_voice_room(struct call *call, snowflake room_id,
                                                  struct voice_node *ret)
{
    struct list carriers;
    uint32_t identity;
    bool found;
    enum err e = find_node_of_voice_room(call->tx, room_id, &identity, &found);

    *ret = (struct voice_node){ 0 };
    if (!e)
        e = list_voice_nodes(call->tx, &carriers);
    if (e)
        return e;
    const struct voice_node *c =
        find_voice_node(&carriers, found ? identity : identity_of_this_node(call));
    if (!found) {
        c = c ? c : choose_node_for_room(&carriers, room_id);
        e = update_node_of_voice_room(call->tx, room_id, c);
    }
    if (c)
        *ret = *c;
    return e;
}

enum err find_voice_endpoint_of_room(struct call *call, snowflake room_id, struct str region,
                                     struct str *ret)
{
    struct voice_node owner;

    if (!voice_rooms_have_owner_nodes(call)) {
        struct str named = voice_region_get_endpoint(call->arena, region);

        *ret = named.p ? named : str_of(relay_endpoint);
        return OK;
    }
    enum err e = find_or_assign_node_of_voice_room(call, room_id, &owner);
    *ret = owner.endpoint.p
               ? voice_region_fill_endpoint_pattern(call->arena, owner.endpoint, region)
               : owner.endpoint;
    return e;
}

enum err voice_room_belongs_to_this_node(struct call *call, snowflake room_id, bool *ret)
{
    uint32_t identity = 0;
    enum err e = OK;

    *ret = !voice_rooms_have_owner_nodes(call);
    if (!*ret) {
        e = find_node_of_voice_room(call->tx, room_id, &identity, NULL);
        *ret = identity == identity_of_this_node(call);
    }
    return e;
}

enum err voice_room_node_row_delete(struct call *call, snowflake room_id)
{
    if (!has_other_nodes(call))
        return OK;
    return tx_exec(call->tx, "delete from voice_homes where room_id = $1", BIND(v_id(room_id)),
                   NULL);
}

static const char DELETE_OWNER_OF_EMPTY_ROOM[] =
    "delete from voice_homes where room_id = $1 and not exists "
    "(select 1 from voice_states where channel_id = $1)";

enum err voice_room_release_node_on_last_leave(struct call *call, const struct voice_state *was)
{
    if (!has_other_nodes(call))
        return OK;
    return tx_exec(call->tx, DELETE_OWNER_OF_EMPTY_ROOM,
                   BIND(v_id(voice_state_get_channel_id(was))), NULL);
}

/* --- rooms without a live owner ------------------------------------------------------- */

struct ownerless_room {
    snowflake id;
    bool lost; /* the owner node is dead if true; it is stopping if false */
    int64_t participants;
};

static void voice_room_without_node_from_row(const struct rows *r, void *ret)
{
    *(struct ownerless_room *)ret = (struct ownerless_room){
        .id = row_id(r, 0),
        .lost = row_column_is_null(r, 1),
        .participants = row_int(r, 2),
    };
}

/* Lists rooms without a live owner node. Rooms without any owner (identity 0) are listed only if a
 * node can carry them. */
static const char LIST_OWNERLESS_ROOMS[] =
    "select h.room_id, n.identity, "
    "(select count(*) from voice_states v where v.channel_id = h.room_id) from voice_homes h "
    "left join nodes n on n.identity = h.identity and n.state = 1 "
    "where (n.identity is null or n.voice = '') and (h.identity <> 0 or $1 = 1) "
    "order by h.room_id limit $2";

static enum err list_voice_rooms_without_live_node(struct tx *tx, const struct list *carriers,
                                                   int64_t max, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, LIST_OWNERLESS_ROOMS, BIND(v_int(carriers->count > 0), v_int(max)),
                        sizeof(struct ownerless_room), voice_room_without_node_from_row, ret);
}

static enum err assign_voice_room_to_other_node(struct call *call,
                                                const struct ownerless_room *room,
                                                const struct list *carriers)
{
    const struct voice_node *c = choose_node_for_room(carriers, room->id);
    struct stream stream;
    bool empty = false;
    enum err e = update_node_of_voice_room(call->tx, room->id, c);

    if (!e)
        e = stream_find_by_rtc_server(call->tx, room->id, &stream);
    if (!e)
        return stream_move_to_node(call, &stream, room->lost);
    if (e != ERR_UNKNOWN_STREAM)
        return e;
    e = voice_room_move_to_node(call, room->id, c ? c->endpoint : (struct str){ 0 }, room->lost,
                                &empty);
    return e || !empty ? e : voice_room_node_row_delete(call, room->id);
}

enum err assign_voice_rooms_of_dead_nodes(struct call *call, bool *ret_more)
{
    struct list carriers, rooms = { 0 };
    int64_t participants = 0;
    size_t done = 0;
    enum err e = list_voice_nodes(call->tx, &carriers);

    if (!e)
        e = list_voice_rooms_without_live_node(call->tx, &carriers, ROOMS_AT_ONCE, &rooms);
    for (; !e && done < rooms.count && participants < PARTICIPANTS_AT_ONCE; done++) {
        const struct ownerless_room *room = (const struct ownerless_room *)rooms.items + done;

        e = assign_voice_room_to_other_node(call, room, &carriers);
        participants += room->participants;
    }
    *ret_more = rooms.count == ROOMS_AT_ONCE || done < rooms.count;
    return e;
}

enum err read_whether_voice_rooms_lack_live_nodes(struct call *call, bool *ret)
{
    struct list carriers, rooms = { 0 };
    enum err e = list_voice_nodes(call->tx, &carriers);

    if (!e)
        e = list_voice_rooms_without_live_node(call->tx, &carriers, 1, &rooms);
    *ret = rooms.count > 0;
    return e;
}
