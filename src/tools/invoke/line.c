/* line.c - parses "/weather city:Oslo" into the data of an interaction. */
#include "tools/invoke/index.h"

#include <errno.h>
#include <stdio.h>

#include "json/read.h"
#include "model/command.h"

/* --- words ---------------------------------------------------------------------------- */

/* A word without its quotes. colon: offset of the colon after the key; 0: no key. */
struct word {
    struct str text;
    size_t colon;
};

static struct word take_word(struct invoke_run *v, struct str *line)
{
    struct word w = { 0 };
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
    *line = str_from(*line, i);
    w.text = buf_take(&out, v->arena);
    return w;
}

static struct list invoke_line_split(struct invoke_run *v, struct str line)
{
    struct list words = { 0 };

    while (line.n) {
        if (line.p[0] == ' ')
            line = str_from(line, 1);
        else
            *(struct word *)list_add(v->arena, &words, sizeof(struct word)) = take_word(v, &line);
    }
    return words;
}

static struct line_pair pair_of(const struct word *w)
{
    return (struct line_pair){ str_slice(w->text.p, w->colon), str_from(w->text, w->colon + 1) };
}

/* Collects pairs; words that are not a pair are appended to the value of the previous pair. */
static bool invoke_line_gather(struct invoke_run *v, const struct list *words, size_t from,
                               bool (*is_key)(const void *arg, struct str key), const void *arg,
                               struct list *ret)
{
    const struct word *w = words->items;
    struct line_pair *last = NULL;

    for (size_t i = from; i < words->count; i++) {
        struct line_pair pair = pair_of(&w[i]);

        if (w[i].colon && is_key(arg, pair.key)) {
            last = list_add(v->arena, ret, sizeof *last);
            *last = pair;
        } else if (last) {
            last->value = STR_CONCAT(v->arena, last->value, STR(" "), w[i].text);
        } else if (w[i].colon) {
            return invoke_complain("there is no option '%.*s'", STR_FMT(pair.key));
        } else {
            return invoke_complain("'%.*s' is neither a subcommand nor option:value",
                                   STR_FMT(w[i].text));
        }
    }
    return true;
}

static bool any_key(const void *arg, struct str key)
{
    (void)arg;
    return key.n > 0;
}

bool line_pairs(struct invoke_run *v, const char *line, struct list *ret)
{
    struct list words = invoke_line_split(v, str_of(line));

    return invoke_line_gather(v, &words, 0, any_key, NULL, ret);
}

/* --- values --------------------------------------------------------------------------- */

static bool write_id(struct json *j, snowflake id)
{
    if (id)
        json_id(j, id);
    return id != 0;
}

static bool write_number(struct invoke_run *v, struct json *j, const struct known_option *o,
                         struct str text)
{
    struct json_reader r;
    struct json_number n;

    json_reader_init(&r, text, v->arena);
    if (json_peek(&r) != JSON_NUMBER || !json_take_number(&r, &n) || !json_end(&r) ||
        (o->type == OPTION_INTEGER && n.kind == NUMBER_REAL))
        return invoke_complain("%.*s: '%.*s' is not a %snumber", STR_FMT(o->name), STR_FMT(text),
                               o->type == OPTION_INTEGER ? "whole " : "");
    json_raw(j, text);
    return true;
}

static bool write_bool(struct json *j, const struct known_option *o, struct str text)
{
    bool yes = str_eq_nocase(text, STR("true")) || str_eq_nocase(text, STR("yes")),
         no = str_eq_nocase(text, STR("false")) || str_eq_nocase(text, STR("no"));

    if (!yes && !no)
        return invoke_complain("%.*s: '%.*s' is neither true nor false", STR_FMT(o->name),
                               STR_FMT(text));
    json_bool(j, yes);
    return true;
}

static bool read_file(struct invoke_run *v, const char *path, struct str *ret)
{
    FILE *f = fopen(path, "rb");
    struct buf bytes;
    char piece[16384];
    size_t n;

    buf_init(&bytes, 64 * 1024 * 1024);
    while (f && (n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&bytes, piece, n);
    bool ok = f && !ferror(f) && !buf_full(&bytes);
    if (!ok)
        invoke_complain("cannot read '%s': %s", path,
                        f ? "the file is too large" : strerror(errno));
    if (f)
        fclose(f);
    *ret = str_dup(v->arena, bytes.n ? buf_str(&bytes) : STR(""));
    buf_clear(&bytes);
    return ok;
}

/* Writes the index of the uploaded file, which is the option's value. */
static bool write_file(struct invoke_run *v, struct json *j, struct str text)
{
    const char *path = str_dupz(v->arena, text), *slash = strrchr(path, '/');
    struct wire_file *file = &v->files[v->file_count];

    if (v->file_count == INVOKE_MOST_FILES)
        return invoke_complain("there are more than 25 files");
    if (!read_file(v, path, &file->bytes))
        return false;
    file->filename = slash ? slash + 1 : path;
    json_int(j, (int64_t)v->file_count++);
    return true;
}

static const struct known_choice *find_choice(const struct known_option *o, struct str text)
{
    const struct known_choice *c = o->choices.value.items;

    for (size_t i = 0; i < o->choices.value.count; i++)
        if (is_named(c[i].name, c[i].name_default, text))
            return &c[i];
    return NULL;
}

static bool write_value(struct invoke_run *v, struct json *j, const struct known_option *o,
                        struct str text)
{
    const struct known_choice *choice = find_choice(o, text);

    if (choice) {
        json_raw(j, choice->value);
        return true;
    }
    switch (o->type) {
    case OPTION_INTEGER:
    case OPTION_NUMBER:
        return write_number(v, j, o, text);
    case OPTION_BOOLEAN:
        return write_bool(j, o, text);
    case OPTION_USER:
        return write_id(j, person_named(v, text));
    case OPTION_CHANNEL:
        return write_id(j, channel_named(v, text));
    case OPTION_ROLE:
        return write_id(j, role_named(v, text));
    case OPTION_MENTIONABLE:
        return write_id(j, mentionable_named(v, text));
    case OPTION_ATTACHMENT:
        return write_file(v, j, text);
    default:
        json_text(j, text);
        return true;
    }
}

/* --- options -------------------------------------------------------------------------- */

static const struct known_option *find_option(const struct list *options, struct str name)
{
    const struct known_option *o = options->items;

    for (size_t i = 0; i < options->count; i++)
        if (is_named(o[i].name, o[i].name_default, name))
            return &o[i];
    return NULL;
}

static bool is_option(const void *arg, struct str key)
{
    const struct known_option *o = find_option(arg, key);

    return o && o->type > OPTION_SUB_COMMAND_GROUP;
}

static bool write_pairs(struct invoke_run *v, struct json *j, const struct list *options,
                        const struct list *pairs)
{
    const struct line_pair *p = pairs->items;

    for (size_t i = 0; i < pairs->count; i++) {
        const struct known_option *o = find_option(options, p[i].key);
        bool focused = v->options->complete && i + 1 == pairs->count;

        json_object(j);
        json_name(j, "type");
        json_int(j, o->type);
        json_name(j, "name");
        json_text(j, original_name(o->name, o->name_default));
        json_name(j, "value");
        if (focused)
            json_text(j, p[i].value);
        else if (!write_value(v, j, o, p[i].value))
            return false;
        if (focused) {
            json_name(j, "focused");
            json_bool(j, true);
        }
        json_object_end(j);
    }
    return true;
}

/* Writes options. Words before the pairs are subcommands, each with its own options. */
static bool write_options(struct invoke_run *v, struct json *j, const struct list *options,
                          const struct list *words, size_t from)
{
    const struct word *w = words->items;
    const struct known_option *sub =
        from < words->count && !w[from].colon ? find_option(options, w[from].text) : NULL;
    struct list pairs = { 0 };

    json_array(j);
    if (sub && sub->type <= OPTION_SUB_COMMAND_GROUP) {
        json_object(j);
        json_name(j, "type");
        json_int(j, sub->type);
        json_name(j, "name");
        json_text(j, original_name(sub->name, sub->name_default));
        json_name(j, "options");
        if (!write_options(v, j, &sub->options.value, words, from + 1))
            return false;
        json_object_end(j);
    } else if (!invoke_line_gather(v, words, from, is_option, options, &pairs) ||
               !write_pairs(v, j, options, &pairs)) {
        return false;
    }
    json_array_end(j);
    return true;
}

/* --- interaction data ----------------------------------------------------------------- */

static bool write_target(struct invoke_run *v, struct json *j, const struct known_command *k)
{
    const struct invoke_options *o = v->options;
    snowflake id = 0;

    if (k->type == COMMAND_USER)
        id = person_named(v, str_of(o->user));
    else if (!snowflake_parse(str_of(o->message), &id))
        invoke_complain("--message must be the id of a message");
    json_name(j, "target_id");
    return write_id(j, id);
}

static void write_files(struct invoke_run *v, struct json *j)
{
    json_name(j, "attachments");
    json_array(j);
    for (size_t i = 0; i < v->file_count; i++) {
        json_object(j);
        json_name(j, "id");
        json_text(j, str_printf(v->arena, "%zu", i));
        json_name(j, "filename");
        json_text(j, str_of(v->files[i].filename));
        json_object_end(j);
    }
    json_array_end(j);
}

static bool write_data(struct invoke_run *v, struct json *j, const struct known_command *k,
                       const struct list *words)
{
    bool ok = true;

    json_object(j);
    json_name(j, "id");
    json_id(j, k->id);
    json_name(j, "version");
    json_id(j, k->version);
    json_name(j, "type");
    json_int(j, k->type);
    json_name(j, "name");
    json_text(j, original_name(k->name, k->name_default));
    if (k->guild_id.given == GIVEN) {
        json_name(j, "guild_id");
        json_id(j, k->guild_id.value);
    }
    if (k->type == COMMAND_CHAT_INPUT) {
        json_name(j, "options");
        ok = write_options(v, j, &k->options.value, words, 1);
    } else if (k->type != COMMAND_ENTRY_POINT) {
        ok = write_target(v, j, k);
    }
    if (ok)
        write_files(v, j);
    json_object_end(j);
    return ok;
}

bool line_read(struct invoke_run *v, const char *line, snowflake *ret_application,
               struct str *ret_data)
{
    const struct invoke_options *o = v->options;
    struct str text = str_trim(str_of(line));
    bool slash = text.n > 1 && text.p[0] == '/';
    struct list words = invoke_line_split(v, slash ? str_from(text, 1) : text);
    unsigned types = slash     ? 1u << COMMAND_CHAT_INPUT | 1u << COMMAND_ENTRY_POINT
                     : o->user ? 1u << COMMAND_USER
                               : 1u << COMMAND_MESSAGE;
    struct buf out;
    struct json j = json_to(&out);

    if (!words.count || (!slash && !o->user && !o->message))
        return invoke_complain(
            "a command must be \"/name option:value\", or the name of a command for --user or "
            "--message");
    const struct known_command *k =
        index_find(v, slash ? ((struct word *)words.items)->text : text, types);
    if (!k)
        return false;
    buf_init(&out, 1024 * 1024);
    bool ok = write_data(v, &j, k, &words);
    *ret_application = k->application_id;
    *ret_data = buf_take(&out, v->arena);
    return ok && !arena_spoiled(v->arena);
}
