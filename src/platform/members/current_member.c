/* current_member.c - changes of the caller's own member, and members added by apps with an access
 * token. */
#include "platform/members/internal.h"

#include "api/auth/auth.h"
#include "model/fields/rows.h"

/* --- PATCH …/members/@me -------------------------------------------------------------- */

struct stored_pictures {
    struct opt_str avatar, banner; /* hashes of pictures that were stored in an earlier stage */
};

/* Returns an error if a quarantined member changes anything but the nickname. The nickname may be
 * the reason for the quarantine, so it may be changed. */
static enum err check_current_member_patch(struct call *call)
{
    const struct current_member_patch *in = call->body;
    const uint64_t either = PERMISSION(CHANGE_NICKNAME) | PERMISSION(MANAGE_NICKNAMES);
    const struct permission_computation_input *who = &call->target.member_access->input;
    bool only_nick = !in->avatar.given && !in->banner.given && !in->bio.given;
    enum err e = who->quarantined && only_nick ? OK : check_member_may_write(who);

    if (e)
        return e;
    return in->nick.given && !(call->target.permissions & either)
               ? call_get_missing_any_permission_error(call, either)
               : OK;
}

static enum err store_member_pictures(struct call *call)
{
    const struct current_member_patch *in = call->body;
    struct stored_pictures *retained = call_get_stage_data(call, "stored_pictures");
    snowflake id = call->caller->id;
    enum err e = store_uploaded_picture(call, "member-avatars", id, &in->avatar, &retained->avatar);

    return e ? e
             : store_uploaded_picture(call, "member-banners", id, &in->banner, &retained->banner);
}

enum err schedule_storing_member_pictures(struct call *call)
{
    const struct current_member_patch *in = call->body;

    call_store_stage_data(call, "stored_pictures", sizeof(struct stored_pictures));
    if (in->avatar.given || in->banner.given) {
        call->read = check_current_member_patch; /* runs before the pictures are stored */
        call->compute = store_member_pictures;
    }
    return OK;
}

static const char SAVE_BIO[] = "update members set bio = $3 where guild_id = $1 and user_id = $2";

static enum err replace_picture_if_given(struct call *call, const char *area, struct opt_str *now,
                                         const struct opt_str *retained)
{
    enum err e = OK;

    if (retained->given != ABSENT) {
        e = delete_previous_picture(call, area, call->caller->id, now, retained);
        *now = *retained;
    }
    return e;
}

static enum err replace_member_pictures(struct call *call, struct member *m)
{
    const struct stored_pictures *retained = call_get_stage_data(call, "stored_pictures");
    enum err e = replace_picture_if_given(call, "member-avatars", &m->avatar, &retained->avatar);

    return e ? e : replace_picture_if_given(call, "member-banners", &m->banner, &retained->banner);
}

enum err modify_current_member(struct call *call)
{
    const struct current_member_patch *in = call->body;
    const struct stored_pictures *retained = call_get_stage_data(call, "stored_pictures");
    struct member *m = call->target.member_access->member;

    enum err e = check_current_member_patch(call);
    if (e)
        return e;
    bool refused = false;
    if (in->nick.given)
        m->nick = opt_str_or_null(in->nick.value.n ? in->nick.value : (struct str){ 0 });
    e = member_read_user(call->tx, m);
    if (!e && in->nick.given)
        e = member_check_nick_with_automod(call, m, &refused);
    if (e || refused)
        return e;
    e = replace_member_pictures(call, m);
    if (!e && in->bio.given)
        e = tx_exec(call->tx, SAVE_BIO,
                    BIND(v_id(m->guild_id), v_id(m->user_id), sql_value_of_optional_text(in->bio)),
                    NULL);
    if (!e && (in->nick.given || retained->avatar.given || retained->banner.given))
        e = member_update_and_emit(call, m);
    return e ? e : call_reply_with_object(call, m);
}

/* PATCH …/profile/{member.id}: returns whether {member.id} is @me or the caller's id. Other
 * members' profiles cannot be changed. */
static bool guild_profile_is_of_caller(const struct call *call)
{
    return call_get_path_id(call, "member.id") == call->caller->id;
}

enum err schedule_storing_guild_profile_pictures(struct call *call)
{
    return guild_profile_is_of_caller(call) ? schedule_storing_member_pictures(call) : OK;
}

enum err modify_guild_profile(struct call *call)
{
    return guild_profile_is_of_caller(call) ? modify_current_member(call)
                                            : call_get_rank_too_low_error(call);
}

/* --- PUT …/members/{member.id} -------------------------------------------------------- */

/* Checks the access token of the user to be added: it must belong to this user, and to the app
 * whose bot is the caller. */
static enum err check_guilds_join_access_token(struct call *call, struct str token)
{
    struct auth *auth = api_get_options(call->api)->auth;
    struct parsed_credential credential;
    struct caller owner;

    if (!parse_credential_token(CALLER_BEARER, token, &credential))
        return ERR_INVALID_ACCESS_TOKEN;
    enum err e = auth_find_stored_token(auth, call->tx, &credential, &owner);
    if (e)
        return e == ERR_UNAUTHORIZED ? ERR_INVALID_ACCESS_TOKEN : e;
    if (owner.id != call->target.user->id || owner.application_id != call->caller->application_id)
        return ERR_INVALID_ACCESS_TOKEN;
    return owner.scopes & auth_oauth2_scope_bit(STR("guilds.join")) ? OK : ERR_MISSING_SCOPE;
}

static enum err check_add_member_permissions(struct call *call, const struct member_add_request *in)
{
    const struct list none = { 0 };
    uint64_t needs = (in->nick.given == GIVEN ? PERMISSION(MANAGE_NICKNAMES) : 0) |
                     (in->roles.count ? PERMISSION(MANAGE_ROLES) : 0) |
                     (in->mute ? PERMISSION(MUTE_MEMBERS) : 0) |
                     (in->deaf ? PERMISSION(DEAFEN_MEMBERS) : 0);

    if ((call->target.permissions & needs) != needs)
        return call_get_missing_permissions_error(call, needs);
    enum err e =
        in->flags.value & MEMBER_BYPASSES_VERIFICATION ? check_member_flags_permission(call) : OK;
    return e ? e : check_caller_may_assign_changed_roles(call, &none, &in->roles);
}

enum err add_guild_member(struct call *call)
{
    const struct member_add_request *in = call->body;
    const struct member_to_add_to_guild n = {
        .guild_id = call->target.guild->id,
        .user_id = call->target.user->id,
        .nick = opt_str_or_null(in->nick.value.n ? in->nick.value : (struct str){ 0 }),
        .roles = copy_ids_without_duplicates(call->arena, &in->roles),
        .mute = in->mute,
        .deaf = in->deaf,
        .flags = in->flags.value & MEMBER_BYPASSES_VERIFICATION,
    };
    struct member member;
    bool is_new;

    enum err e = check_add_member_permissions(call, in);
    if (!e)
        e = check_guilds_join_access_token(call, in->access_token);
    if (!e)
        e = member_add_to_guild(call, &n, &member, &is_new);
    if (e)
        return e;
    if (is_new)
        return call_reply_with_object(call, &member);
    call_set_status(call, 204);
    return OK;
}
