/* routes.c - route table of threads. */
#include "platform/threads/internal.h"

static const struct rate_limit limit_start = { .name = "thread-create",
                                               .count = 10,
                                               .window_s = 60 };

#define ALL_KINDS (AUTH_USER | AUTH_BOT)
#define MADE_EVENTS                                                             \
    (const enum event[])                                                        \
    {                                                                           \
        THREAD_MESSAGE_EVENTS, EVENT_MESSAGE_UPDATE, AUTOMOD_EVENTS, EVENT_NONE \
    }
#define MEMBER_EVENTS                                           \
    (const enum event[])                                        \
    {                                                           \
        THREAD_MESSAGE_EVENTS, EVENT_MESSAGE_CREATE, EVENT_NONE \
    }

static const struct path_resolver resolvers[] = {
    { .name = "thread.member.id",
      .field = "user_id",
      .me = true,
      .doc = "A member of the thread, by user id." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/channels/{channel.id}/threads",
        .name = "create_thread",
        .doc = "Start a thread, or a post in a forum. Needs CREATE_PUBLIC_THREADS, "
               "CREATE_PRIVATE_THREADS for a private one, SEND_MESSAGES in a forum.",
        .auth = ALL_KINDS,
        .body = &thread_draft_body,
        .body_kinds = BODY_MULTIPART | BODY_FORM,
        .max_upload = MESSAGE_MAX_UPLOAD,
        .reply = &type_channel,
        .status = 201,
        .fires = MADE_EVENTS,
        .limit = &limit_start,
        .prepare = validate_thread_create_request,
        .handle = create_thread,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/messages/{message.id}/threads",
        .name = "create_message_thread",
        .doc = "Start a thread from a message; it has the message's id.",
        .auth = ALL_KINDS,
        .body = &message_thread_body,
        .reply = &type_channel,
        .status = 201,
        .fires = MADE_EVENTS,
        .limit = &limit_start,
        .handle = create_message_thread,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/threads/active",
        .name = "list_active_threads",
        .doc = "Visible threads of a guild that are not archived, newest first.",
        .auth = ALL_KINDS,
        .reply = &thread_list_type,
        .measured = true,
        .handle = list_active_threads,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/threads/active",
        .name = "list_channel_threads",
        .doc = "Visible threads of a channel that are not archived, newest first.",
        .auth = ALL_KINDS,
        .reply = &thread_list_type,
        .measured = true,
        .handle = list_channel_threads,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/threads/search",
        .name = "search_threads",
        .doc = "Threads of a channel by name, tags and time; needs READ_MESSAGE_HISTORY.",
        .auth = ALL_KINDS,
        .query = &thread_search_schema,
        .reply = &thread_search_type,
        .background = true,
        .handle = search_threads,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/post-data",
        .name = "get_post_data",
        .doc = "Authors and first messages of forum posts; needs READ_MESSAGE_HISTORY.",
        .auth = AUTH_USER,
        .body = &post_data_body,
        .reply = &post_data_reply,
        .store = ROUTE_STORE_READ,
        .allowed_when_restricted = true,
        .handle = get_post_data,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/threads/archived/public",
        .name = "list_public_archived_threads",
        .doc = "Archived public threads of a channel, last archived first; needs "
               "READ_MESSAGE_HISTORY.",
        .auth = ALL_KINDS,
        .query = &archived_query_schema,
        .reply = &thread_list_type,
        .handle = list_public_archived_threads,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/threads/archived/private",
        .name = "list_private_archived_threads",
        .doc = "Archived private threads of a channel; needs also MANAGE_THREADS.",
        .auth = ALL_KINDS,
        .query = &archived_query_schema,
        .reply = &thread_list_type,
        .handle = list_private_archived_threads,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/users/@me/threads/archived/private",
        .name = "list_joined_archived_threads",
        .doc = "Archived private threads that the caller is in, the newest first; needs "
               "READ_MESSAGE_HISTORY.",
        .auth = ALL_KINDS,
        .query = &joined_query_schema,
        .reply = &thread_list_type,
        .background = true,
        .handle = list_joined_archived_threads,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/thread-members",
        .name = "list_thread_members",
        .doc = "Members of a thread. Bots need the GUILD_MEMBERS intent.",
        .auth = ALL_KINDS,
        .query = &thread_members_query_schema,
        .reply = &type_thread_members,
        .handle = list_thread_members,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/thread-members/{thread.member.id}",
        .name = "get_thread_member",
        .doc = "A member of a thread.",
        .auth = ALL_KINDS,
        .query = &thread_members_query_schema,
        .reply = &type_thread_member,
        .handle = get_thread_member,
    },
    {
        .method = PUT,
        .path = "/channels/{channel.id}/thread-members/{thread.member.id}",
        .name = "add_thread_member",
        .doc =
            "Join a thread (@me), or add a user who can view its channel. Adding needs "
            "SEND_MESSAGES; a private thread must also be invitable or created by the caller, else "
            "MANAGE_THREADS is needed.",
        .auth = ALL_KINDS,
        .fires = MEMBER_EVENTS,
        .handle = add_thread_member,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/thread-members/@me",
        .name = "join_thread",
        .doc = "Join a thread, as Discord's clients do it.",
        .auth = AUTH_USER,
        .fires = MEMBER_EVENTS,
        .handle = join_thread,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/thread-members/{thread.member.id}",
        .name = "remove_thread_member",
        .doc =
            "Leave a thread (@me), or remove a member: needs MANAGE_THREADS or a private thread of "
            "the caller's own.",
        .auth = ALL_KINDS,
        .fires = MEMBER_EVENTS,
        .allowed_when_restricted = true,
        .handle = remove_thread_member,
    },
    {
        .method = PATCH,
        .path = "/channels/{channel.id}/thread-members/@me/settings",
        .name = "modify_thread_settings",
        .doc = "Notification settings of the caller for a thread; 204 if nothing changes.",
        .auth = AUTH_USER,
        .body = &thread_settings_body,
        .reply = &type_thread_member,
        .fires = (const enum event[]){ EVENT_THREAD_MEMBER_UPDATE, EVENT_NONE },
        .allowed_when_restricted = true,
        .handle = modify_thread_settings,
    },
    { 0 },
};

const struct domain threads_domain = {
    .name = "Threads",
    .doc = "Threads of channels, and posts of forums.",
    .routes = routes,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &thread_leave_job, NULL },
    .hooks =
        &(const struct hook_listeners){ .thread_edit_admitted = check_modify_thread_permission,
                                        .thread_edited = modify_thread,
                                        .thread_deleted = delete_thread,
                                        .thread_unarchived = emit_thread_member_updates,
                                        .message_inserting = thread_add_author_and_mentioned_users,
                                        .member_left = leave_threads_of_guild,
                                        .audit_log_fill = audit_log_reply_add_threads },
};
