/* act.c - `guildhall say`, `react`, `join` and `leave`: act as a user and wait for a bot's
 * reply. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tools/invoke/invoke.h"

#define ACT_OFFSET(member)     .offset = offsetof(struct command_settings, invoke.member)
#define NANOSECONDS_PER_SECOND INT64_C(1000000000)

const struct option_row act_option_rows[] = {
    { "url", OPTION_TEXT, ACT_OFFSET(url), .value = "URL",
      .help = "URL of the server; default: the server that runs on --data" },
    { "as", OPTION_TEXT, ACT_OFFSET(as), .value = "USER",
      .help = "Name of the user to act as; needs the server's data folder" },
    { "token", OPTION_TEXT, ACT_OFFSET(token), .value = "TOKEN",
      .help = "Token to use instead of --as, for a remote server" },
    { "channel", OPTION_TEXT, ACT_OFFSET(channel), .value = "CHANNEL",
      .help = "Channel: an id, a name, or GUILD/NAME" },
    { "message", OPTION_TEXT, ACT_OFFSET(message), .value = "ID",
      .help = "react: id of the message; default: the newest message" },
    { "by", OPTION_TEXT, ACT_OFFSET(by), .value = "USER",
      .help = "join: member who creates the invite" },
    { "expect", OPTION_TEXT, ACT_OFFSET(expect), .value = "TEXT",
      .help = "Wait until another user sends a message that contains this" },
    { "wait", OPTION_INT, ACT_OFFSET(wait), .fallback = "10", .min = 1, .max = 900,
      .help = "Seconds to wait for it; then the exit status is 5" },
    { "json", OPTION_SWITCH, ACT_OFFSET(json), .fallback = "off",
      .help = "Print the message as JSON" },
    { 0 },
};

/* --- expected reply ------------------------------------------------------------------- */

static bool text_contains(struct str text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static bool message_contains_expected_text(const struct invoke_command_state *v,
                                           const struct received_message *m)
{
    const char *part = v->options->expect;

    return text_contains(m->content, part) || text_contains(m->embeds, part) ||
           text_contains(m->components, part);
}

/* The user as whom the tool acts. Messages of this user are not replies. */
struct current_user {
    snowflake id;
};
static const struct field self_fields[] = {
    { FIELD(struct current_user, id), .type = &type_id },
    { 0 },
};
static const struct schema self_schema = { .size = sizeof(struct current_user),
                                           .fields = self_fields };
static const struct type type_self = { .kind = KIND_OBJECT, .schema = &self_schema };

static enum invoke_exit_status wait_for_expected_message(struct invoke_command_state *v)
{
    const struct current_user *me = invoke_get_json(v, &type_self, "/users/@me");
    int64_t until = clock_monotonic_ns() + v->options->wait * NANOSECONDS_PER_SECOND;
    struct api_client_event e;
    enum api_client_event_result result;

    if (!me)
        return INVOKE_ERROR;
    while ((result = api_client_wait_for_event(v->wire, until, &e)) == CLIENT_EVENT) {
        if (!str_is(e.name, "MESSAGE_CREATE") && !str_is(e.name, "MESSAGE_UPDATE"))
            continue;
        const struct received_message *m = decode_received_message(v, e.data);
        if (!m || !m->author || m->author->id == me->id || !message_contains_expected_text(v, m))
            continue;
        if (v->options->json)
            printf("%.*s\n", STR_ARGS(e.data));
        else
            printf("%.*s: %.*s\n", STR_ARGS(m->author->username), STR_ARGS(m->content));
        return INVOKE_REPLIED;
    }
    if (result == CLIENT_CONNECTION_LOST)
        return INVOKE_ERROR;
    print_invoke_error("no message that contains '%s' was sent within %lld seconds",
                       v->options->expect, (long long)v->options->wait);
    return INVOKE_TIMED_OUT;
}

/* --- messages and reactions ----------------------------------------------------------- */

static enum invoke_exit_status send_request_of_user_action(struct invoke_command_state *v,
                                                           const char *method, struct str path,
                                                           struct str body)
{
    struct api_client_response a;

    if (!api_client_request(v->wire, method, str_dup_cstring(v->arena, path), body, NULL, 0, &a))
        return INVOKE_ERROR;
    if (a.status >= 200 && a.status < 300)
        return INVOKE_REPLIED;
    print_invoke_error("the server refused the request: %d %.*s", a.status, STR_ARGS(a.body));
    return INVOKE_REFUSED;
}

static enum invoke_exit_status send_message(struct invoke_command_state *v, const char *text)
{
    struct buf body;
    struct json_writer j = json_writer_to_buf(&body);

    if (!find_channel_of_option(v))
        return INVOKE_USAGE;
    buf_init(&body, 64 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "content");
    json_write_text(&j, str_of(text));
    json_end_object(&j);
    struct str path =
        str_printf(v->arena, "/channels/%llu/messages", (unsigned long long)v->channel_id);
    enum invoke_exit_status status =
        send_request_of_user_action(v, "POST", path, buf_as_str(&body));
    buf_clear(&body);
    return status;
}

static const struct type type_selves = { .kind = KIND_ARRAY, .of = &type_self };

static snowflake find_message_to_act_on(struct invoke_command_state *v)
{
    struct str path =
        str_printf(v->arena, "/channels/%llu/messages?limit=1", (unsigned long long)v->channel_id);
    snowflake id = 0;

    if (v->options->message) {
        if (!snowflake_parse(str_of(v->options->message), &id))
            print_invoke_error("'%s' is not the id of a message", v->options->message);
        return id;
    }
    const struct list *last = invoke_get_json(v, &type_selves, str_dup_cstring(v->arena, path));
    if (last && last->count)
        return ((const struct current_user *)last->items)->id;
    print_invoke_error("there is no message to react to");
    return 0;
}

static enum invoke_exit_status add_reaction(struct invoke_command_state *v, const char *emoji)
{
    snowflake message = find_channel_of_option(v) ? find_message_to_act_on(v) : 0;
    struct str path;

    if (!message)
        return INVOKE_USAGE;
    path = str_printf(v->arena, "/channels/%llu/messages/%llu/reactions/",
                      (unsigned long long)v->channel_id, (unsigned long long)message);
    path = STR_CONCAT(v->arena, path, str_percent_encode(v->arena, str_of(emoji)), STR("/@me"));
    return send_request_of_user_action(v, "PUT", path, STR("{}"));
}

/* --- guilds --------------------------------------------------------------------------- */

struct act_guild {
    snowflake id;
    struct str name;
};
static const struct field guild_fields[] = {
    { FIELD(struct act_guild, id), .type = &type_id },
    { FIELD(struct act_guild, name), .type = &type_text },
    { 0 },
};
static const struct schema guild_schema = { .size = sizeof(struct act_guild),
                                            .fields = guild_fields };
static const struct type type_act_guild = { .kind = KIND_OBJECT, .schema = &guild_schema };
static const struct type type_act_guilds = { .kind = KIND_ARRAY, .of = &type_act_guild };

struct act_channel {
    snowflake id;
    int64_t type;
};
static const struct field channel_fields[] = {
    { FIELD(struct act_channel, id), .type = &type_id },
    { FIELD(struct act_channel, type), .type = &type_int },
    { 0 },
};
static const struct schema channel_schema = { .size = sizeof(struct act_channel),
                                              .fields = channel_fields };
static const struct type type_act_channel = { .kind = KIND_OBJECT, .schema = &channel_schema };
static const struct type type_act_channels = { .kind = KIND_ARRAY, .of = &type_act_channel };

struct act_invite {
    struct str code;
};
static const struct field invite_fields[] = {
    { FIELD(struct act_invite, code), .type = &type_text },
    { 0 },
};
static const struct schema invite_schema = { .size = sizeof(struct act_invite),
                                             .fields = invite_fields };
static const struct type type_act_invite = { .kind = KIND_OBJECT, .schema = &invite_schema };

/* Finds a guild of the user by id or name; prints an error and returns 0 if there is none. */
static snowflake find_guild_of_user(struct invoke_command_state *v, const char *word)
{
    const struct list *guilds = invoke_get_json(v, &type_act_guilds, "/users/@me/guilds");
    const struct act_guild *g = guilds ? guilds->items : NULL;
    snowflake id = 0;

    snowflake_parse(str_of(word), &id);
    for (size_t i = 0; guilds && i < guilds->count; i++)
        if (g[i].id == id || str_is(g[i].name, word))
            return g[i].id;
    if (guilds)
        print_invoke_error("this account is in no guild '%s'", word);
    return 0;
}

static snowflake find_first_text_channel(struct invoke_command_state *v, snowflake guild)
{
    struct str path = str_printf(v->arena, "/guilds/%llu/channels", (unsigned long long)guild);
    const struct list *list =
        invoke_get_json(v, &type_act_channels, str_dup_cstring(v->arena, path));
    const struct act_channel *c = list ? list->items : NULL;

    for (size_t i = 0; list && i < list->count; i++)
        if (c[i].type == 0)
            return c[i].id;
    print_invoke_error("the guild has no text channel to create an invite for");
    return 0;
}

/* Creates an invite as the member that --by names; prints an error and returns NULL on failure. */
static const char *create_invite_as_member(struct invoke_command_state *v,
                                           const struct config *config, const char *guild)
{
    struct invoke_options options = { .as = v->options->by, .url = v->options->url };
    struct invoke_command_state member = { .options = &options, .arena = v->arena };
    const struct act_invite *invite = NULL;
    struct api_client_response a;

    if (invoke_connect(&member, config)) {
        snowflake id = find_guild_of_user(&member, guild);
        snowflake channel = id ? find_first_text_channel(&member, id) : 0;
        struct str path =
            str_printf(v->arena, "/channels/%llu/invites", (unsigned long long)channel);

        if (channel && api_client_request(member.wire, "POST", str_dup_cstring(v->arena, path),
                                          STR("{\"max_uses\":1}"), NULL, 0, &a)) {
            invite = a.status == 200 ? schema_decode_or_null(&type_act_invite, a.body, member.arena)
                                     : NULL;
            if (!invite)
                print_invoke_error("%s could not create an invite: %d %.*s", options.as, a.status,
                                   STR_ARGS(a.body));
        }
        invoke_revoke_token(&member);
    }
    api_client_free(member.wire);
    return invite ? str_dup_cstring(v->arena, invite->code) : NULL;
}

static enum invoke_exit_status join_guild(struct invoke_command_state *v,
                                          const struct config *config, const char *word)
{
    const char *code = v->options->by ? create_invite_as_member(v, config, word) : word;

    if (!code)
        return INVOKE_USAGE;
    struct str path =
        STR_CONCAT(v->arena, STR("/invites/"), str_percent_encode(v->arena, str_of(code)));
    return send_request_of_user_action(v, "POST", path, STR("{}"));
}

static enum invoke_exit_status leave_guild(struct invoke_command_state *v, const char *word)
{
    snowflake guild = find_guild_of_user(v, word);

    if (!guild)
        return INVOKE_USAGE;
    return send_request_of_user_action(
        v, "DELETE", str_printf(v->arena, "/users/@me/guilds/%llu", (unsigned long long)guild),
        STR("{}"));
}

/* --- commands ------------------------------------------------------------------------- */

enum act_kind { ACT_SAY, ACT_REACT, ACT_JOIN, ACT_LEAVE };

static enum invoke_exit_status perform_user_action(struct invoke_command_state *v,
                                                   const struct config *config, enum act_kind kind,
                                                   const char *word)
{
    switch (kind) {
    case ACT_SAY:
        return send_message(v, word);
    case ACT_REACT:
        return add_reaction(v, word);
    case ACT_JOIN:
        return join_guild(v, config, word);
    default:
        return leave_guild(v, word);
    }
}

static int run_user_action_command(const struct command_settings *s, enum act_kind kind,
                                   char **arguments, const char *usage_words)
{
    struct invoke_command_state v = { .options = &s->invoke, .arena = arena_new() };
    bool placed = kind == ACT_SAY || kind == ACT_REACT;
    enum invoke_exit_status status = INVOKE_ERROR;

    if (!arguments[0] || arguments[1] || !s->invoke.as == !s->invoke.token ||
        (placed && !s->invoke.channel)) {
        status = (enum invoke_exit_status)print_usage_forms(usage_words);
    } else if (invoke_connect(&v, &s->config)) {
        /* Connect to the gateway before acting, so that an early reply is not missed. */
        if (!s->invoke.expect || api_client_connect_gateway(v.wire))
            status = perform_user_action(&v, &s->config, kind, arguments[0]);
        if (!status && s->invoke.expect)
            status = wait_for_expected_message(&v);
        invoke_revoke_token(&v);
    }
    api_client_free(v.wire);
    arena_free(v.arena);
    return (int)status;
}

int run_command_say(const struct command_settings *s, char **arguments)
{
    return run_user_action_command(s, ACT_SAY, arguments,
                                   "say \"TEXT\" --as USER --channel CHANNEL [--expect TEXT]");
}

int run_command_react(const struct command_settings *s, char **arguments)
{
    return run_user_action_command(
        s, ACT_REACT, arguments,
        "react EMOJI --as USER --channel CHANNEL [--message ID] [--expect TEXT]");
}

int run_command_join(const struct command_settings *s, char **arguments)
{
    return run_user_action_command(s, ACT_JOIN, arguments,
                                   "join CODE --as USER, or join GUILD --as USER --by MEMBER");
}

int run_command_leave(const struct command_settings *s, char **arguments)
{
    return run_user_action_command(s, ACT_LEAVE, arguments, "leave GUILD --as USER");
}
