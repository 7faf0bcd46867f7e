/* provider_responses.c - validates responses of the GIF provider and converts them to the server's
 * own objects. Responses are untrusted: schemas check their structure, and file URLs must be on
 * hosts that the operator permits. */
#include "gifs/internal.h"

#include "base/mem.h"
#include "model/fields/types.h"

/* --- schemas -------------------------------------------------------------------------- */

struct provider_file {
    struct str url;
    int64_t width, height;
};
struct provider_file_entry {
    struct str key;
    struct provider_file file;
};
struct provider_gif {
    struct str id, title, url;
    struct list media; /* struct provider_file_entry */
};
struct provider_tag {
    struct str name, image;
};
struct provider_list {
    struct list results;
};

static const struct type type_address = { .kind = KIND_STRING, .max = 2048 };
static const struct type type_side = { .kind = KIND_INT, .min = 1, .max = UINT16_MAX };
static const struct type type_their_id = { .kind = KIND_STRING, .min = 1, .max = 62 };
static const struct type type_title = { .kind = KIND_STRING, .max = 1024 };

static const struct field file_fields[] = {
    { FIELD(struct provider_file, url), .type = &type_address },
    { FIELD(struct provider_file, width), .type = &type_side },
    { FIELD(struct provider_file, height), .type = &type_side },
    { 0 },
};
static const struct schema file_schema = { .size = sizeof(struct provider_file),
                                           .fields = file_fields };
static const struct type type_file = { .kind = KIND_OBJECT, .schema = &file_schema };
static const struct type type_files = { .kind = KIND_MAP, .max = 64, .of = &type_file };

static const struct field gif_fields[] = {
    { FIELD(struct provider_gif, id), .type = &type_their_id },
    { FIELD(struct provider_gif, title), .type = &type_title, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct provider_gif, url), .type = &type_address, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct provider_gif, media), .type = &type_files },
    { 0 },
};
static const struct schema their_gif_schema = { .size = sizeof(struct provider_gif),
                                                .fields = gif_fields };
static const struct type type_gif = { .kind = KIND_OBJECT, .schema = &their_gif_schema };
static const struct type type_gifs = { .kind = KIND_ARRAY, .max = 1000, .of = &type_gif };

static const struct field tag_fields[] = {
    { FIELD(struct provider_tag, name), .type = &type_title },
    { FIELD(struct provider_tag, image), .type = &type_address },
    { 0 },
};
static const struct schema tag_schema = { .size = sizeof(struct provider_tag),
                                          .fields = tag_fields };
static const struct type type_tag = { .kind = KIND_OBJECT, .schema = &tag_schema };
static const struct type type_tags = { .kind = KIND_ARRAY, .max = 1000, .of = &type_tag };
static const struct type type_terms = { .kind = KIND_ARRAY, .max = 1000, .of = &type_title };

#define LIST(name_, word_, type_)                                                       \
    static const struct field name_##_fields[] = {                                      \
        { FIELD_AS(struct provider_list, results, word_), .type = &(type_) },           \
        { 0 },                                                                          \
    };                                                                                  \
    static const struct schema name_##_schema = { .size = sizeof(struct provider_list), \
                                                  .fields = name_##_fields };           \
    static const struct type name_##_type = { .kind = KIND_OBJECT, .schema = &name_##_schema }

LIST(their_gifs, "results", type_gifs);
LIST(their_tags, "tags", type_tags);
LIST(their_terms, "results", type_terms);

static bool decode_provider_list(enum gif_provider_list_kind kind, struct arena *a, struct str body,
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
    *ret = ((const struct provider_list *)list)->results;
    return true;
}

bool is_valid_gif_provider_response(enum gif_provider_list_kind kind, struct str body)
{
    struct arena *a = arena_new();
    struct list list;
    bool valid = decode_provider_list(kind, a, body, &list);

    arena_free(a);
    return valid;
}

/* --- URLs ----------------------------------------------------------------------------- */

/* Returns whether a host matches a pattern. The pattern "media.example" matches this host; "
 * .example" matches example and all its subdomains. */
static bool host_matches_pattern(struct str pattern, struct str host)
{
    if (!str_starts_with(pattern, STR("*.")))
        return str_eq_nocase(pattern, host);
    struct str tail = str_skip_bytes(pattern, 1);
    return str_eq_nocase(str_skip_bytes(pattern, 2), host) ||
           (host.n > tail.n && str_eq_nocase(str_skip_bytes(host, host.n - tail.n), tail));
}

static bool is_allowed_media_url(struct str url)
{
    struct str hosts = gif_get_config()->media_hosts, host;

    if (!str_starts_with(url, STR("https://")))
        return false;
    url = str_skip_bytes(url, 8);
    host = str_cut(&url, '/');
    for (size_t i = 0; i < host.n; i++) {
        char c = host.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '-' || c == ':'))
            return false;
    }
    while (hosts.n)
        if (host_matches_pattern(str_trim(str_cut(&hosts, ',')), host))
            return true;
    return false;
}

/* --- GIFs ----------------------------------------------------------------------------- */

static bool gif_from_provider_response(const struct gif_request *w, const struct provider_gif *in,
                                       struct gif *out)
{
    const struct provider_file_entry *items = in->media.items;
    struct str urls[GIF_FORMAT_COUNT] = { 0 };
    struct gif_media_sizes media = { 0 };
    enum gif_format f;

    for (size_t i = 0; i < in->media.count; i++) {
        if (!find_gif_format(items[i].key, &f) || !is_allowed_media_url(items[i].file.url))
            continue;
        urls[f] = items[i].file.url;
        media.of[f] =
            (struct gif_size){ (uint32_t)items[i].file.width, (uint32_t)items[i].file.height };
    }
    f = choose_gif_format(&media, w->format);
    if (f == GIF_FORMAT_COUNT)
        return false;
    *out = (struct gif){
        .id = STR_CONCAT(w->call->arena, STR("u_"), in->id),
        .title = in->title,
        .url = str_starts_with(in->url, STR("https://")) ? in->url : urls[f],
        .src = urls[f],
        .gif_src = urls[choose_gif_format(&media, GIF_GIF)],
        .preview = urls[choose_gif_format(&media, GIF_PREVIEW)],
        .width = media.of[f].width,
        .height = media.of[f].height,
    };
    return true;
}

static struct gif_provider_query_result provider_result_of_call(const struct call *call,
                                                                enum gif_provider_list_kind kind)
{
    const struct provider_queries *in = call_get_stage_data(call, "provider_queries");

    return in ? in->of[kind].answer : (struct gif_provider_query_result){ 0 };
}

/* Returns ERR_UNAVAILABLE if the provider did not respond and the local list is empty. */
static enum err error_if_no_gif_list_available(const struct gif_provider_query_result *a,
                                               const struct list *local)
{
    bool alone = gif_get_config()->source == GIFS_UPSTREAM && !local->count;

    return a->asked && a->failed && alone ? ERR_UNAVAILABLE : OK;
}

/* Reads the provider's list. A stale response is used only if the local list is empty. Returns
 * whether there is a list. */
static bool read_provider_list(const struct gif_request *w, enum gif_provider_list_kind kind,
                               const struct list *local, struct list *ret)
{
    struct gif_provider_query_result a = provider_result_of_call(w->call, kind);

    if (!a.body.p || (a.failed && local->count))
        return false;
    return decode_provider_list(kind, w->call->arena, a.body, ret);
}

enum err add_gifs_of_provider_results(const struct gif_request *w, struct list *gifs)
{
    struct gif_provider_query_result a = provider_result_of_call(w->call, UPSTREAM_GIFS);
    struct list list;

    if (!read_provider_list(w, UPSTREAM_GIFS, gifs, &list))
        return error_if_no_gif_list_available(&a, gifs);
    /* The list may be a fixed-size array, so it is copied to a list that can grow. */
    struct list all = { 0 };
    for (size_t i = 0; i < gifs->count; i++)
        *(struct gif *)list_append(w->call->arena, &all, sizeof(struct gif)) =
            ((const struct gif *)gifs->items)[i];
    for (size_t i = 0; i < list.count && all.count < w->limit; i++) {
        struct gif g;

        if (gif_from_provider_response(w, &((const struct provider_gif *)list.items)[i], &g))
            *(struct gif *)list_append(w->call->arena, &all, sizeof g) = g;
    }
    *gifs = all;
    return OK;
}

enum err add_gif_categories_of_provider_results(const struct gif_request *w,
                                                struct list *categories)
{
    struct gif_provider_query_result a = provider_result_of_call(w->call, UPSTREAM_CATEGORIES);
    struct list list;

    if (!read_provider_list(w, UPSTREAM_CATEGORIES, categories, &list))
        return error_if_no_gif_list_available(&a, categories);
    for (size_t i = 0; i < list.count && categories->count < GIFS_CATEGORIES; i++) {
        const struct provider_tag *t = &((const struct provider_tag *)list.items)[i];

        if (!is_allowed_media_url(t->image))
            continue;
        struct gif_category *c = list_append(w->call->arena, categories, sizeof *c);
        *c = (struct gif_category){ t->name, t->image };
    }
    return OK;
}

enum err add_gif_search_terms_of_provider_results(const struct gif_request *w, struct list *terms)
{
    struct gif_provider_query_result a = provider_result_of_call(w->call, UPSTREAM_TERMS);
    struct list list;

    if (!read_provider_list(w, UPSTREAM_TERMS, terms, &list))
        return error_if_no_gif_list_available(&a, terms);
    for (size_t i = 0; i < list.count; i++)
        add_suggested_gif_search_term(
            w, terms, normalize_search_text(w->call->arena, ((const struct str *)list.items)[i]));
    return OK;
}
