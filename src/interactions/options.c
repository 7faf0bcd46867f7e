/* options.c - validates the options of a command invocation. */
#include "interactions/invoke.h"

#include <inttypes.h>
#include <math.h>

#include "base/utf8.h"
#include "json/read.h"
#include "model/fields/rows.h"

/* Refuses an option. Clients read option errors at data.options, whichever option is wrong. */
static enum err option_refuse(struct call *call, const char *code, const char *message,
                              struct str name)
{
    struct place data = place_key(NULL, STR("data")), at = place_key(&data, STR("options"));
    struct str quoted = form_quote(name);

    form_fail(&call->form, &at, code, "%s \"%.*s\"", message, STR_FMT(quoted));
    return ERR_INVALID_FORM_BODY;
}

static enum err refuse_option(struct call *call, struct str name)
{
    return option_refuse(call, "INTERACTION_APPLICATION_COMMAND_OPTION_INVALID",
                         "Invalid interaction application command option", name);
}

static enum err refuse_missing(struct call *call, struct str name)
{
    return option_refuse(call, "INTERACTION_APPLICATION_COMMAND_OPTION_MISSING",
                         "Missing interaction application command option", name);
}

static enum err refuse_value(struct call *call, struct str name)
{
    return option_refuse(
        call, "INTERACTION_APPLICATION_COMMAND_OPTIONS_VALUE_INVALID",
        "Application command interaction option values must be of type string, integer, "
        "or boolean:",
        name);
}

/* One option while it is parsed: its definition, the submitted value, and the value for the app. */
struct option_taking {
    struct call *call;
    const struct command_option *def;
    const struct option_in *in;
    struct option_out *out;
};

static bool option_autocompletes(const struct call *call)
{
    return ((const struct invocation *)call->body)->type == INTERACTION_AUTOCOMPLETE;
}

static bool is_focused(const struct option_in *in)
{
    return in->focused.given == GIVEN && in->focused.value;
}

static const struct type type_real = { .kind = KIND_REAL };

static struct str option_quoted(struct arena *arena, struct str text)
{
    return column_encode(arena, &type_text, &text);
}

/* --- values --------------------------------------------------------------------------- */

static bool is_choice_text(const struct command_option *def, struct str text)
{
    const struct command_choice *c = def->choices.value.items;

    for (size_t i = 0; i < def->choices.value.count; i++)
        if (choice_is_text(&c[i], text))
            return true;
    return false;
}

static bool is_choice_number(const struct command_option *def, double number)
{
    const struct command_choice *c = def->choices.value.items;

    for (size_t i = 0; i < def->choices.value.count; i++)
        if (choice_is_number(&c[i], number))
            return true;
    return false;
}

static enum err take_string(struct option_taking *t, struct json_reader *r)
{
    const struct command_option *def = t->def;
    struct str text;

    if (json_peek(r) != JSON_STRING || !json_take_string(r, &text))
        return refuse_value(t->call, def->name);
    int64_t length = (int64_t)utf8_length(text);
    if (length > COMMAND_MOST_LENGTH)
        return refuse_option(t->call, def->name);
    bool good = def->choices.value.count
                    ? is_choice_text(def, text)
                    : !(def->min_length.given == GIVEN && length < def->min_length.value) &&
                          !(def->max_length.given == GIVEN && length > def->max_length.value);
    t->out->value = given_str(option_quoted(t->call->arena, text));
    return good ? OK : refuse_option(t->call, def->name);
}

static enum err take_number(struct option_taking *t, struct json_reader *r)
{
    const int64_t most = INT64_C(1) << 53;
    const struct command_option *def = t->def;
    bool whole = def->type == OPTION_INTEGER;
    struct json_number n;

    if (json_peek(r) != JSON_NUMBER || !json_take_number(r, &n) || (whole && n.kind == NUMBER_REAL))
        return refuse_value(t->call, def->name);
    /* Compare integers without conversion to double, which would round them. */
    bool small = n.kind == NUMBER_INT ? n.i <= most && n.i >= -most
                                      : isfinite(n.d) && fabs(n.d) <= (double)most;
    if (!small)
        return refuse_option(t->call, def->name);
    bool good = def->choices.value.count
                    ? is_choice_number(def, n.d)
                    : !(def->min_value.given == GIVEN && n.d < def->min_value.value) &&
                          !(def->max_value.given == GIVEN && n.d > def->max_value.value);
    t->out->value = given_str(whole ? str_printf(t->call->arena, "%" PRId64, n.i)
                                    : column_encode(t->call->arena, &type_real, &n.d));
    return good ? OK : refuse_option(t->call, def->name);
}

static enum err take_bool(struct option_taking *t, struct json_reader *r)
{
    bool v;

    if (json_peek(r) != JSON_BOOL || !json_take_bool(r, &v))
        return refuse_value(t->call, t->def->name);
    t->out->value = given_str(v ? STR("true") : STR("false"));
    return OK;
}

/* Parses an id, which some clients send as a number. */
static bool read_id(struct json_reader *r, snowflake *ret)
{
    struct json_number n;
    struct str text;

    if (json_peek(r) == JSON_STRING)
        return json_take_string(r, &text) && snowflake_parse(text, ret);
    if (json_peek(r) != JSON_NUMBER || !json_take_number(r, &n) || n.kind != NUMBER_INT || n.i < 0)
        return false;
    *ret = (snowflake)n.i;
    return true;
}

static enum err find_named(struct call *call, const struct command_option *def, snowflake id,
                           bool *ret_found)
{
    switch ((enum option_type)def->type) {
    case OPTION_USER:
        return resolve_user(call, id, ret_found);
    case OPTION_ROLE:
        return resolve_role(call, id, ret_found);
    case OPTION_CHANNEL:
        return resolve_channel(call, id, &def->channel_types.value, ret_found);
    default:
        return resolve_mentionable(call, id, ret_found);
    }
}

static enum err take_id(struct option_taking *t, struct json_reader *r)
{
    snowflake id;
    bool found;

    if (!read_id(r, &id))
        return refuse_value(t->call, t->def->name);
    enum err e = find_named(t->call, t->def, id, &found);
    if (!e && !found)
        e = refuse_option(t->call, t->def->name);
    t->out->value = given_str(str_printf(t->call->arena, "\"%" PRIu64 "\"", id));
    return e;
}

/* Accepts an uploaded file: the value is the number of the file; the app gets its attachment id. */
static enum err take_file(struct option_taking *t, struct json_reader *r)
{
    struct file_out *file;
    snowflake number;

    if (!read_id(r, &number))
        return refuse_value(t->call, t->def->name);
    if (!file_take(t->call, number, &t->def->file_types.value, &file))
        return refuse_option(t->call, t->def->name);
    t->out->value = given_str(str_printf(t->call->arena, "\"%" PRIu64 "\"", file->kept.id));
    return OK;
}

static enum err take_value(struct option_taking *t)
{
    struct json_reader r;

    if (t->in->value.given != GIVEN || t->in->options.value.count)
        return refuse_value(t->call, t->def->name);
    json_reader_init(&r, t->in->value.value, t->call->arena);
    switch ((enum option_type)t->def->type) {
    case OPTION_STRING:
        return take_string(t, &r);
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        return take_number(t, &r);
    case OPTION_BOOLEAN:
        return take_bool(t, &r);
    case OPTION_ATTACHMENT:
        return take_file(t, &r);
    default:
        return take_id(t, &r);
    }
}

/* Accepts the focused option as text, whatever its type is, because it is incomplete. */
static enum err take_focused(struct option_taking *t)
{
    struct invoking *v = invoking_of(t->call);
    struct json_reader r;
    struct json_number n;
    struct str text = STR("");

    if (v->it.focused_type || t->def->autocomplete.given != GIVEN || !t->def->autocomplete.value)
        return refuse_option(t->call, t->def->name);
    v->it.focused_type = t->def->type;
    t->out->focused = given_bool(true);
    if (t->in->value.given == GIVEN) {
        json_reader_init(&r, t->in->value.value, t->call->arena);
        if (json_peek(&r) == JSON_NUMBER && json_take_number(&r, &n))
            text = n.raw;
        else if (json_peek(&r) != JSON_STRING || !json_take_string(&r, &text))
            return refuse_value(t->call, t->def->name);
    }
    if (utf8_length(text) > COMMAND_MOST_LENGTH)
        return refuse_option(t->call, t->def->name);
    t->out->value = given_str(option_quoted(t->call->arena, text));
    return OK;
}

/* --- lists of options ----------------------------------------------------------------- */

static enum err take_list(struct call *call, const struct opt_list *defs,
                          const struct opt_list *given, struct list *ret);

static bool is_branch(const struct command_option *def)
{
    return def->type == OPTION_SUB_COMMAND || def->type == OPTION_SUB_COMMAND_GROUP;
}

static const struct command_option *option_named(const struct opt_list *defs, struct str name)
{
    const struct command_option *def = defs->value.items;

    for (size_t i = 0; i < defs->value.count; i++)
        if (str_eq(def[i].name, name))
            return &def[i];
    return NULL;
}

static enum err take_branch(struct option_taking *t)
{
    struct invoking *v = invoking_of(t->call);

    if (t->in->value.given == GIVEN || is_focused(t->in))
        return refuse_value(t->call, t->def->name);
    /* A sub-command group without sub-commands cannot be used. */
    if (t->def->type == OPTION_SUB_COMMAND_GROUP && !t->def->options.value.count)
        return refuse_option(t->call, t->def->name);
    v->it.name = STR_CONCAT(t->call->arena, v->it.name, STR(" "), t->def->name);
    t->out->options.given = GIVEN;
    return take_list(t->call, &t->def->options, &t->in->options, &t->out->options.value);
}

static enum err take_option(struct option_taking *t)
{
    t->out->type = t->def->type;
    t->out->name = t->def->name;
    if (is_branch(t->def))
        return take_branch(t);
    return option_autocompletes(t->call) && is_focused(t->in) ? take_focused(t) : take_value(t);
}

static bool given_before(const struct option_in *in, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(in[j].name, in[i].name))
            return true;
    return false;
}

/* Returns true for attachment options of an autocomplete call, which are left out. */
static bool is_dropped(const struct call *call, const struct command_option *def)
{
    return option_autocompletes(call) && def->type == OPTION_ATTACHMENT;
}

static enum err check_required(struct call *call, const struct opt_list *defs,
                               const struct opt_list *given)
{
    const struct command_option *def = defs->value.items;
    const struct option_in *in = given->value.items;

    for (size_t i = 0; i < defs->value.count; i++) {
        bool there = def[i].required.given != GIVEN || !def[i].required.value;

        for (size_t j = 0; j < given->value.count; j++)
            there = there || str_eq(in[j].name, def[i].name);
        if (!there)
            return refuse_missing(call, def[i].name);
    }
    return OK;
}

static enum err take_list(struct call *call, const struct opt_list *defs,
                          const struct opt_list *given, struct list *ret)
{
    const struct option_in *in = given->value.items;
    const struct command_option *first = defs->value.items;
    size_t count = given->value.count;

    /* Exactly one sub-command must be given. */
    if (defs->value.count && is_branch(first) && count != 1)
        return count ? refuse_option(call, in[1].name) : refuse_missing(call, first->name);
    for (size_t i = 0; i < count; i++) {
        const struct command_option *def = option_named(defs, in[i].name);

        if (!def || def->type != in[i].type || given_before(in, i))
            return refuse_option(call, in[i].name);
        if (is_dropped(call, def))
            continue;
        struct option_taking t = { call, def, &in[i],
                                   list_add(call->arena, ret, sizeof(struct option_out)) };
        enum err e = take_option(&t);
        if (e)
            return e;
    }
    return option_autocompletes(call) ? OK : check_required(call, defs, given);
}

enum err options_take(struct call *call)
{
    struct invoking *v = invoking_of(call);
    const struct data_in *in = ((const struct invocation *)call->body)->data;
    enum err e = take_list(call, &v->command.options, &in->options, &v->options);

    if (!e && option_autocompletes(call) && !v->it.focused_type)
        e = refuse_missing(call, STR("focused"));
    return e;
}
