/* command_line.c - parses "/weather city:Oslo" into the data of an interaction. */
#include "tools/invoke/command_index.h"

#include <errno.h>
#include <stdio.h>

#include "json/read.h"
#include "model/command.h"

/* --- words ---------------------------------------------------------------------------- */

/* A word of the command line without its quotes. `colon` is the offset of the colon after the key;
 * 0 if the word has no key. */
struct command_word {
    struct str text;
    size_t colon;
};

static struct command_word parse_next_command_word(struct invoke_command_state *v, struct str *line)
{
    struct command_word w = { 0 };
    struct buf out;
    char quote = '\0';
    size_t i = 0;

    buf_init(&out, 64 * 1024);
    for (; i < line->n && (quote || line->p[i] != ' '); i++) {
        char c = line->p[i];

        if (quote && c == quote) {
            quote = '\0';
        } else if (!quote && (c == '"' || c == '\'') && (out.n == 0 || out.n == w.colon + 1)) {
            quote = c;
        } else if (quote && c == '\\' && i + 1 < line->n) {
            buf_add_char(&out, line->p[++i]);
        } else {
            if (c == ':' && !quote && !w.colon)
                w.colon = out.n;
            buf_add_char(&out, c);
        }
    }
    *line = str_skip_bytes(*line, i);
    w.text = buf_move_to_arena(&out, v->arena);
    return w;
}

static struct list split_command_line_into_words(struct invoke_command_state *v, struct str line)
{
    struct list words = { 0 };

    while (line.n) {
        if (line.p[0] == ' ')
            line = str_skip_bytes(line, 1);
        else
            *(struct command_word *)list_append(v->arena, &words, sizeof(struct command_word)) =
                parse_next_command_word(v, &line);
    }
    return words;
}

static struct key_value_pair key_value_pair_from_word(const struct command_word *w)
{
    return (struct key_value_pair){ str_slice(w->text.p, w->colon),
                                    str_skip_bytes(w->text, w->colon + 1) };
}

/* Collects key:value pairs; other words are appended to the value of the previous pair. */
static bool collect_key_value_pairs(struct invoke_command_state *v, const struct list *words,
                                    size_t from, bool (*is_key)(const void *arg, struct str key),
                                    const void *arg, struct list *ret)
{
    const struct command_word *w = words->items;
    struct key_value_pair *last = NULL;

    for (size_t i = from; i < words->count; i++) {
        struct key_value_pair pair = key_value_pair_from_word(&w[i]);

        if (w[i].colon && is_key(arg, pair.key)) {
            last = list_append(v->arena, ret, sizeof *last);
            *last = pair;
        } else if (last) {
            last->value = STR_CONCAT(v->arena, last->value, STR(" "), w[i].text);
        } else if (w[i].colon) {
            return print_invoke_error("there is no option '%.*s'", STR_ARGS(pair.key));
        } else {
            return print_invoke_error("'%.*s' is neither a subcommand nor option:value",
                                      STR_ARGS(w[i].text));
        }
    }
    return true;
}

static bool accept_any_nonempty_key(const void *arg, struct str key)
{
    (void)arg;
    return key.n > 0;
}

bool parse_key_value_pairs(struct invoke_command_state *v, const char *line, struct list *ret)
{
    struct list words = split_command_line_into_words(v, str_of(line));

    return collect_key_value_pairs(v, &words, 0, accept_any_nonempty_key, NULL, ret);
}

/* --- values --------------------------------------------------------------------------- */

static bool write_id_json_if_nonzero(struct json_writer *j, snowflake id)
{
    if (id)
        json_write_id(j, id);
    return id != 0;
}

static bool write_number_json(struct invoke_command_state *v, struct json_writer *j,
                              const struct option_from_command_index *o, struct str text)
{
    struct json_reader r;
    struct json_number n;

    json_reader_init(&r, text, v->arena);
    if (json_peek_kind(&r) != JSON_NUMBER || !json_read_number(&r, &n) || !json_is_at_end(&r) ||
        (o->type == OPTION_INTEGER && n.kind == NUMBER_REAL))
        return print_invoke_error("%.*s: '%.*s' is not a %snumber", STR_ARGS(o->name),
                                  STR_ARGS(text), o->type == OPTION_INTEGER ? "whole " : "");
    json_write_raw(j, text);
    return true;
}

static bool write_bool_json(struct json_writer *j, const struct option_from_command_index *o,
                            struct str text)
{
    bool yes = str_eq_nocase(text, STR("true")) || str_eq_nocase(text, STR("yes")),
         no = str_eq_nocase(text, STR("false")) || str_eq_nocase(text, STR("no"));

    if (!yes && !no)
        return print_invoke_error("%.*s: '%.*s' is neither true nor false", STR_ARGS(o->name),
                                  STR_ARGS(text));
    json_write_bool(j, yes);
    return true;
}

static bool read_attachment_file(struct invoke_command_state *v, const char *path, struct str *ret)
{
    FILE *f = fopen(path, "rb");
    struct buf bytes;
    char piece[16384];
    size_t n;

    buf_init(&bytes, 64 * 1024 * 1024);
    while (f && (n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&bytes, piece, n);
    bool ok = f && !ferror(f) && !buf_is_full(&bytes);
    if (!ok)
        print_invoke_error("cannot read '%s': %s", path,
                           f ? "the file is too large" : strerror(errno));
    if (f)
        fclose(f);
    *ret = str_dup(v->arena, bytes.n ? buf_as_str(&bytes) : STR(""));
    buf_clear(&bytes);
    return ok;
}

/* Writes the index of the uploaded file, which is the option's value. */
static bool write_attachment_json(struct invoke_command_state *v, struct json_writer *j,
                                  struct str text)
{
    const char *path = str_dup_cstring(v->arena, text), *slash = strrchr(path, '/');
    struct api_client_file *file = &v->files[v->file_count];

    if (v->file_count == INVOKE_MAX_FILES)
        return print_invoke_error("there are more than 25 files");
    if (!read_attachment_file(v, path, &file->bytes))
        return false;
    file->filename = slash ? slash + 1 : path;
    json_write_int(j, (int64_t)v->file_count++);
    return true;
}

static const struct choice_from_command_index *find_choice_by_name(
    const struct option_from_command_index *o, struct str text)
{
    const struct choice_from_command_index *c = o->choices.value.items;

    for (size_t i = 0; i < o->choices.value.count; i++)
        if (text_is_original_or_localized_name(c[i].name, c[i].name_default, text))
            return &c[i];
    return NULL;
}

static bool write_option_value_json(struct invoke_command_state *v, struct json_writer *j,
                                    const struct option_from_command_index *o, struct str text)
{
    const struct choice_from_command_index *choice = find_choice_by_name(o, text);

    if (choice) {
        json_write_raw(j, choice->value);
        return true;
    }
    switch (o->type) {
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        return write_number_json(v, j, o, text);
    case OPTION_BOOLEAN:
        return write_bool_json(j, o, text);
    case OPTION_USER:
        return write_id_json_if_nonzero(j, find_user_by_text(v, text));
    case OPTION_CHANNEL:
        return write_id_json_if_nonzero(j, find_channel_by_text(v, text));
    case OPTION_ROLE:
        return write_id_json_if_nonzero(j, find_role_by_text(v, text));
    case OPTION_MENTIONABLE:
        return write_id_json_if_nonzero(j, find_mentionable_by_text(v, text));
    case OPTION_ATTACHMENT:
        return write_attachment_json(v, j, text);
    default:
        json_write_text(j, text);
        return true;
    }
}

/* --- options -------------------------------------------------------------------------- */

static const struct option_from_command_index *find_option_by_name(const struct list *options,
                                                                   struct str name)
{
    const struct option_from_command_index *o = options->items;

    for (size_t i = 0; i < options->count; i++)
        if (text_is_original_or_localized_name(o[i].name, o[i].name_default, name))
            return &o[i];
    return NULL;
}

static bool is_name_of_command_option(const void *arg, struct str key)
{
    const struct option_from_command_index *o = find_option_by_name(arg, key);

    return o && o->type > OPTION_SUB_COMMAND_GROUP;
}

static bool write_options_json_from_pairs(struct invoke_command_state *v, struct json_writer *j,
                                          const struct list *options, const struct list *pairs)
{
    const struct key_value_pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count; i++) {
        const struct option_from_command_index *o = find_option_by_name(options, p[i].key);
        bool focused = v->options->complete && i + 1 == pairs->count;

        json_begin_object(j);
        json_write_name(j, "type");
        json_write_int(j, o->type);
        json_write_name(j, "name");
        json_write_text(j, choose_original_name(o->name, o->name_default));
        json_write_name(j, "value");
        if (focused)
            json_write_text(j, p[i].value);
        else if (!write_option_value_json(v, j, o, p[i].value))
            return false;
        if (focused) {
            json_write_name(j, "focused");
            json_write_bool(j, true);
        }
        json_end_object(j);
    }
    return true;
}

/* Writes options. Words before the key:value pairs are subcommands with options of their own. */
static bool write_options_json(struct invoke_command_state *v, struct json_writer *j,
                               const struct list *options, const struct list *words, size_t from)
{
    const struct command_word *w = words->items;
    const struct option_from_command_index *sub =
        from < words->count && !w[from].colon ? find_option_by_name(options, w[from].text) : NULL;
    struct list pairs = { 0 };

    json_begin_array(j);
    if (sub && sub->type <= OPTION_SUB_COMMAND_GROUP) {
        json_begin_object(j);
        json_write_name(j, "type");
        json_write_int(j, sub->type);
        json_write_name(j, "name");
        json_write_text(j, choose_original_name(sub->name, sub->name_default));
        json_write_name(j, "options");
        if (!write_options_json(v, j, &sub->options.value, words, from + 1))
            return false;
        json_end_object(j);
    } else if (!collect_key_value_pairs(v, words, from, is_name_of_command_option, options,
                                        &pairs) ||
               !write_options_json_from_pairs(v, j, options, &pairs)) {
        return false;
    }
    json_end_array(j);
    return true;
}

/* --- interaction data ----------------------------------------------------------------- */

static bool write_target_of_context_command_json(struct invoke_command_state *v,
                                                 struct json_writer *j,
                                                 const struct command_from_command_index *k)
{
    const struct invoke_options *o = v->options;
    snowflake id = 0;

    if (k->type == COMMAND_USER)
        id = find_user_by_text(v, str_of(o->user));
    else if (!snowflake_parse(str_of(o->message), &id))
        print_invoke_error("--message must be the id of a message");
    json_write_name(j, "target_id");
    return write_id_json_if_nonzero(j, id);
}

static void write_attachments_json(struct invoke_command_state *v, struct json_writer *j)
{
    json_write_name(j, "attachments");
    json_begin_array(j);
    for (size_t i = 0; i < v->file_count; i++) {
        json_begin_object(j);
        json_write_name(j, "id");
        json_write_text(j, str_printf(v->arena, "%zu", i));
        json_write_name(j, "filename");
        json_write_text(j, str_of(v->files[i].filename));
        json_end_object(j);
    }
    json_end_array(j);
}

static bool write_interaction_data_json(struct invoke_command_state *v, struct json_writer *j,
                                        const struct command_from_command_index *k,
                                        const struct list *words)
{
    bool ok = true;

    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, k->id);
    json_write_name(j, "version");
    json_write_id(j, k->version);
    json_write_name(j, "type");
    json_write_int(j, k->type);
    json_write_name(j, "name");
    json_write_text(j, choose_original_name(k->name, k->name_default));
    if (k->guild_id.given == GIVEN) {
        json_write_name(j, "guild_id");
        json_write_id(j, k->guild_id.value);
    }
    if (k->type == COMMAND_CHAT_INPUT) {
        json_write_name(j, "options");
        ok = write_options_json(v, j, &k->options.value, words, 1);
    } else if (k->type != COMMAND_ENTRY_POINT) {
        ok = write_target_of_context_command_json(v, j, k);
    }
    if (ok)
        write_attachments_json(v, j);
    json_end_object(j);
    return ok;
}

bool parse_command_line(struct invoke_command_state *v, const char *line,
                        snowflake *ret_application, struct str *ret_data)
{
    const struct invoke_options *o = v->options;
    struct str text = str_trim(str_of(line));
    bool slash = text.n > 1 && text.p[0] == '/';
    struct list words = split_command_line_into_words(v, slash ? str_skip_bytes(text, 1) : text);
    unsigned types = slash     ? 1u << COMMAND_CHAT_INPUT | 1u << COMMAND_ENTRY_POINT
                     : o->user ? 1u << COMMAND_USER
                               : 1u << COMMAND_MESSAGE;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    if (!words.count || (!slash && !o->user && !o->message))
        return print_invoke_error(
            "a command must be \"/name option:value\", or the name of a command for --user or "
            "--message");
    const struct command_from_command_index *k = find_command_in_command_index(
        v, slash ? ((struct command_word *)words.items)->text : text, types);
    if (!k)
        return false;
    buf_init(&out, 1024 * 1024);
    bool ok = write_interaction_data_json(v, &j, k, &words);
    *ret_application = k->application_id;
    *ret_data = buf_move_to_arena(&out, v->arena);
    return ok && !arena_has_lost_data(v->arena);
}
