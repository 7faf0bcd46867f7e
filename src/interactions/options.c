/* options.c - validates the options of a command invocation. */
#include "interactions/invoke.h"

#include <inttypes.h>
#include <math.h>

#include "base/utf8.h"
#include "json/read.h"
#include "model/fields/rows.h"

/* Refuses an option. Clients expect option errors at data.options, whichever option is wrong. */
static enum err refuse_option_with_code(struct call *call, const char *code, const char *message,
                                        struct str name)
{
    struct json_path data = json_path_key(NULL, STR("data")),
                     at = json_path_key(&data, STR("options"));
    struct str quoted = form_shorten_quoted_value(name);

    form_add_error(&call->form, &at, code, "%s \"%.*s\"", message, STR_ARGS(quoted));
    return ERR_INVALID_FORM_BODY;
}

static enum err refuse_invalid_option(struct call *call, struct str name)
{
    return refuse_option_with_code(call, "INTERACTION_APPLICATION_COMMAND_OPTION_INVALID",
                                   "Invalid interaction application command option", name);
}

static enum err refuse_missing_option(struct call *call, struct str name)
{
    return refuse_option_with_code(call, "INTERACTION_APPLICATION_COMMAND_OPTION_MISSING",
                                   "Missing interaction application command option", name);
}

static enum err refuse_option_value(struct call *call, struct str name)
{
    return refuse_option_with_code(
        call, "INTERACTION_APPLICATION_COMMAND_OPTIONS_VALUE_INVALID",
        "Application command interaction option values must be of type string, integer, "
        "or boolean:",
        name);
}

/* State while an option is parsed: its definition, the submitted value, and the value for the
 * app. */
struct option_parser {
    struct call *call;
    const struct command_option *def;
    const struct submitted_option *in;
    struct interaction_payload_option *out;
};

static bool is_autocomplete_call(const struct call *call)
{
    return ((const struct interaction_request_body *)call->body)->type == INTERACTION_AUTOCOMPLETE;
}

static bool is_focused_option(const struct submitted_option *in)
{
    return in->focused.given == GIVEN && in->focused.value;
}

static const struct type type_real = { .kind = KIND_REAL };

static struct str encode_json_string(struct arena *arena, struct str text)
{
    return json_column_encode(arena, &type_text, &text);
}

/* --- values --------------------------------------------------------------------------- */

static bool text_is_choice_of_option(const struct command_option *def, struct str text)
{
    const struct command_choice *c = def->choices.value.items;

    for (size_t i = 0; i < def->choices.value.count; i++)
        if (command_choice_equals_text(&c[i], text))
            return true;
    return false;
}

static bool number_is_choice_of_option(const struct command_option *def, double number)
{
    const struct command_choice *c = def->choices.value.items;

    for (size_t i = 0; i < def->choices.value.count; i++)
        if (command_choice_equals_number(&c[i], number))
            return true;
    return false;
}

static enum err parse_string_option(struct option_parser *t, struct json_reader *r)
{
    const struct command_option *def = t->def;
    struct str text;

    if (json_peek_kind(r) != JSON_STRING || !json_read_string(r, &text))
        return refuse_option_value(t->call, def->name);
    int64_t length = (int64_t)utf8_length(text);
    if (length > COMMAND_MAX_LENGTH)
        return refuse_invalid_option(t->call, def->name);
    bool good = def->choices.value.count
                    ? text_is_choice_of_option(def, text)
                    : !(def->min_length.given == GIVEN && length < def->min_length.value) &&
                          !(def->max_length.given == GIVEN && length > def->max_length.value);
    t->out->value = opt_str_or_null(encode_json_string(t->call->arena, text));
    return good ? OK : refuse_invalid_option(t->call, def->name);
}

static enum err parse_number_option(struct option_parser *t, struct json_reader *r)
{
    const int64_t most = INT64_C(1) << 53;
    const struct command_option *def = t->def;
    bool whole = def->type == OPTION_INTEGER;
    struct json_number n;

    if (json_peek_kind(r) != JSON_NUMBER || !json_read_number(r, &n) ||
        (whole && n.kind == NUMBER_REAL))
        return refuse_option_value(t->call, def->name);
    /* An integer is compared without conversion to double, which would round it. */
    bool small = n.kind == NUMBER_INT ? n.i <= most && n.i >= -most
                                      : isfinite(n.d) && fabs(n.d) <= (double)most;
    if (!small)
        return refuse_invalid_option(t->call, def->name);
    bool good = def->choices.value.count
                    ? number_is_choice_of_option(def, n.d)
                    : !(def->min_value.given == GIVEN && n.d < def->min_value.value) &&
                          !(def->max_value.given == GIVEN && n.d > def->max_value.value);
    t->out->value = opt_str_or_null(whole ? str_printf(t->call->arena, "%" PRId64, n.i)
                                          : json_column_encode(t->call->arena, &type_real, &n.d));
    return good ? OK : refuse_invalid_option(t->call, def->name);
}

static enum err parse_bool_option(struct option_parser *t, struct json_reader *r)
{
    bool v;

    if (json_peek_kind(r) != JSON_BOOL || !json_read_bool(r, &v))
        return refuse_option_value(t->call, t->def->name);
    t->out->value = opt_str_or_null(v ? STR("true") : STR("false"));
    return OK;
}

/* Parses an id, which some clients send as a number. */
static bool parse_json_id(struct json_reader *r, snowflake *ret)
{
    struct json_number n;
    struct str text;

    if (json_peek_kind(r) == JSON_STRING)
        return json_read_string(r, &text) && snowflake_parse(text, ret);
    if (json_peek_kind(r) != JSON_NUMBER || !json_read_number(r, &n) || n.kind != NUMBER_INT ||
        n.i < 0)
        return false;
    *ret = (snowflake)n.i;
    return true;
}

static enum err resolve_option_id(struct call *call, const struct command_option *def, snowflake id,
                                  bool *ret_found)
{
    switch ((enum command_option_type)def->type) {
    case OPTION_USER:
        return resolve_user_option(call, id, ret_found);
    case OPTION_ROLE:
        return resolve_role_option(call, id, ret_found);
    case OPTION_CHANNEL:
        return resolve_channel_option(call, id, &def->channel_types.value, ret_found);
    default:
        return resolve_mentionable_option(call, id, ret_found);
    }
}

static enum err parse_id_option(struct option_parser *t, struct json_reader *r)
{
    snowflake id;
    bool found;

    if (!parse_json_id(r, &id))
        return refuse_option_value(t->call, t->def->name);
    enum err e = resolve_option_id(t->call, t->def, id, &found);
    if (!e && !found)
        e = refuse_invalid_option(t->call, t->def->name);
    t->out->value = opt_str_or_null(str_printf(t->call->arena, "\"%" PRIu64 "\"", id));
    return e;
}

/* Parses an attachment option: accepts the uploaded file. The submitted value is the number of the
 * file; the app gets the attachment id instead. */
static enum err parse_attachment_option(struct option_parser *t, struct json_reader *r)
{
    struct submitted_interaction_file *file;
    snowflake number;

    if (!parse_json_id(r, &number))
        return refuse_option_value(t->call, t->def->name);
    if (!accept_uploaded_interaction_file(t->call, number, &t->def->file_types.value, &file))
        return refuse_invalid_option(t->call, t->def->name);
    t->out->value = opt_str_or_null(str_printf(t->call->arena, "\"%" PRIu64 "\"", file->stored.id));
    return OK;
}

static enum err parse_option_value(struct option_parser *t)
{
    struct json_reader r;

    if (t->in->value.given != GIVEN || t->in->options.value.count)
        return refuse_option_value(t->call, t->def->name);
    json_reader_init(&r, t->in->value.value, t->call->arena);
    switch ((enum command_option_type)t->def->type) {
    case OPTION_STRING:
        return parse_string_option(t, &r);
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        return parse_number_option(t, &r);
    case OPTION_BOOLEAN:
        return parse_bool_option(t, &r);
    case OPTION_ATTACHMENT:
        return parse_attachment_option(t, &r);
    default:
        return parse_id_option(t, &r);
    }
}

/* Accepts the option that the user is typing as a string, whatever its type is. */
static enum err parse_focused_option(struct option_parser *t)
{
    struct invocation_state *v = call_get_invocation_state(t->call);
    struct json_reader r;
    struct json_number n;
    struct str text = STR("");

    if (v->it.focused_type || t->def->autocomplete.given != GIVEN || !t->def->autocomplete.value)
        return refuse_invalid_option(t->call, t->def->name);
    v->it.focused_type = t->def->type;
    t->out->focused = opt_bool_present(true);
    if (t->in->value.given == GIVEN) {
        json_reader_init(&r, t->in->value.value, t->call->arena);
        if (json_peek_kind(&r) == JSON_NUMBER && json_read_number(&r, &n))
            text = n.raw;
        else if (json_peek_kind(&r) != JSON_STRING || !json_read_string(&r, &text))
            return refuse_option_value(t->call, t->def->name);
    }
    if (utf8_length(text) > COMMAND_MAX_LENGTH)
        return refuse_invalid_option(t->call, t->def->name);
    t->out->value = opt_str_or_null(encode_json_string(t->call->arena, text));
    return OK;
}

/* --- lists of options ----------------------------------------------------------------- */

static enum err parse_option_list(struct call *call, const struct opt_list *defs,
                                  const struct opt_list *given, struct list *ret);

static bool is_subcommand_option(const struct command_option *def)
{
    return def->type == OPTION_SUB_COMMAND || def->type == OPTION_SUB_COMMAND_GROUP;
}

static const struct command_option *find_option_by_name(const struct opt_list *defs,
                                                        struct str name)
{
    const struct command_option *def = defs->value.items;

    for (size_t i = 0; i < defs->value.count; i++)
        if (str_eq(def[i].name, name))
            return &def[i];
    return NULL;
}

static enum err parse_subcommand(struct option_parser *t)
{
    struct invocation_state *v = call_get_invocation_state(t->call);

    if (t->in->value.given == GIVEN || is_focused_option(t->in))
        return refuse_option_value(t->call, t->def->name);
    /* A sub-command group that has no sub-commands cannot be used. */
    if (t->def->type == OPTION_SUB_COMMAND_GROUP && !t->def->options.value.count)
        return refuse_invalid_option(t->call, t->def->name);
    v->it.name = STR_CONCAT(t->call->arena, v->it.name, STR(" "), t->def->name);
    t->out->options.given = GIVEN;
    return parse_option_list(t->call, &t->def->options, &t->in->options, &t->out->options.value);
}

static enum err parse_option(struct option_parser *t)
{
    t->out->type = t->def->type;
    t->out->name = t->def->name;
    if (is_subcommand_option(t->def))
        return parse_subcommand(t);
    return is_autocomplete_call(t->call) && is_focused_option(t->in) ? parse_focused_option(t)
                                                                     : parse_option_value(t);
}

static bool option_was_already_submitted(const struct submitted_option *in, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(in[j].name, in[i].name))
            return true;
    return false;
}

/* Returns whether the option is an attachment in an autocomplete request, which the payload does
 * not contain. */
static bool option_may_be_skipped(const struct call *call, const struct command_option *def)
{
    return is_autocomplete_call(call) && def->type == OPTION_ATTACHMENT;
}

static enum err check_required_options(struct call *call, const struct opt_list *defs,
                                       const struct opt_list *given)
{
    const struct command_option *def = defs->value.items;
    const struct submitted_option *in = given->value.items;

    for (size_t i = 0; i < defs->value.count; i++) {
        bool there = def[i].required.given != GIVEN || !def[i].required.value;

        for (size_t j = 0; j < given->value.count; j++)
            there = there || str_eq(in[j].name, def[i].name);
        if (!there)
            return refuse_missing_option(call, def[i].name);
    }
    return OK;
}

static enum err parse_option_list(struct call *call, const struct opt_list *defs,
                                  const struct opt_list *given, struct list *ret)
{
    const struct submitted_option *in = given->value.items;
    const struct command_option *first = defs->value.items;
    size_t count = given->value.count;

    /* Exactly one sub-command must be submitted. */
    if (defs->value.count && is_subcommand_option(first) && count != 1)
        return count ? refuse_invalid_option(call, in[1].name)
                     : refuse_missing_option(call, first->name);
    for (size_t i = 0; i < count; i++) {
        const struct command_option *def = find_option_by_name(defs, in[i].name);

        if (!def || def->type != in[i].type || option_was_already_submitted(in, i))
            return refuse_invalid_option(call, in[i].name);
        if (option_may_be_skipped(call, def))
            continue;
        struct option_parser t = { call, def, &in[i],
                                   list_append(call->arena, ret,
                                               sizeof(struct interaction_payload_option)) };
        enum err e = parse_option(&t);
        if (e)
            return e;
    }
    return is_autocomplete_call(call) ? OK : check_required_options(call, defs, given);
}

enum err parse_submitted_command_options(struct call *call)
{
    struct invocation_state *v = call_get_invocation_state(call);
    const struct interaction_request_data *in =
        ((const struct interaction_request_body *)call->body)->data;
    enum err e = parse_option_list(call, &v->command.options, &in->options, &v->options);

    if (!e && is_autocomplete_call(call) && !v->it.focused_type)
        e = refuse_missing_option(call, STR("focused"));
    return e;
}
