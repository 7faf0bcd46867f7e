/* upstream_read.c - validates answers of the GIF provider and converts them to our objects.
 *
 * Answers are untrusted: schemas check their structure, and file URLs must be on hosts that the
 * operator permits. */
#include "gifs/internal.h"

#include "base/mem.h"
#include "model/fields/types.h"

/* --- schemas -------------------------------------------------------------------------- */

struct their_file {
    struct str url;
    int64_t width, height;
};
struct their_item {
    struct str key;
    struct their_file file;
};
struct their_gif {
    struct str id, title, url;
    struct list media; /* struct their_item */
};
struct their_tag {
    struct str name, image;
};
struct their_list {
    struct list results;
};

static const struct type type_address = { .kind = KIND_STRING, .max = 2048 };
static const struct type type_side = { .kind = KIND_INT, .min = 1, .max = UINT16_MAX };
static const struct type type_their_id = { .kind = KIND_STRING, .min = 1, .max = 62 };
static const struct type type_title = { .kind = KIND_STRING, .max = 1024 };

static const struct field file_fields[] = {
    { FIELD(struct their_file, url), .type = &type_address },
    { FIELD(struct their_file, width), .type = &type_side },
    { FIELD(struct their_file, height), .type = &type_side },
    { 0 },
};
static const struct schema file_schema = { .size = sizeof(struct their_file),
                                           .fields = file_fields };
static const struct type type_file = { .kind = KIND_OBJECT, .schema = &file_schema };
static const struct type type_files = { .kind = KIND_MAP, .max = 64, .of = &type_file };

static const struct field gif_fields[] = {
    { FIELD(struct their_gif, id), .type = &type_their_id },
    { FIELD(struct their_gif, title), .type = &type_title, .flags = OPTIONAL, .fallback_text = "" },
    { FIELD(struct their_gif, url), .type = &type_address, .flags = OPTIONAL, .fallback_text = "" },
    { FIELD(struct their_gif, media), .type = &type_files },
    { 0 },
};
static const struct schema their_gif_schema = { .size = sizeof(struct their_gif),
                                                .fields = gif_fields };
static const struct type type_gif = { .kind = KIND_OBJECT, .schema = &their_gif_schema };
static const struct type type_gifs = { .kind = KIND_ARRAY, .max = 1000, .of = &type_gif };

static const struct field tag_fields[] = {
    { FIELD(struct their_tag, name), .type = &type_title },
    { FIELD(struct their_tag, image), .type = &type_address },
    { 0 },
};
static const struct schema tag_schema = { .size = sizeof(struct their_tag), .fields = tag_fields };
static const struct type type_tag = { .kind = KIND_OBJECT, .schema = &tag_schema };
static const struct type type_tags = { .kind = KIND_ARRAY, .max = 1000, .of = &type_tag };
static const struct type type_terms = { .kind = KIND_ARRAY, .max = 1000, .of = &type_title };

#define LIST(name_, word_, type_)                                                    \
    static const struct field name_##_fields[] = {                                   \
        { FIELD_AS(struct their_list, results, word_), .type = &(type_) },           \
        { 0 },                                                                       \
    };                                                                               \
    static const struct schema name_##_schema = { .size = sizeof(struct their_list), \
                                                  .fields = name_##_fields };        \
    static const struct type name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_schema }

LIST(their_gifs, "results", type_gifs);
LIST(their_tags, "tags", type_tags);
LIST(their_terms, "results", type_terms);

static bool upstream_read_decode(enum upstream_kind kind, struct arena *a, struct str body,
                                 struct list *ret)
{
    static const struct type *const types[UPSTREAM_KINDS] = {
        [UPSTREAM_GIFS] = &their_gifs_type,
        [UPSTREAM_CATEGORIES] = &their_tags_type,
        [UPSTREAM_TERMS] = &their_terms_type,
    };
    struct form form = { .arena = a };
    void *list;

    if (!body.n || schema_decode(types[kind], body, &form, &list))
        return false;
    *ret = ((const struct their_list *)list)->results;
    return true;
}

bool upstream_valid(enum upstream_kind kind, struct str body)
{
    struct arena *a = arena_new();
    struct list list;
    bool valid = upstream_read_decode(kind, a, body, &list);

    arena_free(a);
    return valid;
}

/* --- URLs ----------------------------------------------------------------------------- */

/* Matches a host with "media.example" or "*.example", which also matches example itself. */
static bool host_matches(struct str pattern, struct str host)
{
    if (!str_starts(pattern, STR("*.")))
        return str_eq_nocase(pattern, host);
    struct str tail = str_from(pattern, 1);
    return str_eq_nocase(str_from(pattern, 2), host) ||
           (host.n > tail.n && str_eq_nocase(str_from(host, host.n - tail.n), tail));
}

static bool is_allowed(struct str url)
{
    struct str hosts = gif_config()->media_hosts, host;

    if (!str_starts(url, STR("https://")))
        return false;
    url = str_from(url, 8);
    host = str_cut(&url, '/');
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '-' || c == ':'))
            return false;
    }
    while (hosts.n)
        if (host_matches(str_trim(str_cut(&hosts, ',')), host))
            return true;
    return false;
}

/* --- GIFs ----------------------------------------------------------------------------- */

static bool upstream_read_show(const struct gif_request *w, const struct their_gif *in,
                               struct gif *out)
{
    const struct their_item *items = in->media.items;
    struct str urls[GIF_FORMAT_COUNT] = { 0 };
    struct gif_media media = { 0 };
    enum gif_format f;

    for (size_t i = 0; i < in->media.count; i++) {
        if (!gif_format_find(items[i].key, &f) || !is_allowed(items[i].file.url))
            continue;
        urls[f] = items[i].file.url;
        media.of[f] =
            (struct gif_size){ (uint32_t)items[i].file.width, (uint32_t)items[i].file.height };
    }
    f = gif_media_choose(&media, w->format);
    if (f == GIF_FORMAT_COUNT)
        return false;
    *out = (struct gif){
        .id = STR_CONCAT(w->call->arena, STR("u_"), in->id),
        .title = in->title,
        .url = str_starts(in->url, STR("https://")) ? in->url : urls[f],
        .src = urls[f],
        .gif_src = urls[gif_media_choose(&media, GIF_GIF)],
        .preview = urls[gif_media_choose(&media, GIF_PREVIEW)],
        .width = media.of[f].width,
        .height = media.of[f].height,
    };
    return true;
}

static struct upstream_answer upstream_said(const struct call *call, enum upstream_kind kind)
{
    const struct inquiry *in = call_passed(call, "inquiry");

    return in ? in->of[kind].answer : (struct upstream_answer){ 0 };
}

/* Returns the error if the provider has no response: only if the local list is empty, too. */
static enum err upstream_read_without(const struct upstream_answer *a, const struct list *ours)
{
    bool alone = gif_config()->source == GIFS_UPSTREAM && !ours->count;

    return a->asked && a->failed && alone ? ERR_UNAVAILABLE : OK;
}

/* Returns the provider's list; a stale one only if the local list is empty. */
static bool upstream_read_theirs(const struct gif_request *w, enum upstream_kind kind,
                                 const struct list *ours, struct list *ret)
{
    struct upstream_answer a = upstream_said(w->call, kind);

    if (!a.body.p || (a.failed && ours->count))
        return false;
    return upstream_read_decode(kind, w->call->arena, a.body, ret);
}

enum err upstream_add_gifs(const struct gif_request *w, struct list *gifs)
{
    struct upstream_answer a = upstream_said(w->call, UPSTREAM_GIFS);
    struct list list;

    if (!upstream_read_theirs(w, UPSTREAM_GIFS, gifs, &list))
        return upstream_read_without(&a, gifs);
    /* The given list may be a fixed array, so copy it to one that can grow. */
    struct list all = { 0 };
    for (size_t i = 0; i < gifs->count; i++)
        *(struct gif *)list_add(w->call->arena, &all, sizeof(struct gif)) =
            ((const struct gif *)gifs->items)[i];
    for (size_t i = 0; i < list.count && all.count < w->limit; i++) {
        struct gif g;

        if (upstream_read_show(w, &((const struct their_gif *)list.items)[i], &g))
            *(struct gif *)list_add(w->call->arena, &all, sizeof g) = g;
    }
    *gifs = all;
    return OK;
}

enum err upstream_add_categories(const struct gif_request *w, struct list *categories)
{
    struct upstream_answer a = upstream_said(w->call, UPSTREAM_CATEGORIES);
    struct list list;

    if (!upstream_read_theirs(w, UPSTREAM_CATEGORIES, categories, &list))
        return upstream_read_without(&a, categories);
    for (size_t i = 0; i < list.count && categories->count < GIFS_CATEGORIES; i++) {
        const struct their_tag *t = &((const struct their_tag *)list.items)[i];

        if (!is_allowed(t->image))
            continue;
        struct gif_category *c = list_add(w->call->arena, categories, sizeof *c);
        *c = (struct gif_category){ t->name, t->image };
    }
    return OK;
}

enum err upstream_add_terms(const struct gif_request *w, struct list *terms)
{
    struct upstream_answer a = upstream_said(w->call, UPSTREAM_TERMS);
    struct list list;

    if (!upstream_read_theirs(w, UPSTREAM_TERMS, terms, &list))
        return upstream_read_without(&a, terms);
    for (size_t i = 0; i < list.count; i++)
        terms_add(w, terms, words_normal(w->call->arena, ((const struct str *)list.items)[i]));
    return OK;
}
