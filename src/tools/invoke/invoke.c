/* invoke.c - `guildhall invoke`: invokes an app's command as a user and prints the result.
 *
 * For app developers: the tool uses the public API like a client, so that a script can test an app
 * from outside. */
#include "tools/invoke/invoke.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "admin/control/control.h"
#include "server/guildhall.h"

#define INVOKE_OFFSET(member) .offset = offsetof(struct command_settings, invoke.member)

const struct option_row invoke_option_rows[] = {
    { "url", OPTION_TEXT, INVOKE_OFFSET(url), .value = "URL",
      .help =
          "URL of the server; default: the server that runs on --data, otherwise the address of "
          "--listen" },
    { "as", OPTION_TEXT, INVOKE_OFFSET(as), .value = "USER",
      .help = "Name of the user to act as; needs the server's data folder" },
    { "token", OPTION_TEXT, INVOKE_OFFSET(token), .value = "TOKEN",
      .help = "Token to use instead of --as, for a remote server" },
    { "channel", OPTION_TEXT, INVOKE_OFFSET(channel), .value = "CHANNEL",
      .help = "Channel: an id, a name, or GUILD/NAME" },
    { "app", OPTION_TEXT, INVOKE_OFFSET(app), .value = "APP",
      .help = "App of the command, if several apps have it" },
    { "user", OPTION_TEXT, INVOKE_OFFSET(user), .value = "USER",
      .help = "User that a user command is applied to" },
    { "message", OPTION_TEXT, INVOKE_OFFSET(message), .value = "ID",
      .help = "Message that a message command is applied to, or whose component is pressed" },
    { "complete", OPTION_SWITCH, INVOKE_OFFSET(complete), .fallback = "off",
      .help = "Print autocomplete choices for the last option instead of running the command" },
    { "press", OPTION_TEXT, INVOKE_OFFSET(press), .value = "ID[=VALUE,...]",
      .help = "Then press a button, or select from a menu, of the reply or of --message" },
    { "fill", OPTION_TEXT, INVOKE_OFFSET(fill), .value = "\"FIELD:VALUE ...\"",
      .help = "Fill in the form that the app responds with" },
    { "follow-ups", OPTION_INT, INVOKE_OFFSET(follow_ups), .fallback = "0", .min = 0, .max = 100,
      .help = "Number of messages after the reply to wait for" },
    { "wait", OPTION_INT, INVOKE_OFFSET(wait), .fallback = "30", .min = 1, .max = 900,
      .help = "Seconds to wait for an app that has deferred its reply" },
    { "json", OPTION_SWITCH, INVOKE_OFFSET(json), .fallback = "off",
      .help = "Print one line of JSON per step" },
    { 0 },
};

/* --- helpers -------------------------------------------------------------------------- */

bool print_invoke_error(const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "guildhall: ");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

void *invoke_get_json(struct invoke_command_state *v, const struct type *type, const char *path)
{
    struct api_client_response a;

    if (!api_client_get(v->wire, path, &a))
        return NULL;
    void *value = a.status == 200 ? schema_decode_or_null(type, a.body, v->arena) : NULL;
    if (!value)
        print_invoke_error("GET %s returned status %d: %.*s", path, a.status,
                           a.body.n > 500 ? 500 : (int)a.body.n, a.body.p);
    return value;
}

/* --- steps ---------------------------------------------------------------------------- */

static enum invoke_exit_status run_invoke_steps(struct invoke_command_state *v, const char *line)
{
    struct invocation_step s = { .name = v->options->complete ? "complete" : "command",
                                 .type = v->options->complete ? 4 : 2 };
    struct invocation_step_outcome out = { 0 };

    if (line) {
        if (!parse_command_line(v, line, &s.application_id, &s.data))
            return INVOKE_USAGE;
        out = submit_modal_if_requested(v, run_invocation_step(v, &s));
        if (out.status || !v->options->press)
            return out.status;
        if (!out.message)
            return print_invoke_error("there is no reply in which '%s' could be pressed",
                                      v->options->press),
                   INVOKE_USAGE;
    } else {
        out.message = fetch_message_named_by_option(v);
    }
    return out.message
               ? submit_modal_if_requested(v, press_message_component(v, out.message)).status
               : INVOKE_USAGE;
}

/* --fill without a form is an error, because a test that uses --fill expects a form. */
static enum invoke_exit_status run_invocation_and_check_fill(struct invoke_command_state *v,
                                                             const char *line)
{
    enum invoke_exit_status status = run_invoke_steps(v, line);

    if (status == INVOKE_REPLIED && v->options->fill && !v->filled)
        return print_invoke_error("the app responded with no form to fill in"), INVOKE_USAGE;
    return status;
}

/* --- authentication ------------------------------------------------------------------- */

/* Creates a token for this run only, so that runs can overlap; invoke_revoke_token deletes it. */
static bool get_user_token(struct invoke_command_state *v, const struct config *config)
{
    struct str request = str_printf(v->arena, "token %s", v->options->as);
    struct buf out;

    buf_init(&out, SIZE_MAX);
    enum err e =
        control_socket_send_request(config->data, str_dup_cstring(v->arena, request), &out);
    if (e)
        print_invoke_error(
            "--as needs the data folder of a running server, but no server runs on '%s'",
            config->data);
    else if (!out.n)
        print_invoke_error("there is no user '%s' on the server", v->options->as);
    else
        api_client_set_token(v->wire, str_dup_cstring(v->arena, buf_as_str(&out)));
    bool became = !e && out.n;
    buf_clear(&out);
    return became;
}

void invoke_revoke_token(struct invoke_command_state *v)
{
    struct api_client_response a;

    if (!v->options->as || !v->wire)
        return;
    api_client_request(v->wire, "POST", "/auth/logout", STR("{}"), NULL, 0, &a);
}

static const char *build_url_from_listen_option(const struct config *config, struct arena *arena)
{
    bool port_only = !strchr(config->listen, ':');

    return str_dup_cstring(
        arena, str_printf(arena, "http://%s%s", port_only ? "127.0.0.1:" : "", config->listen));
}

/* Returns the URL of the server. Requests it from the server that runs on the data folder; if none
 * runs, uses --listen. */
static const char *find_server_url(const struct config *config, struct arena *arena)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    bool received = control_socket_send_request(config->data, "address", &out) == OK && out.n;
    const char *url = received ? str_dup_cstring(arena, buf_as_str(&out))
                               : build_url_from_listen_option(config, arena);
    buf_clear(&out);
    return url;
}

bool invoke_connect(struct invoke_command_state *v, const struct config *config)
{
    const struct invoke_options *o = v->options;

    v->config = config;
    v->wire = api_client_new(o->url ? o->url : find_server_url(config, v->arena), v->arena);
    if (!v->wire)
        return false;
    if (!o->url)
        api_client_trust_only_server_of_folder(v->wire, config->data);
    if (!o->as)
        api_client_set_token(v->wire, o->token);
    return !o->as || get_user_token(v, config);
}

static enum invoke_exit_status connect_and_run_invocation(struct invoke_command_state *v,
                                                          const struct config *config,
                                                          const char *line)
{
    enum invoke_exit_status status = INVOKE_ERROR;

    if (!invoke_connect(v, config))
        return v->wire ? INVOKE_ERROR : INVOKE_USAGE;
    if (api_client_connect_gateway(v->wire))
        status = find_channel_of_option(v) ? run_invocation_and_check_fill(v, line) : INVOKE_USAGE;
    invoke_revoke_token(v);
    return status;
}

static const char *find_usage_error(const struct invoke_options *o, char **arguments)
{
    if (!arguments[0] && !(o->message && o->press))
        return "invoke needs a command (\"/command option:value\"), or --message ID --press COMPONENT";
    if (arguments[0] && arguments[1])
        return "a command and its options must be one argument: invoke \"/command option:value\"";
    if (!o->channel)
        return "invoke needs --channel";
    if (!o->as == !o->token)
        return "invoke needs --as USER or --token TOKEN";
    if (o->token && str_starts_with(str_of(o->token), STR("Bot ")))
        return "only users can use commands: --token must not be the token of a bot";
    return NULL;
}

int run_command_invoke(const struct command_settings *s, char **arguments)
{
    struct invoke_command_state v = { .options = &s->invoke, .arena = arena_new() };
    const char *wrong = find_usage_error(&s->invoke, arguments);
    int status = wrong ? print_usage_error(wrong)
                       : (int)connect_and_run_invocation(&v, &s->config, arguments[0]);

    api_client_free(v.wire);
    arena_free(v.arena);
    return status;
}
