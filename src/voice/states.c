/* states.c - /guilds/{guild.id}/voice-states: reads voice states, changes speakers of stages. */
#include "voice/internal.h"

#include "base/clock.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "voice/rooms/room_owners.h"
#include "voice/stages/stage_rules.h"

struct own_state_patch {
    struct opt_id channel_id;
    struct opt_bool suppress;
    struct opt_int request_to_speak_timestamp;
    bool silent;
};
struct state_patch {
    snowflake channel_id;
    struct opt_bool suppress;
};

static const struct field own_patch_fields[] = {
    { FIELD(struct own_state_patch, channel_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "The stage that the caller is on" },
    { FIELD(struct own_state_patch, suppress), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct own_state_patch, request_to_speak_timestamp), .type = &type_time,
      .flags = OPTIONAL | NULLABLE, .doc = "Now or later" },
    { FIELD(struct own_state_patch, silent), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Nobody is notified" },
    { 0 },
};
static const struct schema own_patch_schema = {
    .name = "OwnVoiceStatePatch",
    .size = sizeof(struct own_state_patch),
    .fields = own_patch_fields,
    .doc = "Changes to the caller's own speaker state on a stage.",
};
static const struct type own_patch_body = { .kind = KIND_OBJECT, .schema = &own_patch_schema };

static const struct field patch_fields[] = {
    { FIELD(struct state_patch, channel_id), .type = &type_id,
      .doc = "The stage that the member is on" },
    { FIELD(struct state_patch, suppress), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "VoiceStatePatch",
    .size = sizeof(struct state_patch),
    .fields = patch_fields,
    .doc = "Changes by a moderator to a member's speaker state on a stage.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

/* --- GET ------------------------------------------------------------------------------ */

/* Returns ERR_UNKNOWN_VOICE_STATE if the caller cannot view the channel of a voice state. */
static enum err check_can_view_voice_state(struct call *call, const struct voice_state *s)
{
    enum err e = s->user_id == call->caller->id
                     ? OK
                     : resolve_channel_by_id(call, voice_state_get_channel_id(s));

    return e == ERR_MISSING_ACCESS ? ERR_UNKNOWN_VOICE_STATE : e;
}

static enum err reply_with_voice_state(struct call *call, snowflake user_id)
{
    struct voice_state s;
    struct member member;
    enum err e = voice_state_find(call->tx, call->target.guild->id, user_id, &s);

    if (!e)
        e = check_can_view_voice_state(call, &s);
    if (!e)
        e = member_find(call->tx, call->target.guild->id, user_id, &member);
    if (!e)
        e = member_read_user(call->tx, &member);
    if (e)
        return e;
    s.member = &member;
    return call_reply_with_object(call, &s);
}

/* GET /guilds/{guild.id}/voice-states/@me */
static enum err get_own_voice_state(struct call *call)
{
    return reply_with_voice_state(call, call->caller->id);
}

/* GET /guilds/{guild.id}/voice-states/{member.id} */
static enum err get_voice_state(struct call *call)
{
    return reply_with_voice_state(call, call->target.member->user_id);
}

/* --- PATCH ---------------------------------------------------------------------------- */

/* Resolves the stage channel in the body. If `there` is true, the user is in the channel and needs
 * no VIEW_CHANNEL. */
static enum err resolve_stage_channel(struct call *call, snowflake channel_id, bool there)
{
    enum err e = resolve_channel_by_id(call, channel_id);

    if (e && !(there && e == ERR_MISSING_ACCESS))
        return e;
    if (call->target.channel->guild_id.value != call->target.guild->id)
        return ERR_UNKNOWN_CHANNEL;
    return call->target.channel->type == CHANNEL_STAGE ? OK : ERR_CHANNEL_TYPE;
}

static enum err find_state_on_stage(struct call *call, snowflake user_id, struct voice_state *ret)
{
    enum err e = voice_state_find(call->tx, call->target.guild->id, user_id, ret);

    if (!e && voice_state_get_channel_id(ret) != call->target.channel->id)
        e = ERR_UNKNOWN_VOICE_STATE;
    return e;
}

static enum err save_state_and_watch_stage(struct call *call, struct voice_state *s)
{
    enum err e = voice_state_save(call, s, 0);

    return e ? e : stage_schedule_close_if_silent(call, voice_state_get_channel_id(s));
}

static enum err resolve_stage_of_caller(struct call *call, const struct own_state_patch *in,
                                        struct voice_state *ret)
{
    enum err found = voice_state_find(call->tx, call->target.guild->id, call->caller->id, ret);

    if (found && (found != ERR_UNKNOWN_VOICE_STATE || in->channel_id.given != GIVEN))
        return found;
    snowflake id =
        in->channel_id.given == GIVEN ? in->channel_id.value : voice_state_get_channel_id(ret);
    bool there = !found && id == voice_state_get_channel_id(ret);
    enum err e = resolve_stage_channel(call, id, there);
    return e ? e : there ? OK : ERR_UNKNOWN_VOICE_STATE;
}

/* PATCH /guilds/{guild.id}/voice-states/@me */
static enum err modify_own_voice_state(struct call *call)
{
    const struct own_state_patch *in = call->body;
    struct stage_voice_state_request request = { in->suppress, in->request_to_speak_timestamp };
    const struct opt_int *at = &in->request_to_speak_timestamp;
    struct voice_state s;

    if (at->given == GIVEN && !stage_request_to_speak_time_is_valid(at->value, clock_us()))
        return call_add_field_error(call, "request_to_speak_timestamp", "DATE_TIME_TYPE_IN_PAST",
                                    "Must be now or later.");
    enum err e = resolve_stage_of_caller(call, in, &s);
    if (e)
        return e;
    uint64_t needs = stage_request_needed_permissions(&s, &request);
    if ((call->target.permissions & needs) != needs)
        return call_get_missing_permissions_error(call, needs);
    if (request.suppress.given != GIVEN && at->given == ABSENT)
        return OK;
    stage_voice_state_request_apply(&s, &request, clock_us());
    if (!s.suppress && member_is_restricted(&call->target.member_access->input))
        return ERR_MISSING_PERMISSIONS;
    return save_state_and_watch_stage(call, &s);
}

/* PATCH /guilds/{guild.id}/voice-states/{member.id} */
static enum err modify_voice_state(struct call *call)
{
    const struct state_patch *in = call->body;
    const struct member *m = call->target.member;
    struct voice_state s;

    enum err e = resolve_stage_channel(call, in->channel_id, false);
    if (!e)
        e = call_require_permissions(call, PERMISSION(MUTE_MEMBERS));
    if (!e)
        e = find_state_on_stage(call, m->user_id, &s);
    if (e || in->suppress.given != GIVEN)
        return e;
    struct permission_computation_input who =
        permission_computation_input_of_member(call->target.guild, m);
    if (!in->suppress.value && member_is_restricted(&who))
        return ERR_MISSING_PERMISSIONS;
    stage_apply_moderator_suppress_change(&s, in->suppress.value, m->user->bot.value, clock_us());
    return save_state_and_watch_stage(call, &s);
}

static const enum event fired[] = { EVENT_VOICE_STATE_UPDATE, EVENT_NONE };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/voice-states/@me",
        .name = "get_own_voice_state",
        .doc = "The voice state of the caller.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_voice_state,
        .handle = get_own_voice_state,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/voice-states/{member.id}",
        .name = "get_voice_state",
        .doc = "The voice state of a member, if the caller can view the channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_voice_state,
        .handle = get_voice_state,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/voice-states/@me",
        .name = "modify_own_voice_state",
        .doc = "Ask to speak on a stage (REQUEST_TO_SPEAK), accept an invitation, go back to the "
               "audience, or begin to speak (MUTE_MEMBERS).",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &own_patch_body,
        .fires = fired,
        .handle = modify_own_voice_state,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/voice-states/{member.id}",
        .name = "modify_voice_state",
        .doc = "Invite a member to speak on a stage, or back to the audience. Needs "
               "MUTE_MEMBERS in the channel. Bots speak at once; users have to accept.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &patch_body,
        .fires = fired,
        .handle = modify_voice_state,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &afk_move_job,
                                               &afk_reschedule_job,
                                               &voice_timeout_end_job,
                                               &voice_permission_steps_job,
                                               &voice_region_job,
                                               &voice_removal_job,
                                               NULL };

const struct domain voice_domain = {
    .name = "Voice",
    .doc = "Voice states, and the speakers of stages.",
    .routes = routes,
    .jobs = jobs,
    .hooks =
        &(const struct hook_listeners){
            .guild_changed = voice_on_guild_change,
            .guild_deleting = voice_on_guild_delete,
            .permissions_changed = voice_on_permission_change,
            .member_changed = voice_on_member_change,
            .member_leaving = voice_on_member_leave,
            .voice_moderation_check = check_voice_moderation,
            .voice_moderation_apply = apply_voice_moderation,
            .channel_region_set = voice_on_channel_region_change,
            .channel_deleting = voice_on_channel_delete,
            .recipient_leaving = voice_on_recipient_remove,
            .voice_left = voice_room_release_node_on_last_leave,
        },
};
