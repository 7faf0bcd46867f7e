/* join.c - op 4 (voice state update): joins, moves, leaves, or changes mute, deafen and video. */
#include "voice/internal.h"

#include "base/clock.h"
#include "model/permissions/permissions.h"
#include "model/configured/regions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "voice/calls/calls.h"
#include "voice/rooms/rooms.h"
#include "voice/rules.h"

enum { OPTIONAL_NULLABLE = OPTIONAL | NULLABLE };

static const struct type region_ids = { .kind = KIND_ARRAY, .of = &type_text };
static const struct field request_fields[] = {
    { FIELD(struct voice_state_request, guild_id), .type = &type_id, .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, channel_id), .type = &type_id, .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, self_mute), .type = &type_bool,
      .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, self_deaf), .type = &type_bool,
      .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, self_video), .type = &type_bool,
      .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, preferred_region), .type = &type_text,
      .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, preferred_regions), .type = &region_ids,
      .flags = OPTIONAL_NULLABLE },
    { FIELD(struct voice_state_request, flags), .type = &type_int, .flags = OPTIONAL_NULLABLE },
    { 0 },
};
static const struct schema request_schema = { .size = sizeof(struct voice_state_request),
                                              .fields = request_fields };
const struct type type_voice_state_request = { .kind = KIND_OBJECT, .schema = &request_schema };

void session_opcode_set_rate_limit_of_join(struct session_opcode *o)
{
    const struct voice_state_request *in = o->d;

    o->rate_limit_id = opcode_is_from_bot(o) ? in->guild_id.value : 0;
    o->target = in->channel_id.value;
}

/* The channel that op 4 requests, with the data that is needed to join it. */
struct requested_channel {
    struct channel channel;
    snowflake guild_id; /* 0 for a private call */
    snowflake afk_channel_id;
    int64_t max_cameras; /* 0 means unlimited */
    bool vip;
    uint64_t permissions;
    struct member *member; /* NULL for a private call */
};

/* --- the requested channel ------------------------------------------------------------ */

static bool is_unknown_or_hidden_error(enum err e)
{
    return e == ERR_UNKNOWN_CHANNEL || e == ERR_UNKNOWN_GUILD || e == ERR_MISSING_ACCESS;
}

static enum err check_guild_channel_may_be_joined(struct call *call, const struct session_opcode *o,
                                                  struct requested_channel *in, bool *ret_open)
{
    struct member_access standing;
    struct guild guild;
    enum err e = member_access_find(call->tx, in->guild_id, o->caller.id, &standing);

    if (!e)
        e = guild_find(call->tx, in->guild_id, &guild);
    if (!e)
        e = member_permissions_in_channel(call->tx, &standing, &in->channel, &in->permissions);
    if (e)
        return e;
    in->member = standing.member;
    in->afk_channel_id = guild.afk_channel_id.value;
    in->max_cameras = voice_max_cameras(&in->channel, &guild);
    in->vip = guild_may_use_vip_regions(&guild);
    const uint64_t needed = PERMISSION(VIEW_CHANNEL) | PERMISSION(CONNECT);
    *ret_open = (in->permissions & needed) == needed;
    return OK;
}

/* Checks whether the account may join a private call: it must be a recipient and no bot. */
static enum err check_private_call_may_be_joined(struct call *call, const struct session_opcode *o,
                                                 struct requested_channel *in, bool *ret_open)
{
    enum err e;

    in->permissions = PERMISSIONS_ALL;
    *ret_open = user_is_channel_recipient(call->tx, in->channel.id, o->caller.id, &e) &&
                !opcode_is_from_bot(o);
    return e;
}

/* Finds the requested channel. Sets *ret_open to false if the caller may not join the channel. */
static enum err find_requested_channel(struct call *call, const struct session_opcode *o,
                                       struct requested_channel *in, bool *ret_open)
{
    const struct voice_state_request *request = o->d;
    enum err e = channel_find(call->tx, o->target, &in->channel);

    *ret_open = false;
    if (e)
        return is_unknown_or_hidden_error(e) ? OK : e;
    in->guild_id = channel_is_private(in->channel.type) ? 0 : in->channel.guild_id.value;
    if (in->guild_id != request->guild_id.value)
        return OK;
    if (!in->guild_id)
        return check_private_call_may_be_joined(call, o, in, ret_open);
    if (!channel_is_voice(in->channel.type))
        return OK;
    e = check_guild_channel_may_be_joined(call, o, in, ret_open);
    return is_unknown_or_hidden_error(e) ? OK : e;
}

/* Reads whether the channel is full for the account. A DM counts as full if one of its users has
 * blocked the other. */
static enum err check_user_limit_of_voice_channel(struct call *call, const struct session_opcode *o,
                                                  const struct requested_channel *in,
                                                  bool *ret_full)
{
    int64_t limit = in->channel.user_limit.value;

    *ret_full = false;
    if (!in->guild_id)
        return direct_channel_write_is_refused(call->tx, &in->channel, o->caller.id, ret_full);
    if (limit <= 0 || in->permissions & PERMISSION(MOVE_MEMBERS))
        limit = VOICE_ROOM_MAX;
    return channel_has_voice_participants(call->tx, in->channel.id, limit, ret_full);
}

/* Finds the current voice state of the account: for a user in any guild or call, for a bot in the
 * requested guild. */
static enum err find_current_voice_state(struct call *call, const struct session_opcode *o,
                                         struct voice_state *ret, bool *ret_present)
{
    const struct voice_state_request *in = o->d;
    enum err e = opcode_is_from_bot(o)
                     ? voice_state_find(call->tx, in->guild_id.value, o->caller.id, ret)
                     : voice_state_find_of_user(call->tx, o->caller.id, ret);

    *ret_present = !e;
    return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
}

static void compare_request_with_voice_state(const struct session_opcode *o,
                                             const struct requested_channel *in,
                                             const struct voice_state *was,
                                             struct voice_request_conditions *f)
{
    const struct voice_state_request *request = o->d;

    if (!f->present)
        return;
    f->own_session = str_eq(was->session_id, o->session_id);
    f->on_this_node = was->node == snowflake_get_node();
    f->live = was->live;
    f->same_channel = voice_state_get_channel_id(was) == o->target;
    f->same_guild = in->guild_id ? voice_state_get_guild_id(was) == in->guild_id : f->same_channel;
    /* A request to leave voice applies only to the guild in guild_id; without guild_id it applies
     * to any guild or call. */
    if (f->leaves && request->guild_id.given == GIVEN)
        f->present = voice_state_get_guild_id(was) == request->guild_id.value;
}

/* Returns the first usable region in the client's list of preferred regions; if there is none, the
 * nearest region. */
static struct str choose_preferred_region(const struct session_opcode *o, bool vip)
{
    const struct voice_state_request *in = o->d;
    const struct str *more = in->preferred_regions.value.items;

    if (in->preferred_region.given == GIVEN &&
        voice_region_is_usable(in->preferred_region.value, vip))
        return in->preferred_region.value;
    for (size_t i = 0; i < in->preferred_regions.value.count; i++)
        if (voice_region_is_usable(more[i], vip))
            return more[i];
    return voice_region_find_optimal(o->address, vip);
}

/* Resets the fields of the voice state that apply only to the previous channel. */
static enum err reset_state_for_new_channel(struct call *call, const struct session_opcode *o,
                                            const struct requested_channel *in,
                                            struct voice_state *s)
{
    s->guild_id = opt_id_or_null(in->guild_id);
    s->channel_id = opt_id_or_null(in->channel.id);
    s->connected_at = opt_int_present(clock_s());
    s->request_to_speak_timestamp = (struct opt_int){ GIVEN_NULL, 0 };
    s->suppress = in->channel.type == CHANNEL_STAGE;
    return choose_region_of_voice_room(call->tx, &in->channel, choose_preferred_region(o, in->vip),
                                       &s->region);
}

/* Returns the platform of the client; absent for bots and browsers. */
static struct opt_int platform_of_client(const struct session_opcode *o)
{
    if (opcode_is_from_bot(o) || o->client == CLIENT_WEB)
        return (struct opt_int){ GIVEN_NULL, 0 };
    return opt_int_present(o->client == CLIENT_MOBILE ? VOICE_PLATFORM_MOBILE
                                                      : VOICE_PLATFORM_DESKTOP);
}

/* Assigns the voice state to this gateway session. The new salt invalidates earlier tokens. */
static void assign_state_to_session(struct call *call, const struct session_opcode *o,
                                    struct voice_state *s)
{
    s->user_id = o->caller.id;
    s->session_id = str_dup(call->arena, o->session_id);
    s->session = o->session;
    s->node = snowflake_get_node();
    s->salt = voice_token_salt_new(call->arena);
    s->live = s->self_stream = false;
    s->platform = platform_of_client(o);
}

/* Applies the fields mute, deafen, video and flags of the request, if permitted. */
static enum err apply_request_flags(struct call *call, const struct session_opcode *o,
                                    const struct requested_channel *in, bool stays,
                                    struct voice_state *s)
{
    const struct voice_state_request *request = o->d;
    bool counted = stays && s->self_video, fits;
    enum err e = OK;

    s->self_mute = request->self_mute;
    s->self_deaf = request->self_deaf;
    s->flags = request->flags;
    s->flags.value &= VOICE_STATE_CLIENT_FLAGS;
    s->self_video = request->self_video && in->permissions & PERMISSION(STREAM);
    if (s->self_video) {
        e = read_whether_camera_is_within_limit(call->tx, in->channel.id, in->max_cameras, counted,
                                                &fits);
        s->self_video = fits;
    }
    s->priority = in->guild_id && in->permissions & PERMISSION(PRIORITY_SPEAKER);
    if (in->channel.type != CHANNEL_STAGE && in->guild_id)
        s->suppress =
            member_is_suppressed_on_voice_join(&in->channel, in->afk_channel_id, in->permissions);
    s->active_at = clock_us();
    return e;
}

static enum err send_or_delay_server_update(struct call *call, struct session_opcode *o,
                                            const struct voice_state *s)
{
    o->server_update_delayed = o->quiet;
    o->server_update_sent = !o->quiet;
    return o->server_update_sent ? emit_voice_server_update(call, s) : OK;
}

/* Returns whether an op 4 changes nothing. Clients repeat their last op 4 after they have lost
 * their voice socket. */
static bool is_repeated_request(const struct voice_state *was, const struct voice_state *s)
{
    return was->self_mute == s->self_mute && was->self_deaf == s->self_deaf &&
           was->self_video == s->self_video;
}

static enum err join_or_change_channel(struct call *call, struct session_opcode *o,
                                       const struct requested_channel *in,
                                       const struct voice_state *was,
                                       enum voice_request_outcome outcome)
{
    struct voice_state s = was ? *was : (struct voice_state){ 0 };
    bool stays = was && voice_state_get_channel_id(was) == in->channel.id;
    enum err e = stays ? OK : reset_state_for_new_channel(call, o, in, &s);

    s.member = in->member;

    if (outcome >= VOICE_OUTCOME_TAKE_OVER)
        assign_state_to_session(call, o, &s);
    if (!e)
        e = apply_request_flags(call, o, in, stays, &s);
    if (!e && !in->guild_id && !stays)
        e = voice_call_on_join(call, &in->channel, &s);
    s.requested_again_at =
        outcome == VOICE_OUTCOME_CHANGE_FLAGS && is_repeated_request(was, &s) ? clock_us() : 0;
    if (!e)
        e = voice_state_save(call, &s, was ? voice_state_get_channel_id(was) : 0);
    if (e)
        return e;
    if (outcome != VOICE_OUTCOME_CHANGE_FLAGS)
        e = send_or_delay_server_update(call, o, &s);
    if (!e && !stays)
        e = voice_room_on_join(call, &s);
    if (!e && was && outcome >= VOICE_OUTCOME_TAKE_OVER)
        e = hook_voice_left(call, was);
    return e || !in->afk_channel_id ? e : afk_schedule_move_of_idle_user(call, &s);
}

enum err handle_voice_state_update_opcode(struct call *call, struct session_opcode *o)
{
    struct voice_request_conditions f = { .leaves = !o->target };
    struct voice_state was = { 0 };
    struct requested_channel in = { 0 };
    enum err e = find_current_voice_state(call, o, &was, &f.present);

    if (!e && !f.leaves)
        e = find_requested_channel(call, o, &in, &f.open);
    bool stays = f.present && voice_state_get_channel_id(&was) == o->target;
    /* The rate limit of joins does not apply to users who stay in their channel. */
    if (!e && f.open && !stays)
        e = check_user_limit_of_voice_channel(call, o, &in, &f.full);
    if (e)
        return e;
    compare_request_with_voice_state(o, &in, &was, &f);
    enum voice_request_outcome outcome = decide_voice_request_outcome(&f);
    if (outcome == VOICE_OUTCOME_IGNORE)
        return OK;
    if (outcome == VOICE_OUTCOME_LEAVE || (outcome == VOICE_OUTCOME_JOIN && f.present))
        e = voice_state_delete_and_emit(call, &was);
    if (e || outcome == VOICE_OUTCOME_LEAVE)
        return e;
    return join_or_change_channel(call, o, &in, outcome == VOICE_OUTCOME_JOIN ? NULL : &was,
                                  outcome);
}

enum err resend_voice_server_update(struct call *call, struct session_opcode *o)
{
    struct voice_state s;
    enum err e = opcode_is_from_bot(o)
                     ? voice_state_find(call->tx, o->rate_limit_id, o->caller.id, &s)
                     : voice_state_find_of_user(call->tx, o->caller.id, &s);

    if (e)
        return e == ERR_UNKNOWN_VOICE_STATE ? OK : e;
    if (!str_eq(s.session_id, o->session_id))
        return OK;
    o->server_update_sent = true;
    return emit_voice_server_update(call, &s);
}
