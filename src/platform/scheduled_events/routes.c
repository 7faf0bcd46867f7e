/* routes.c - route table of scheduled events. */
#include "api/deletion.h"
#include "platform/scheduled_events/internal.h"

static const struct path_resolver resolvers[] = {
    { .name = "event.id", .field = "guild_scheduled_event_id", .doc = "An event of the guild." },
    { .name = "exception.id",
      .field = "guild_scheduled_event_exception_id",
      .doc = "An occurrence of the event." },
    { 0 },
};

#define EVENTS "/guilds/{guild.id}/scheduled-events"
#define EVENT_ EVENTS "/{event.id}"
#define ALL    (AUTH_USER | AUTH_BOT)
#define FIRES(...)                                                  \
    (const enum event[])                                            \
    {                                                               \
        __VA_ARGS__, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE \
    }
#define EXCEPTION_EVENTS                                \
    FIRES(EVENT_GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE, \
          EVENT_GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE)
#define PEOPLE_EVENTS                                                                             \
    (const enum event[])                                                                          \
    {                                                                                             \
        EVENT_GUILD_SCHEDULED_EVENT_USER_ADD, EVENT_GUILD_SCHEDULED_EVENT_USER_REMOVE, EVENT_NONE \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = EVENTS,
        .name = "list_scheduled_events",
        .doc = "Scheduled and active events that the caller can view.",
        .auth = ALL,
        .query = &event_query_schema,
        .reply = &type_scheduled_events,
        .handle = list_scheduled_events,
    },
    {
        .method = POST,
        .path = EVENTS,
        .name = "create_scheduled_event",
        .doc =
            "Create an event; needs CREATE_EVENTS, in a stage channel MANAGE_CHANNELS, "
            "MUTE_MEMBERS and MOVE_MEMBERS, in a voice channel CONNECT. At most 100 may be open.",
        .auth = ALL,
        .body = &event_draft_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_scheduled_event,
        .fires = FIRES(EVENT_GUILD_SCHEDULED_EVENT_CREATE, EVENT_GUILD_SCHEDULED_EVENT_USER_ADD),
        .prepare = schedule_storing_new_event_image,
        .handle = create_scheduled_event,
    },
    {
        .method = GET,
        .path = EVENT_,
        .name = "get_scheduled_event",
        .doc = "One event.",
        .auth = ALL,
        .query = &event_query_schema,
        .reply = &type_scheduled_event,
        .handle = get_scheduled_event,
    },
    {
        .method = PATCH,
        .path = EVENT_,
        .name = "modify_scheduled_event",
        .doc = "Change, start, end or cancel an event. Events of others need MANAGE_EVENTS.",
        .auth = ALL,
        .body = &event_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_scheduled_event,
        .fires =
            FIRES(EVENT_GUILD_SCHEDULED_EVENT_UPDATE, EVENT_GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE,
                  EVENT_STAGE_INSTANCE_CREATE, EVENT_STAGE_INSTANCE_DELETE, EVENT_MESSAGE_CREATE),
        .prepare = schedule_storing_changed_event_image,
        .handle = modify_scheduled_event,
    },
    {
        .method = DELETE,
        .path = EVENT_,
        .name = "delete_scheduled_event",
        .doc = "Delete an event. Events of others need MANAGE_EVENTS.",
        .auth = ALL,
        .fires = FIRES(EVENT_GUILD_SCHEDULED_EVENT_DELETE),
        .handle = delete_scheduled_event,
    },
    {
        .method = GET,
        .path = EVENT_ "/users",
        .name = "list_scheduled_event_users",
        .doc = "Subscribers of an event, by id.",
        .auth = ALL,
        .query = &event_users_query_schema,
        .reply = &event_users_reply,
        .handle = list_scheduled_event_users,
    },
    {
        .method = GET,
        .path = EVENT_ "/users/counts",
        .name = "count_scheduled_event_users",
        .doc = "Number of subscribers of an event.",
        .auth = ALL,
        .query = &event_counts_query_schema,
        .reply = &event_counts_reply,
        .handle = count_scheduled_event_users,
    },
    {
        .method = PUT,
        .path = EVENT_ "/users/@me",
        .name = "join_scheduled_event",
        .doc = "Subscribe to an event.",
        .auth = AUTH_USER,
        .reply = &event_person_reply,
        .fires = PEOPLE_EVENTS,
        .handle = join_scheduled_event,
    },
    {
        .method = DELETE,
        .path = EVENT_ "/users/@me",
        .name = "leave_scheduled_event",
        .doc = "Unsubscribe from an event.",
        .auth = AUTH_USER,
        .fires = PEOPLE_EVENTS,
        .allowed_when_restricted = true,
        .handle = leave_scheduled_event,
    },
    {
        .method = POST,
        .path = EVENT_ "/exceptions",
        .name = "create_event_exception",
        .doc = "Change or cancel one occurrence of a recurring event.",
        .auth = ALL,
        .body = &exception_draft_body,
        .reply = &type_event_exception,
        .fires = EXCEPTION_EVENTS,
        .handle = create_event_exception,
    },
    {
        .method = PATCH,
        .path = EVENT_ "/exceptions/{exception.id}",
        .name = "modify_event_exception",
        .doc = "Change the exception of one occurrence.",
        .auth = ALL,
        .body = &exception_patch_body,
        .reply = &type_event_exception,
        .fires = EXCEPTION_EVENTS,
        .handle = modify_event_exception,
    },
    {
        .method = DELETE,
        .path = EVENT_ "/exceptions/{exception.id}",
        .name = "delete_event_exception",
        .doc = "Delete the exception of one occurrence.",
        .auth = ALL,
        .fires = EXCEPTION_EVENTS,
        .handle = delete_event_exception,
    },
    {
        .method = GET,
        .path = EVENT_ "/{exception.id}/users",
        .name = "list_exception_users",
        .doc = "Users who responded to one occurrence.",
        .auth = ALL,
        .query = &event_users_query_schema,
        .reply = &event_users_reply,
        .handle = list_exception_users,
    },
    {
        .method = PUT,
        .path = EVENT_ "/{exception.id}/users/@me",
        .name = "answer_event_exception",
        .doc = "Respond to one occurrence of an event.",
        .auth = AUTH_USER,
        .body = &event_response_body,
        .reply = &event_person_reply,
        .fires = PEOPLE_EVENTS,
        .handle = respond_to_scheduled_event_exception,
    },
    {
        .method = DELETE,
        .path = EVENT_ "/{exception.id}/users/@me",
        .name = "forget_event_exception_answer",
        .doc = "Delete the response to one occurrence.",
        .auth = AUTH_USER,
        .fires = PEOPLE_EVENTS,
        .allowed_when_restricted = true,
        .handle = delete_scheduled_event_exception_response,
    },
    { 0 },
};

#define EVENTS_OF_GUILD "select id from scheduled_events where guild_id = $1"

const struct domain scheduled_events_domain = {
    .name = "Scheduled events",
    .doc = "Scheduled events of guilds.",
    .routes = routes,
    .world = &scheduled_events_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &scheduled_event_job, NULL },
    .hooks =
        &(const struct hook_listeners){ .channel_deleting = scheduled_events_cancel_of_channel,
                                        .audit_log_fill = audit_log_reply_add_scheduled_events },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_GUILD, "scheduled_event_users", "event_id, exception_id, user_id",
                           "event_id in (" EVENTS_OF_GUILD ")") },
            { WITH_GUILD, "jobs",
              .remove = { &"delete from jobs where kind = 'scheduled-event' and key in (select key from jobs "
                           "where kind = 'scheduled-event' and key in (" EVENTS_OF_GUILD
                           ") limit $2)" } },
            { DELETE_WITH_FILE(WITH_GUILD, "scheduled_events", "guild-events", "image",
                               "guild_id = $1") },
            { 0 } },
};
