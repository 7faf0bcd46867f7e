/* invoke.c - `guildhall invoke`: uses a command as somebody, and shows what comes back.
 *
 * For people who write apps: it does what a client does, over the public interface, so a
 * script can check an app from outside. */
#include "tools/invoke.h"

#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "guildhall.h"
#include "platform/accounts/operator.h"

#define AT(member) .offset = offsetof(struct settings, invoke.member)

const struct option_row invoke_rows[] = {
    { "url", OPTION_TEXT, AT(url), .value = "URL",
      .help = "The server; by default where --listen says" },
    { "as", OPTION_TEXT, AT(as), .value = "USER",
      .help = "Who uses it, by name; needs the server's data folder" },
    { "token", OPTION_TEXT, AT(token), .value = "TOKEN", .help = "Instead of --as, from anywhere" },
    { "channel", OPTION_TEXT, AT(channel), .value = "CHANNEL",
      .help = "Where: an id, a name, or GUILD/NAME" },
    { "app", OPTION_TEXT, AT(app), .value = "APP", .help = "Whose command, where several have it" },
    { "user", OPTION_TEXT, AT(user), .value = "USER", .help = "Whom a user command is about" },
    { "message", OPTION_TEXT, AT(message), .value = "ID",
      .help = "What a message command is about, or whose component is pressed" },
    { "complete", OPTION_SWITCH, AT(complete), .fallback = "off",
      .help = "Show choices for the last option instead of using the command" },
    { "press", OPTION_TEXT, AT(press), .value = "ID[=VALUE,...]",
      .help = "Then press a button, or choose from a menu, of the answer or of --message" },
    { "fill", OPTION_TEXT, AT(fill), .value = "\"FIELD:VALUE ...\"",
      .help = "Fill in the form that comes" },
    { "follow-ups", OPTION_INT, AT(follow_ups), .fallback = "0", .min = 0, .max = 100,
      .help = "Wait for so many messages after the answer" },
    { "wait", OPTION_INT, AT(wait), .fallback = "30", .min = 1, .max = 900,
      .help = "Seconds for an app that has asked for more time" },
    { "json", OPTION_SWITCH, AT(json), .fallback = "off",
      .help = "A line of JSON for each step, for programs" },
    { 0 },
};

/* --- what all files need -------------------------------------------------------------- */

bool invoke_complain(const char *fmt, ...)
{
    va_list args;

    fprintf(stderr, "guildhall: ");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

void *invoke_decode(struct invoking *v, const struct type *type, struct str text)
{
    struct form form = { .arena = v->arena };
    void *value;

    return schema_decode(type, text, &form, &value) ? NULL : value;
}

void *invoke_get(struct invoking *v, const struct type *type, const char *path)
{
    struct wire_answer a;

    if (!wire_get(v->wire, path, &a))
        return NULL;
    void *value = a.status == 200 ? invoke_decode(v, type, a.body) : NULL;
    if (!value)
        invoke_complain("GET %s was answered %d: %.*s", path, a.status,
                        a.body.n > 500 ? 500 : (int)a.body.n, a.body.p);
    return value;
}

/* --- all steps ------------------------------------------------------------------------ */

static enum invoke_status run(struct invoking *v, const char *line)
{
    struct step s = { .name = v->options->complete ? "complete" : "command",
                      .type = v->options->complete ? 4 : 2 };
    struct outcome out = { 0 };

    if (line) {
        if (!line_read(v, line, &s.application_id, &s.data))
            return INVOKE_USAGE;
        out = step_fill(v, step_take(v, &s));
        if (out.status || !v->options->press)
            return out.status;
        if (!out.message)
            return invoke_complain("there is no answer to press '%s' in", v->options->press),
                   INVOKE_USAGE;
    } else {
        out.message = message_named(v);
    }
    return out.message ? step_fill(v, step_press(v, out.message)).status : INVOKE_USAGE;
}

/* --- who ------------------------------------------------------------------------------ */

struct entrance {
    struct str token;
};
static const struct field entrance_fields[] = {
    { FIELD(struct entrance, token), .type = &type_text },
    { 0 },
};
static const struct schema entrance_schema = { .size = sizeof(struct entrance),
                                               .fields = entrance_fields };
static const struct type type_entrance = { .kind = KIND_OBJECT, .schema = &entrance_schema };

/* What proves to the server that we can read its key file. */
static struct str proof_of(struct invoking *v, const struct auth *auth)
{
    char proof[OPERATOR_PROOF + 1], nonce[OPERATOR_NONCE + 1];
    unsigned char chance[OPERATOR_NONCE / 2];
    struct operator_claim claim = { str_of(v->options->as), { nonce, OPERATOR_NONCE }, clock_s() };
    struct buf out;
    struct json j = json_to(&out);

    randombytes_buf(chance, sizeof chance);
    sodium_bin2hex(nonce, sizeof nonce, chance, sizeof chance);
    operator_proof(auth, &claim, proof);
    buf_init(&out, 4096);
    json_object(&j);
    json_name(&j, "username");
    json_text(&j, claim.username);
    json_name(&j, "nonce");
    json_text(&j, claim.nonce);
    json_name(&j, "at");
    json_int(&j, claim.at);
    json_name(&j, "proof");
    json_text(&j, str_of(proof));
    json_object_end(&j);
    struct str text = str_dup(v->arena, buf_str(&out));
    buf_clear(&out);
    return text;
}

/* A token of its own for each run, so that several can run at a time; it ends with it. */
static bool become(struct invoking *v, const struct config *config)
{
    struct str key = str_printf(v->arena, "%s/pepper.key", config->data);
    struct wire_answer a;
    struct auth *auth;

    /* Another folder would be given a key of its own. */
    if (access(str_dupz(v->arena, key), R_OK) != 0)
        return invoke_complain("--as needs the server's data folder, and there is no key to read "
                               "in '%s'",
                               config->data);
    if (auth_open(config->data, &auth))
        return false;
    struct str proof = proof_of(v, auth);
    auth_close(auth);
    if (!wire_call(v->wire, "POST", "/auth/operator", proof, NULL, 0, &a))
        return false;
    const struct entrance *in = a.status == 200 ? invoke_decode(v, &type_entrance, a.body) : NULL;
    if (in)
        wire_set_token(v->wire, str_dupz(v->arena, in->token));
    else if (a.status == 401)
        invoke_complain("'%s' is not the data folder of this server", config->data);
    else if (a.status == 429)
        invoke_complain("the server is asked too often; try again in a few seconds");
    else
        invoke_complain("the server knows no person '%s'", v->options->as);
    return in != NULL;
}

static void leave(struct invoking *v)
{
    struct wire_answer a;

    wire_call(v->wire, "POST", "/auth/logout", STR("{}"), NULL, 0, &a);
}

static const char *default_url(const struct config *config, struct arena *arena)
{
    bool port_only = !strchr(config->listen, ':');

    return str_dupz(
        arena, str_printf(arena, "http://%s%s", port_only ? "127.0.0.1:" : "", config->listen));
}

static enum invoke_status invoke(struct invoking *v, const struct config *config, const char *line)
{
    const struct invoke_options *o = v->options;
    enum invoke_status status = INVOKE_TROUBLE;

    v->wire = wire_new(o->url ? o->url : default_url(config, v->arena), v->arena);
    if (!v->wire)
        return INVOKE_USAGE;
    if (o->as && !become(v, config))
        return INVOKE_TROUBLE;
    if (!o->as)
        wire_set_token(v->wire, o->token);
    if (wire_connect(v->wire))
        status = place_find(v) ? run(v, line) : INVOKE_USAGE;
    if (o->as)
        leave(v);
    return status;
}

static const char *problem(const struct invoke_options *o, char **arguments)
{
    if (!arguments[0] && !(o->message && o->press))
        return "invoke \"/command option:value\", or --message ID --press COMPONENT";
    if (arguments[0] && arguments[1])
        return "a command and its options are one argument: invoke \"/command option:value\"";
    if (!o->channel)
        return "invoke needs --channel";
    if (!o->as == !o->token)
        return "invoke needs --as USER or --token TOKEN";
    if (o->token && str_starts(str_of(o->token), STR("Bot ")))
        return "commands are used by people: --token is not a bot's";
    return NULL;
}

int tool_invoke(const struct settings *s, char **arguments)
{
    struct invoking v = { .options = &s->invoke, .arena = arena_new() };
    const char *wrong = problem(&s->invoke, arguments);
    int status = wrong ? usage(wrong) : (int)invoke(&v, &s->config, arguments[0]);

    wire_free(v.wire);
    arena_free(v.arena);
    return status;
}
