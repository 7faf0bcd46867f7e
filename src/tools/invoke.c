/* invoke.c - `guildhall invoke`: uses a command as somebody, and shows what comes back.
 *
 * For people who write apps: it does what a client does, over the public interface, so a
 * script can check an app from outside. */
#include "tools/invoke.h"

#include <inttypes.h>
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
    { "press", OPTION_TEXT, AT(press), .value = "ID[=VALUE,…]",
      .help = "Then press a button, or choose from a menu, of the answer or of --message" },
    { "fill", OPTION_TEXT, AT(fill), .value = "\"FIELD:VALUE …\"",
      .help = "Fill in the form that comes" },
    { "follow-ups", OPTION_INT, AT(follow_ups), .fallback = "0", .min = 0, .max = 100,
      .help = "Wait for so many messages after the answer" },
    { "wait", OPTION_INT, AT(wait), .fallback = "30", .min = 1, .max = 900,
      .help = "Seconds for an app that has asked for more time" },
    { "json", OPTION_SWITCH, AT(json), .fallback = "off",
      .help = "A line of JSON for each step, for programs" },
    { 0 },
};

/* --- what all files need -------------------------------------------------------------------------
 */

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

/* --- one step
 * ---------------------------------------------------------------------------------------- */

struct step {
    const char *name;
    int64_t type; /* of the interaction */
    snowflake application_id;
    struct str data;                    /* JSON */
    const struct told_message *message; /* whose component it is */
};

static void write_step(struct invoking *v, const struct step *s, struct str nonce, struct buf *out)
{
    struct json j = json_to(out);

    json_object(&j);
    json_name(&j, "type");
    json_int(&j, s->type);
    json_name(&j, "application_id");
    json_id(&j, s->application_id);
    json_name(&j, "channel_id");
    json_id(&j, v->channel_id);
    if (v->guild_id) {
        json_name(&j, "guild_id");
        json_id(&j, v->guild_id);
    }
    if (s->message) {
        json_name(&j, "message_id");
        json_id(&j, s->message->id);
        json_name(&j, "message_flags");
        json_int(&j, s->message->flags);
    }
    if (wire_session(v->wire).n) {
        json_name(&j, "session_id");
        json_text(&j, wire_session(v->wire));
    }
    json_name(&j, "nonce");
    json_text(&j, nonce);
    json_name(&j, "data");
    json_raw(&j, s->data);
    json_object_end(&j);
}

static struct outcome take_step(struct invoking *v, const struct step *s)
{
    struct outcome out = { .step = s->name, .status = INVOKE_TROUBLE };
    struct str nonce = str_printf(v->arena, "%" PRIu32 "%09" PRIu32, randombytes_random(),
                                  randombytes_uniform(1000000000));
    struct wire_answer a;
    struct buf body;

    buf_init(&body, 1024 * 1024);
    write_step(v, s, nonce, &body);
    bool sent =
        wire_call(v->wire, "POST", "/interactions", buf_str(&body), v->files, v->file_count, &a);
    buf_clear(&body);
    v->file_count = 0;
    if (sent && a.status == 204) {
        outcome_await(v, nonce, s->message ? s->message->id : 0, &out);
    } else if (sent) {
        out.status = INVOKE_REFUSED;
        out.http_status = a.status;
        out.refusal = a.body;
    }
    outcome_show(v, &out);
    return out;
}

/* --- pressing
 * -------------------------------------------------------------------------------------------- */

static const struct component *find_component(const struct list *components, struct str id)
{
    for (size_t i = 0; i < components->count; i++) {
        const struct component *c = &((const struct component *)components->items)[i], *found;
        struct list inside = { c->component.value, c->component.value ? 1 : 0 },
                    beside = { c->accessory.value, c->accessory.value ? 1 : 0 };

        if (c->custom_id.given == GIVEN &&
            (str_eq(c->custom_id.value, id) ||
             (c->label.given == GIVEN && str_eq(c->label.value, id))))
            return c;
        if ((found = find_component(&c->components.value, id)) ||
            (found = find_component(&inside, id)) || (found = find_component(&beside, id)))
            return found;
    }
    return NULL;
}

static bool write_chosen(struct invoking *v, struct json *j, int64_t type, struct str value)
{
    snowflake id = 0;

    if (type == STRING_SELECT || type > CONTAINER) {
        json_text(j, value);
        return true;
    }
    if (type == ROLE_SELECT)
        id = role_named(v, value);
    else if (type == CHANNEL_SELECT)
        id = channel_named(v, value);
    else
        id = person_named(v, value);
    if (id)
        json_id(j, id);
    return id != 0;
}

static bool write_values(struct invoking *v, struct json *j, int64_t type, struct str values)
{
    bool ok = true;

    json_array(j);
    while (values.n && ok)
        ok = write_chosen(v, j, type, str_cut(&values, ','));
    json_array_end(j);
    return ok;
}

static bool press_data(struct invoking *v, const struct told_message *m, struct str *ret)
{
    struct str values = str_of(v->options->press), id = str_cut(&values, '=');
    struct list components = components_read(v->arena, m->components);
    const struct component *c = find_component(&components, id);
    struct buf out;
    struct json j = json_to(&out);

    if (!c)
        return invoke_complain("the message has no component '%.*s'", STR_FMT(id));
    buf_init(&out, 65536);
    json_object(&j);
    json_name(&j, "component_type");
    json_int(&j, c->type);
    json_name(&j, "custom_id");
    json_text(&j, c->custom_id.value);
    bool ok = true;
    if (component_is_select(c->type)) {
        json_name(&j, "values");
        ok = write_values(v, &j, c->type, values);
    }
    json_object_end(&j);
    *ret = str_dup(v->arena, buf_str(&out));
    buf_clear(&out);
    return ok;
}

static struct outcome press(struct invoking *v, const struct told_message *m)
{
    struct step s = { .name = "press", .type = 3, .message = m };
    struct outcome none = { .status = INVOKE_USAGE };

    s.application_id = m->application_id.given == GIVEN ? m->application_id.value : m->author->id;
    return press_data(v, m, &s.data) ? take_step(v, &s) : none;
}

static const struct told_message *named_message(struct invoking *v)
{
    struct wire_answer a;
    char path[128];

    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/%s", v->channel_id,
             v->options->message);
    if (!wire_get(v->wire, path, &a))
        return NULL;
    const struct told_message *m = a.status == 200 ? message_told(v, a.body) : NULL;
    if (!m)
        invoke_complain("there is no message '%s' here", v->options->message);
    return m;
}

/* --- forms
 * --------------------------------------------------------------------------------------------------
 */

static struct str filled(const struct list *pairs, const struct component *c, struct str label)
{
    const struct line_pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count; i++)
        if (str_eq(p[i].key, c->custom_id.value) || (label.n && str_eq(p[i].key, label)))
            return p[i].value;
    return c->value.given == GIVEN ? c->value.value : (struct str){ 0 };
}

static bool write_entry(struct invoking *v, struct json *j, const struct component *c,
                        const struct list *pairs, struct str label)
{
    struct str value = filled(pairs, c, label);
    bool ok = true;

    json_object(j);
    json_name(j, "type");
    json_int(j, c->type);
    json_name(j, "custom_id");
    json_text(j, c->custom_id.value);
    if (c->type == TEXT_INPUT || c->type == RADIO_GROUP) {
        json_name(j, "value");
        json_text(j, value.p ? value : STR(""));
    } else if (c->type == CHECKBOX) {
        json_name(j, "value");
        json_bool(j, str_is(value, "true") || str_is(value, "yes"));
    } else {
        json_name(j, "values");
        ok = write_values(v, j, c->type, value);
    }
    json_object_end(j);
    return ok;
}

static bool write_form_part(struct invoking *v, struct json *j, const struct component *c,
                            const struct list *pairs)
{
    const struct component *row = c->components.value.items;
    bool ok = true;

    json_object(j);
    json_name(j, "type");
    json_int(j, c->type);
    if (c->type == LABEL) {
        json_name(j, "component");
        ok = write_entry(v, j, c->component.value, pairs, c->label.value);
    } else if (c->type == ACTION_ROW) {
        json_name(j, "components");
        json_array(j);
        for (size_t i = 0; i < c->components.value.count && ok; i++)
            ok = write_entry(v, j, &row[i], pairs, row[i].label.value);
        json_array_end(j);
    }
    json_object_end(j);
    return ok;
}

static bool form_data(struct invoking *v, const struct told_modal *m, struct str *ret)
{
    struct list parts = components_read(v->arena, m->components), pairs = { 0 };
    struct buf out;
    struct json j = json_to(&out);

    if (!line_pairs(v, v->options->fill, &pairs))
        return false;
    buf_init(&out, 1024 * 1024);
    json_object(&j);
    json_name(&j, "id");
    json_id(&j, m->id);
    json_name(&j, "custom_id");
    json_text(&j, m->custom_id);
    json_name(&j, "components");
    json_array(&j);
    bool ok = true;
    for (size_t i = 0; i < parts.count && ok; i++)
        ok = write_form_part(v, &j, &((const struct component *)parts.items)[i], &pairs);
    json_array_end(&j);
    json_object_end(&j);
    *ret = str_dup(v->arena, buf_str(&out));
    buf_clear(&out);
    return ok;
}

/* A step that came to a form goes on when there is something to fill in. */
static struct outcome fill(struct invoking *v, struct outcome before)
{
    struct step s = { .name = "fill", .type = 5 };
    struct outcome none = { .status = INVOKE_USAGE };

    if (before.status || !before.modal || !v->options->fill)
        return before;
    s.application_id = before.modal->application->id;
    return form_data(v, before.modal, &s.data) ? take_step(v, &s) : none;
}

/* --- all steps
 * ------------------------------------------------------------------------------------------------
 */

static enum invoke_status run(struct invoking *v, const char *line)
{
    struct step s = { .name = v->options->complete ? "complete" : "command",
                      .type = v->options->complete ? 4 : 2 };
    struct outcome out = { 0 };

    if (line) {
        if (!line_read(v, line, &s.application_id, &s.data))
            return INVOKE_USAGE;
        out = fill(v, take_step(v, &s));
        if (out.status || !v->options->press)
            return out.status;
        if (!out.message)
            return invoke_complain("there is no answer to press '%s' in", v->options->press),
                   INVOKE_USAGE;
    } else {
        out.message = named_message(v);
    }
    return out.message ? fill(v, press(v, out.message)).status : INVOKE_USAGE;
}

/* --- who
 * -----------------------------------------------------------------------------------------------------------
 */

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
    char proof[OPERATOR_PROOF + 1];
    struct str name = str_of(v->options->as);
    int64_t now = clock_s();
    struct buf out;
    struct json j = json_to(&out);

    operator_proof(auth, name, now, proof);
    buf_init(&out, 4096);
    json_object(&j);
    json_name(&j, "username");
    json_text(&j, name);
    json_name(&j, "at");
    json_int(&j, now);
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
    struct wire_answer a;
    struct auth *auth;

    if (access(config->data, R_OK) != 0)
        return invoke_complain("--as needs the server's data folder, and '%s' cannot be read",
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
