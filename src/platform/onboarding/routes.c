/* routes.c - route table of onboarding; reads the prompts. */
#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/onboarding/internal.h"

/* GET /guilds/{guild.id}/onboarding */
static enum err get_onboarding(struct call *call)
{
    struct guild_roles_and_channels positions;
    struct onboarding o;
    enum err e = onboarding_find(call->tx, call->target.guild->id, &o);

    if (!e && o.version)
        e = read_guild_roles_and_channels(call->tx, o.guild_id, &positions);
    if (e)
        return e;
    if (o.version)
        onboarding_remove_deleted_ids(&o, &positions);
    return call_reply_with_object(call, &o);
}

static enum err delete_answers_of_member(struct call *call,
                                         const struct member_leaving_guild *leave)
{
    return onboarding_answers_delete(call->tx, leave->guild_id, leave->user->id);
}

#define ANSWERS(method_, name_)                                                                   \
    {                                                                                             \
        .method = (method_), .path = "/guilds/{guild.id}/onboarding-responses", .name = (name_),  \
        .doc = "Answer the onboarding prompts: adds the roles of the chosen options and removes " \
               "those of options that are no longer chosen.",                                     \
        .auth = AUTH_USER, .body = &onboarding_answers_body, .reply = &onboarding_answers_reply,  \
        .status = 200,                                                                            \
        .fires = (const enum event[]){ EVENT_GUILD_MEMBER_UPDATE, EVENT_VOICE_STATE_UPDATE,       \
                                       EVENT_NONE },                                              \
        .allowed_when_restricted = true, .prepare = schedule_onboarding_answer_check,             \
        .handle = submit_onboarding_answers                                                       \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/onboarding",
        .name = "get_onboarding",
        .doc = "The onboarding prompts of a guild. If never set: no prompts, and not enabled.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_onboarding,
        .handle = get_onboarding,
    },
    {
        .method = PUT,
        .path = "/guilds/{guild.id}/onboarding",
        .name = "put_onboarding",
        .doc = "Set the onboarding prompts of a guild. Enabling needs seven default channels, "
               "in five of which @everyone can write.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_ROLES),
        .body = &onboarding_body,
        .max_body = 2 * 1024 * 1024,
        .reply = &type_onboarding,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .prepare = schedule_computing_onboarding_change,
        .handle = put_onboarding,
    },
    ANSWERS(POST, "create_onboarding_responses"),
    ANSWERS(PUT, "put_onboarding_responses"),
    { 0 },
};

const struct domain onboarding_domain = {
    .name = "Onboarding",
    .doc = "Onboarding prompts for new members of guilds.",
    .routes = routes,
    .world = &onboarding_world,
    .hooks = &(const struct hook_listeners){ .member_left = delete_answers_of_member },
    .deletions =
        (const struct deletion_rule[]){ { DELETE_FEW(WITH_GUILD, "guild_onboarding", "guild_id") },
                                        { DELETE_WHERE(WITH_GUILD, "onboarding_answers",
                                                       "guild_id, user_id", "guild_id = $1") },
                                        { 0 } },
};
