/* print_result.c - prints the result of an invocation as text or JSON. */
#include "tools/invoke/invoke.h"

#include <stdio.h>

#include "json/read.h"
#include "model/message.h"

static const char *word_for_invoke_status(enum invoke_exit_status status)
{
    switch (status) {
    case INVOKE_REPLIED:
        return "answered";
    case INVOKE_REFUSED:
        return "refused";
    case INVOKE_FAILED:
        return "failed";
    case INVOKE_TIMED_OUT:
        return "timed out";
    default:
        return "trouble";
    }
}

/* --- JSON ----------------------------------------------------------------------------- */

static void write_raw_json_field_if_given(struct json_writer *j, struct str name, struct str value)
{
    if (!value.p)
        return;
    json_write_key(j, name);
    json_write_raw(j, value);
}

static void write_outcome_json(const struct invocation_step_outcome *out, struct buf *text)
{
    struct json_writer j = json_writer_to_buf(text);

    json_begin_object(&j);
    json_write_name(&j, "step");
    json_write_text(&j, str_of(out->step));
    json_write_name(&j, "outcome");
    json_write_text(&j, str_of(word_for_invoke_status(out->status)));
    if (out->interaction_id) {
        json_write_name(&j, "interaction_id");
        json_write_id(&j, out->interaction_id);
    }
    if (out->reason) {
        json_write_name(&j, "reason");
        json_write_text(&j, str_of(out->reason));
    }
    if (out->message)
        write_raw_json_field_if_given(&j, STR("message"), out->message->raw);
    if (out->modal)
        write_raw_json_field_if_given(&j, STR("modal"), out->modal->raw);
    write_raw_json_field_if_given(&j, STR("choices"), out->choices_raw);
    if (out->follow_ups.count) {
        json_write_name(&j, "follow_ups");
        json_begin_array(&j);
        for (size_t i = 0; i < out->follow_ups.count; i++)
            json_write_raw(&j, ((const struct received_message **)out->follow_ups.items)[i]->raw);
        json_end_array(&j);
    }
    if (out->http_status) {
        json_write_name(&j, "status");
        json_write_int(&j, out->http_status);
        write_raw_json_field_if_given(&j, STR("error"),
                                      json_is_valid(out->refusal) ? out->refusal : STR("null"));
    }
    json_end_object(&j);
}

/* --- text ----------------------------------------------------------------------------- */

struct embed_part {
    struct opt_str title, description, text, name, value, filename;
    int64_t size;
    struct opt_object footer, author;
    struct opt_list fields;
};
static const struct schema part_schema;
static const struct type type_part = { .kind = KIND_OBJECT, .schema = &part_schema };
static const struct type type_parts = { .kind = KIND_ARRAY, .of = &type_part };

/* clang-format off */
#define OPTIONAL_FIELD(member_, type_)                                                                      \
    { FIELD(struct embed_part, member_), .type = &(type_), .flags = OPTIONAL | NULLABLE }
/* clang-format on */

/* Text fields of embeds, of the objects in embeds, and of files. */
static const struct field part_fields[] = {
    OPTIONAL_FIELD(title, type_text),
    OPTIONAL_FIELD(description, type_text),
    OPTIONAL_FIELD(text, type_text),
    OPTIONAL_FIELD(name, type_text),
    OPTIONAL_FIELD(value, type_text),
    OPTIONAL_FIELD(filename, type_text),
    { FIELD(struct embed_part, size), .type = &type_int, .flags = OPTIONAL },
    OPTIONAL_FIELD(footer, type_part),
    OPTIONAL_FIELD(author, type_part),
    OPTIONAL_FIELD(fields, type_parts),
    { 0 },
};
static const struct schema part_schema = { .size = sizeof(struct embed_part),
                                           .fields = part_fields };

static void print_lines_with_prefix(const char *prefix, struct str text)
{
    while (text.n) {
        struct str line = str_cut(&text, '\n');

        printf("%s%.*s\n", prefix, STR_ARGS(line));
    }
}

static void print_optional_text_with_prefix(const char *prefix, struct opt_str text)
{
    if (text.given == GIVEN)
        print_lines_with_prefix(prefix, text.value);
}

static void print_embed(const struct embed_part *e)
{
    const struct embed_part *author = e->author.value, *footer = e->footer.value,
                            *f = e->fields.value.items;

    if (author)
        print_optional_text_with_prefix("  | ", author->name);
    print_optional_text_with_prefix("  | ", e->title);
    print_optional_text_with_prefix("  | ", e->description);
    for (size_t i = 0; i < e->fields.value.count; i++)
        printf("  | %.*s: %.*s\n", STR_ARGS(f[i].name.value), STR_ARGS(f[i].value.value));
    if (footer)
        print_optional_text_with_prefix("  | ", footer->text);
}

static void print_select_options(const struct component *c)
{
    const struct component_option *o = c->options.value.items;

    for (size_t i = 0; i < c->options.value.count; i++)
        printf("%s%.*s", i ? ", " : ": ", STR_ARGS(o[i].value));
}

static void print_components(const struct list *components)
{
    for (size_t i = 0; i < components->count; i++) {
        const struct component *c = &((const struct component *)components->items)[i];
        struct list inside = { c->component.value, c->component.value ? 1 : 0 },
                    accessories = { c->accessory.value, c->accessory.value ? 1 : 0 };
        struct opt_str words = c->label.given == GIVEN ? c->label : c->placeholder;

        print_optional_text_with_prefix("  ", c->content);
        if (c->custom_id.given == GIVEN) {
            printf("  [%.*s] %.*s", STR_ARGS(c->custom_id.value), STR_ARGS(words.value));
            print_select_options(c);
            printf("%s\n", c->disabled.value ? " (disabled)" : "");
        } else if (c->type == LABEL) {
            print_optional_text_with_prefix("  ", c->label);
        }
        print_components(&c->components.value);
        print_components(&inside);
        print_components(&accessories);
    }
}

static const struct list *decode_embeds_or_attachments(struct invoke_command_state *v,
                                                       struct str json)
{
    static const struct list none;
    const struct list *list = schema_decode_or_null(&type_parts, json, v->arena);

    return list ? list : &none;
}

static void print_received_message(struct invoke_command_state *v, const struct received_message *m)
{
    struct str name =
        m->author->global_name.given == GIVEN ? m->author->global_name.value : m->author->username;
    const struct list *embeds = decode_embeds_or_attachments(v, m->embeds),
                      *files = decode_embeds_or_attachments(v, m->attachments);
    const struct embed_part *f = files->items;
    struct list components = components_decode_json(v->arena, m->components);

    printf("%.*s%s%s: %.*s\n", STR_ARGS(name),
           m->flags & MESSAGE_EPHEMERAL ? " (only for you)" : "",
           m->flags & MESSAGE_LOADING ? " (thinking)" : "", STR_ARGS(m->content));
    for (size_t i = 0; i < embeds->count; i++)
        print_embed(&((const struct embed_part *)embeds->items)[i]);
    for (size_t i = 0; i < files->count; i++)
        printf("  %.*s (%lld bytes)\n", STR_ARGS(f[i].filename.value), (long long)f[i].size);
    print_components(&components);
}

static void print_autocomplete_choice(const struct received_autocomplete_choice *c)
{
    struct str name = c->name_localized.given == GIVEN ? c->name_localized.value : c->name;

    printf("%.*s = %.*s\n", STR_ARGS(name), STR_ARGS(c->value));
}

static void print_outcome_text(struct invoke_command_state *v,
                               const struct invocation_step_outcome *out)
{
    if (out->message)
        print_received_message(v, out->message);
    for (size_t i = 0; i < out->follow_ups.count; i++)
        print_received_message(v, ((const struct received_message **)out->follow_ups.items)[i]);
    for (size_t i = 0; i < out->choices.count; i++)
        print_autocomplete_choice(
            &((const struct received_autocomplete_choice *)out->choices.items)[i]);
    if (out->modal) {
        struct list parts = components_decode_json(v->arena, out->modal->components);

        printf("%.*s (a form)\n", STR_ARGS(out->modal->title));
        print_components(&parts);
    }
    if (out->http_status)
        fprintf(stderr, "guildhall: the server refused the request: %.*s\n",
                STR_ARGS(out->refusal));
    else if (out->status == INVOKE_FAILED)
        fprintf(stderr, "guildhall: the app's reply is invalid%s%s\n", out->reason ? ": " : "",
                out->reason ? out->reason : "");
    else if (out->status == INVOKE_TIMED_OUT)
        fprintf(stderr, "guildhall: the app %s in time%s%s\n",
                out->acknowledged ? "did not finish" : "did not reply", out->reason ? ": " : "",
                out->reason ? out->reason : "");
    else if (out->status == INVOKE_REPLIED && !out->message && !out->modal && !out->choices_raw.p)
        printf("The app acknowledged the interaction without a message.\n");
}

void print_interaction_outcome(struct invoke_command_state *v,
                               const struct invocation_step_outcome *out)
{
    struct buf text;

    if (!v->options->json) {
        print_outcome_text(v, out);
        return;
    }
    buf_init(&text, SIZE_MAX);
    write_outcome_json(out, &text);
    printf("%.*s\n", STR_ARGS(buf_as_str(&text)));
    buf_clear(&text);
}
