/* import_reader.c - reads the rows of an import file: a JSON array, JSON lines, or CSV with a
 * header. */
#include "gifs/internal.h"

#include "base/utf8.h"
#include "json/read.h"
#include "model/fields/types.h"

/* --- schema of a row ------------------------------------------------------------------ */

static bool is_valid_gif_id(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    /* An id must not have the prefix u_, which is reserved for GIFs of the provider. */
    return !str_starts_with(s, STR("u_"));
}

static bool is_valid_locale(struct str s)
{
    size_t part = 0;

    if (str_is(s, "*"))
        return true;
    for (size_t i = 0; i < s.n; i++) {
        bool letter = (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z');
        bool digit = s.p[i] >= '0' && s.p[i] <= '9';

        if (s.p[i] == '-' && part > 0)
            part = 0;
        else if ((letter || digit) && part < 8)
            part++;
        else
            return false;
    }
    return part > 0;
}

static const struct string_rule id_rule = { is_valid_gif_id, "STRING_TYPE_REGEX",
                                            "An id may contain only A-Z, a-z, 0-9, _ and -." };
static const struct string_rule locale_rule = { is_valid_locale, "STRING_TYPE_REGEX",
                                                "A language tag such as en-US, or *." };
static const struct enum_choice ratings[] = {
    { .text = "g", .name = "G", .doc = "For everybody" },
    { .text = "pg", .name = "PG", .doc = "Parental guidance" },
    { .text = "pg13", .name = "PG13", .doc = "For ages 13 and over" },
    { .text = "r", .name = "R", .doc = "For adults" },
    { 0 },
};

static const struct type type_gif_id = { .kind = KIND_STRING, .max = 64, .rule = &id_rule };
static const struct type type_title = { .kind = KIND_STRING, .max = 256 };
static const struct type type_description = { .kind = KIND_STRING, .max = 1024 };
static const struct type type_tag = { .kind = KIND_STRING, .max = GIFS_MAX_TAG };
static const struct type type_tags = { .kind = KIND_ARRAY, .max = 32, .of = &type_tag };
static const struct type type_tag_locale = { .kind = KIND_STRING, .max = 35, .rule = &locale_rule };
static const struct type type_rating = { .kind = KIND_STRING, .choices = ratings };
static const struct type type_path = { .kind = KIND_STRING, .min = 1, .max = 2048 };
static const struct type type_paths = { .kind = KIND_MAP, .max = 15, .of = &type_path };
/* A side length may be a string, because CSV rows have only strings. */
static const struct type type_side = {
    .kind = KIND_INT, .flags = TYPE_EITHER, .min = 1, .max = UINT16_MAX
};
static const struct type type_weight = {
    .kind = KIND_REAL, .flags = TYPE_EITHER, .min = 0, .max = 1000000
};

static void check_formats_of_media_field(struct form *form, const struct json_path *here,
                                         const void *object)
{
    const struct imported_gif *d = object;
    const struct string_pair *media = d->media.items;
    struct json_path list = json_path_key(here, STR("media"));
    enum gif_format f;
    bool main = false;

    for (size_t i = 0; i < d->media.count; i++) {
        struct json_path at = json_path_key(&list, media[i].key);

        if (!find_gif_format(media[i].key, &f))
            form_add_error(form, &at, "BASE_TYPE_CHOICES", "There is no such format.");
        else
            main = main || f == GIF_GIF || f == GIF_MP4;
    }
    if (!main && !form_has_error_at_path(form, &list))
        form_add_error(form, &list, "BASE_TYPE_REQUIRED", "At least gif or mp4 is needed.");
}

static const struct field draft_fields[] = {
    { FIELD(struct imported_gif, id), .type = &type_gif_id, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct imported_gif, title), .type = &type_title, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct imported_gif, description), .type = &type_description, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct imported_gif, tags), .type = &type_tags, .flags = OPTIONAL },
    { FIELD(struct imported_gif, locale), .type = &type_tag_locale, .flags = OPTIONAL,
      .fallback_text = "*" },
    { FIELD(struct imported_gif, url), .type = &type_url, .flags = OPTIONAL, .fallback_text = "" },
    { FIELD(struct imported_gif, rating), .type = &type_rating, .flags = OPTIONAL,
      .fallback_text = "g" },
    { FIELD(struct imported_gif, media), .type = &type_paths },
    { FIELD(struct imported_gif, width), .type = &type_side, .flags = OPTIONAL },
    { FIELD(struct imported_gif, height), .type = &type_side, .flags = OPTIONAL },
    { FIELD(struct imported_gif, created_at), .type = &type_time, .flags = OPTIONAL },
    { FIELD(struct imported_gif, weight), .type = &type_weight, .flags = OPTIONAL, .fallback = 1 },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "GifRow",
    .size = sizeof(struct imported_gif),
    .fields = draft_fields,
    .check = check_formats_of_media_field,
    .doc = "A GIF to import.",
};
static const struct type gif_draft_type = { .kind = KIND_OBJECT, .schema = &draft_schema };

/* --- CSV ------------------------------------------------------------------------------ */

/* Returns the end of a CSV cell: the first comma or newline outside quotes. */
static size_t find_csv_cell_end(struct str in)
{
    bool quoted = false;
    size_t i;

    for (i = 0; i < in.n; i++) {
        if (in.p[i] == '"')
            quoted = !quoted;
        else if (!quoted && (in.p[i] == ',' || in.p[i] == '\n'))
            break;
    }
    return i;
}

/* Removes one CSV cell from the front of `rest` and returns it. Sets ret_last to true if the cell
 * is the last of its line. Two quotes inside a quoted cell stand for one. */
static struct str parse_next_csv_cell(struct arena *a, struct str *rest, bool *ret_last)
{
    size_t end = find_csv_cell_end(*rest), n = 0;
    struct str in = str_slice(rest->p, end);
    char *out = arena_alloc_unzeroed(a, end + 1);

    *ret_last = end >= rest->n || rest->p[end] == '\n';
    *rest = str_skip_bytes(*rest, end + 1);
    if (*ret_last && in.n && in.p[in.n - 1] == '\r')
        in.n--;
    if (in.n >= 2 && in.p[0] == '"' && in.p[in.n - 1] == '"')
        in = str_slice(in.p + 1, in.n - 2);
    for (size_t i = 0; i < in.n; i++) {
        if (in.p[i] == '"' && i + 1 < in.n && in.p[i + 1] == '"')
            i++;
        out[n++] = in.p[i];
    }
    return str_slice(out, n);
}

static void write_tags_json(struct json_writer *j, struct str cell)
{
    json_begin_array(j);
    while (cell.n) {
        struct str tag = str_trim(str_cut(&cell, ';'));

        if (tag.n)
            json_write_text(j, tag);
    }
    json_end_array(j);
}

/* Converts a CSV line to a JSON object, so that the same schema checks CSV and JSON. */
static struct str csv_line_to_json(struct gif_import_reader *r, struct arena *a)
{
    const struct str *columns = r->columns.items;
    struct list media = { 0 };
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    bool last = false;

    buf_init(&out, 256 * 1024);
    json_begin_object(&j);
    for (size_t i = 0; !last; i++) {
        struct str cell = parse_next_csv_cell(a, &r->rest, &last);

        if (i >= r->columns.count || !cell.n || !utf8_is_valid(cell))
            continue;
        if (str_starts_with(columns[i], STR("media."))) {
            struct string_pair *p = list_append(a, &media, sizeof *p);
            *p = (struct string_pair){ str_skip_bytes(columns[i], 6), cell };
            continue;
        }
        json_write_escaped_key(&j, columns[i]);
        if (str_is(columns[i], "tags") && cell.p[0] == '[' && json_is_valid(cell))
            json_write_raw(&j, cell);
        else if (str_is(columns[i], "tags"))
            write_tags_json(&j, cell);
        else
            json_write_text(&j, cell);
    }
    json_write_name(&j, "media");
    json_begin_object(&j);
    for (size_t i = 0; i < media.count; i++) {
        json_write_escaped_key(&j, ((const struct string_pair *)media.items)[i].key);
        json_write_text(&j, ((const struct string_pair *)media.items)[i].value);
    }
    json_end_object(&j);
    json_end_object(&j);
    return buf_move_to_arena(&out, a);
}

/* --- rows ----------------------------------------------------------------------------- */

static struct str skip_whitespace(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n' || s.p[0] == '\r' || s.p[0] == '\t'))
        s = str_skip_bytes(s, 1);
    return s;
}

void gif_import_reader_init(struct gif_import_reader *r, struct str text, struct arena *a)
{
    bool last = false;

    if (str_starts_with(text, STR("\xef\xbb\xbf")))
        text = str_skip_bytes(text, 3);
    *r = (struct gif_import_reader){ .rest = skip_whitespace(text), .form = FORM_CSV };
    if (r->rest.n && r->rest.p[0] == '[') {
        r->form = FORM_ARRAY;
        r->rest = str_skip_bytes(r->rest, 1);
        return;
    }
    if (r->rest.n && r->rest.p[0] == '{') {
        r->form = FORM_LINES;
        return;
    }
    while (r->rest.n && !last)
        *(struct str *)list_append(a, &r->columns, sizeof(struct str)) =
            str_trim(parse_next_csv_cell(a, &r->rest, &last));
}

/* Removes one array element from the front of `rest` and returns it: the text up to the next comma
 * or bracket at depth 0. Does not validate the JSON. */
static struct str extract_next_json_array_element(struct str *rest)
{
    struct str in = *rest;
    bool quoted = false;
    size_t i, depth = 0;

    for (i = 0; i < in.n; i++) {
        char c = in.p[i];

        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (quoted)
            continue;
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        else if (depth == 0 && (c == ',' || c == ']'))
            break;
    }
    bool end = i >= in.n || in.p[i] == ']';
    *rest = end ? STR("") : str_skip_bytes(in, i + 1);
    return str_slice(in.p, i < in.n ? i : in.n);
}

bool gif_import_reader_next(struct gif_import_reader *r, struct arena *a, struct form *form,
                            struct imported_gif **ret)
{
    struct str text;

    *ret = NULL;
    *form = (struct form){ .arena = a };
    r->rest = skip_whitespace(r->rest);
    if (!r->rest.n)
        return false;
    if (r->form == FORM_ARRAY)
        text = skip_whitespace(extract_next_json_array_element(&r->rest));
    else if (r->form == FORM_LINES)
        text = str_cut(&r->rest, '\n');
    else
        text = csv_line_to_json(r, a);
    if (!text.n && !r->rest.n)
        return false;
    void *draft;
    if (!schema_decode(&gif_draft_type, text, form, &draft))
        *ret = draft;
    return true;
}
