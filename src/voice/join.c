/* join.c - op 4: joins, moves, leaves, or changes mute, deafen and video of a voice state. */
#include "voice/internal.h"

#include "base/clock.h"
#include "model/permissions/permissions.h"
#include "model/configured/regions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "voice/calls/calls.h"
#include "voice/rooms.h"
#include "voice/rules.h"

enum { MAYBE = OPTIONAL | NULLABLE };

static const struct type region_ids = { .kind = KIND_ARRAY, .of = &type_text };
static const struct field request_fields[] = {
    { FIELD(struct voice_request, guild_id), .type = &type_id, .flags = MAYBE },
    { FIELD(struct voice_request, channel_id), .type = &type_id, .flags = MAYBE },
    { FIELD(struct voice_request, self_mute), .type = &type_bool, .flags = MAYBE },
    { FIELD(struct voice_request, self_deaf), .type = &type_bool, .flags = MAYBE },
    { FIELD(struct voice_request, self_video), .type = &type_bool, .flags = MAYBE },
    { FIELD(struct voice_request, preferred_region), .type = &type_text, .flags = MAYBE },
    { FIELD(struct voice_request, preferred_regions), .type = &region_ids, .flags = MAYBE },
    { FIELD(struct voice_request, flags), .type = &type_int, .flags = MAYBE },
    { 0 },
};
static const struct schema request_schema = { .size = sizeof(struct voice_request),
                                              .fields = request_fields };
const struct type type_voice_request = { .kind = KIND_OBJECT, .schema = &request_schema };

void aim_voice_state(struct session_order *o)
{
    const struct voice_request *in = o->d;

    o->place = order_is_bot(o) ? in->guild_id.value : 0;
    o->target = in->channel_id.value;
}

/* The requested channel, with the data that a join needs. */
struct voice_entrance {
    struct channel channel;
    snowflake guild_id; /* 0: a private call */
    snowflake afk_channel_id;
    int64_t max_cameras; /* 0: unlimited */
    bool vip;
    uint64_t rights;
    struct member *member; /* NULL: a private call */
};

/* --- the requested channel ------------------------------------------------------------ */

static bool is_unknown(enum err e)
{
    return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_GUILD || e == ERR_MISSING_ACCESS;
}

static enum err enter_guild(struct call *call, const struct session_order *o,
                            struct voice_entrance *in, bool *ret_open)
{
    struct standing standing;
    struct guild guild;
    enum err e = standing_find(call->tx, in->guild_id, o->caller.id, &standing);

    if (!e)
        e = guild_find(call->tx, in->guild_id, &guild);
    if (!e)
        e = standing_rights_in(call->tx, &standing, &in->channel, &in->rights);
    if (e)
        return e;
    in->member = standing.member;
    in->afk_channel_id = guild.afk_channel_id.value;
    in->max_cameras = voice_max_cameras(&in->channel, &guild);
    in->vip = guild_is_vip(&guild);
    const uint64_t needed = PERMISSION(VIEW_CHANNEL) | PERMISSION(CONNECT);
    *ret_open = (in->rights & needed) == needed;
    return OK;
}

/* Only recipients may join a private call; bots may not. */
static enum err enter_private(struct call *call, const struct session_order *o,
                              struct voice_entrance *in, bool *ret_open)
{
    enum err e;

    in->rights = PERMISSIONS_ALL;
    *ret_open =
        channel_is_recipient(call->tx, in->channel.id, o->caller.id, &e) && !order_is_bot(o);
    return e;
}

/* Finds the requested channel; *ret_open is false if the caller may not enter it. */
static enum err join_enter(struct call *call, const struct session_order *o,
                           struct voice_entrance *in, bool *ret_open)
{
    const struct voice_request *request = o->d;
    enum err e = channel_find(call->tx, o->target, &in->channel);

    *ret_open = false;
    if (e)
        return is_unknown(e) ? OK : e;
    in->guild_id = channel_is_private(in->channel.type) ? 0 : in->channel.guild_id.value;
    if (in->guild_id != request->guild_id.value)
        return OK;
    if (!in->guild_id)
        return enter_private(call, o, in, ret_open);
    if (!channel_is_voice(in->channel.type))
        return OK;
    e = enter_guild(call, o, in, ret_open);
    return is_unknown(e) ? OK : e;
}

/* Returns whether the channel is full. A call of two is also full if one has blocked the other. */
static enum err look_for_room(struct call *call, const struct session_order *o,
                              const struct voice_entrance *in, bool *ret_full)
{
    int64_t limit = in->channel.user_limit.value;

    *ret_full = false;
    if (!in->guild_id)
        return channel_is_barred(call->tx, &in->channel, o->caller.id, ret_full);
    if (limit <= 0 || in->rights & PERMISSION(MOVE_MEMBERS))
        limit = VOICE_ROOM;
    return voice_holds(call->tx, in->channel.id, limit, ret_full);
}

/* Finds the account's present state: a user's in any guild or call, a bot's in the requested
 * guild. */
static enum err find_present(struct call *call, const struct session_order *o,
                             struct voice_state *ret, bool *ret_present)
{
    const struct voice_request *in = o->d;
    enum err e = order_is_bot(o) ? voice_find(call->tx, in->guild_id.value, o->caller.id, ret)
                                 : voice_of_user(call->tx, o->caller.id, ret);

    *ret_present = !e;
    return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
}

static void join_compare(const struct session_order *o, const struct voice_entrance *in,
                         const struct voice_state *was, struct voice_facts *f)
{
    const struct voice_request *request = o->d;

    if (!f->present)
        return;
    f->own = str_eq(was->session_id, o->session_id);
    f->here = was->node == snowflake_node();
    f->live = was->live;
    f->same_channel = voice_channel(was) == o->target;
    f->same_place = in->guild_id ? voice_guild(was) == in->guild_id : f->same_channel;
    /* Leaving with a guild_id applies to that guild only; without one, to any guild or call. */
    if (f->leaves && request->guild_id.given == GIVEN)
        f->present = voice_guild(was) == request->guild_id.value;
}

/* Returns the first usable region that the client prefers, else the one nearest to its address. */
static struct str join_preferred(const struct session_order *o, bool vip)
{
    const struct voice_request *in = o->d;
    const struct str *more = in->preferred_regions.value.items;

    if (in->preferred_region.given == GIVEN && region_usable(in->preferred_region.value, vip))
        return in->preferred_region.value;
    for (size_t i = 0; i < in->preferred_regions.value.count; i++)
        if (region_usable(more[i], vip))
            return more[i];
    return region_optimal(o->address, vip);
}

/* Resets the fields that belonged to the previous channel. */
static enum err join_arrive(struct call *call, const struct session_order *o,
                            const struct voice_entrance *in, struct voice_state *s)
{
    s->guild_id = given_id(in->guild_id);
    s->channel_id = given_id(in->channel.id);
    s->connected_at = given_int(clock_s());
    s->request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    s->suppress = in->channel.type == CHANNEL_STAGE;
    return voice_room_region(call->tx, &in->channel, join_preferred(o, in->vip), &s->region);
}

/* Returns the platform of the client; bots and browsers have none. */
static struct opt_int join_platform(const struct session_order *o)
{
    if (order_is_bot(o) || o->client == CLIENT_WEB)
        return (struct opt_int){ GIVEN_NULL, 0 };
    return given_int(o->client == CLIENT_MOBILE ? VOICE_MOBILE : VOICE_DESKTOP);
}

/* Assigns the state to this session; a new salt invalidates earlier tokens. */
static void join_take(struct call *call, const struct session_order *o, struct voice_state *s)
{
    s->user_id = o->caller.id;
    s->session_id = str_dup(call->arena, o->session_id);
    s->session = o->session;
    s->node = snowflake_node();
    s->salt = voice_salt(call->arena);
    s->live = s->self_stream = false;
    s->platform = join_platform(o);
}

/* Applies mute, deafen, video and flags of the request, as far as permitted. */
static enum err join_apply(struct call *call, const struct session_order *o,
                           const struct voice_entrance *in, bool stays, struct voice_state *s)
{
    const struct voice_request *request = o->d;
    bool counted = stays && s->self_video, fits;
    enum err e = OK;

    s->self_mute = request->self_mute;
    s->self_deaf = request->self_deaf;
    s->flags = request->flags;
    s->flags.value &= VOICE_FLAGS;
    s->self_video = request->self_video && in->rights & PERMISSION(STREAM);
    if (s->self_video) {
        e = voice_camera_fits(call->tx, in->channel.id, in->max_cameras, counted, &fits);
        s->self_video = fits;
    }
    s->priority = in->guild_id && in->rights & PERMISSION(PRIORITY_SPEAKER);
    if (in->channel.type != CHANNEL_STAGE && in->guild_id)
        s->suppress = voice_suppressed(&in->channel, in->afk_channel_id, in->rights);
    s->active_at = clock_us();
    return e;
}

static enum err join_answer_session(struct call *call, struct session_order *o,
                                    const struct voice_state *s)
{
    o->owed = o->quiet;
    o->told = !o->quiet;
    return o->told ? voice_send_server(call, s) : OK;
}

/* Whether the request changes nothing: a client that has lost its voice socket repeats its last
 * request. */
static bool join_changes_nothing(const struct voice_state *was, const struct voice_state *s)
{
    return was->self_mute == s->self_mute && was->self_deaf == s->self_deaf &&
           was->self_video == s->self_video;
}

static enum err voice_join_channel(struct call *call, struct session_order *o,
                                   const struct voice_entrance *in, const struct voice_state *was,
                                   enum voice_outcome outcome)
{
    struct voice_state s = was ? *was : (struct voice_state){ 0 };
    bool stays = was && voice_channel(was) == in->channel.id;
    enum err e = stays ? OK : join_arrive(call, o, in, &s);

    s.member = in->member;

    if (outcome >= VOICE_TAKES_OVER)
        join_take(call, o, &s);
    if (!e)
        e = join_apply(call, o, in, stays, &s);
    if (!e && !in->guild_id && !stays)
        e = voice_call_enter(call, &in->channel, &s);
    s.asked_at = outcome == VOICE_CHANGES && join_changes_nothing(was, &s) ? clock_us() : 0;
    if (!e)
        e = voice_save(call, &s, was ? voice_channel(was) : 0);
    if (e)
        return e;
    if (outcome != VOICE_CHANGES)
        e = join_answer_session(call, o, &s);
    if (!e && !stays)
        e = room_entered(call, &s);
    if (!e && was && outcome >= VOICE_TAKES_OVER)
        e = hook_voice_left(call, was);
    return e || !in->afk_channel_id ? e : voice_watch_idle(call, &s);
}

enum err update_voice_state(struct call *call, struct session_order *o)
{
    struct voice_facts f = { .leaves = !o->target };
    struct voice_state was = { 0 };
    struct voice_entrance in = { 0 };
    enum err e = find_present(call, o, &was, &f.present);

    if (!e && !f.leaves)
        e = join_enter(call, o, &in, &f.open);
    bool stays = f.present && voice_channel(&was) == o->target;
    if (!e && f.open && !stays) /* users who stay in the channel are not limited */
        e = look_for_room(call, o, &in, &f.full);
    if (e)
        return e;
    join_compare(o, &in, &was, &f);
    enum voice_outcome outcome = voice_decide(&f);
    if (outcome == VOICE_IGNORED)
        return OK;
    if (outcome == VOICE_LEAVES || (outcome == VOICE_JOINS && f.present))
        e = voice_leave(call, &was);
    if (e || outcome == VOICE_LEAVES)
        return e;
    return voice_join_channel(call, o, &in, outcome == VOICE_JOINS ? NULL : &was, outcome);
}

enum err repeat_voice_server(struct call *call, struct session_order *o)
{
    struct voice_state s;
    enum err e = order_is_bot(o) ? voice_find(call->tx, o->place, o->caller.id, &s)
                                 : voice_of_user(call->tx, o->caller.id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    if (!str_eq(s.session_id, o->session_id))
        return OK;
    o->told = true;
    return voice_send_server(call, &s);
}
