/* routes.c - routes of GIF search, trends, suggestions and selection. */
#include "gifs/internal.h"

#include "api/deletion.h"
#include "platform/accounts/accounts.h"

static const struct rate_limit gif_limit = { .name = "gifs", .count = 40, .window_s = 10 };

/* Replies with the results of the local catalogue, followed by those of the provider. */
static enum err reply_with_provider_gifs(struct gif_request *w, struct list *list)
{
    enum err e = add_gifs_of_provider_results(w, list);

    return e ? e : call_reply_with_object(w->call, list);
}

/* --- sources of GIFs ------------------------------------------------------------------ */

struct gif_source_name {
    struct str name, api_name;
};
static const struct field gif_source_name_fields[] = {
    { FIELD(struct gif_source_name, name), .type = &type_text },
    { FIELD(struct gif_source_name, api_name), .type = &type_text,
      .doc = "Value of the parameter provider; the server ignores it" },
    { 0 },
};
static const struct schema gif_source_name_schema = {
    .name = "GifSource",
    .size = sizeof(struct gif_source_name),
    .fields = gif_source_name_fields,
    .doc = "A source of GIFs.",
};
static const struct type type_gif_source_name = { .kind = KIND_OBJECT,
                                                  .schema = &gif_source_name_schema };
static const struct type gif_source_names_reply = { .kind = KIND_ARRAY,
                                                    .of = &type_gif_source_name };

/* GET /gifs, which the clients of Spacebar call: lists the sources from which a user can choose
 * GIFs. */
static enum err list_gif_sources(struct call *call)
{
    static const struct gif_source_name only = { STR_INIT("GIFs"), STR_INIT("guildhall") };
    struct list sources = { (void *)(uintptr_t)&only, gif_get_config()->source != GIFS_OFF };

    return call_reply_with_object(call, &sources);
}

/* GET /gifs/search */
static enum err search_gifs(struct call *call)
{
    struct list gifs = { 0 };
    struct gif_request w;
    enum err e = read_gif_request(call, &w);

    if (!e && should_search_local_gif_catalogue(call))
        e = search_gif_catalogue(&w, &gifs);
    return e ? e : reply_with_provider_gifs(&w, &gifs);
}

/* GET /gifs/trending-gifs */
static enum err list_trending_gifs(struct call *call)
{
    struct list gifs = { 0 };
    struct gif_request w;
    enum err e = read_gif_request(call, &w);

    if (!e && should_search_local_gif_catalogue(call))
        e = read_trending_gifs(&w, w.limit, &gifs);
    return e ? e : reply_with_provider_gifs(&w, &gifs);
}

/* GET /gifs/trending */
static enum err get_gif_trends(struct call *call)
{
    struct gif_trends out = { 0 };
    struct gif_request w;
    enum err e = read_gif_request(call, &w);

    w.limit = 1;
    if (!e && should_search_local_gif_catalogue(call)) {
        e = read_gif_categories(&w, &out.categories);
        if (!e)
            e = read_trending_gifs(&w, 1, &out.gifs);
    }
    if (!e)
        e = add_gif_categories_of_provider_results(&w, &out.categories);
    if (!e)
        e = add_gifs_of_provider_results(&w, &out.gifs);
    return e ? e : call_reply_with_object(call, &out);
}

static enum err reply_with_provider_terms(struct gif_request *w, struct list *terms)
{
    enum err e = add_gif_search_terms_of_provider_results(w, terms);

    return e ? e : call_reply_with_object(w->call, terms);
}

/* GET /gifs/trending-search */
static enum err list_trending_searches(struct call *call)
{
    struct list terms = { 0 };
    struct gif_request w;
    enum err e = read_gif_request(call, &w);

    if (!e && should_search_local_gif_catalogue(call))
        e = read_trending_gif_search_terms(&w, &terms);
    return e ? e : reply_with_provider_terms(&w, &terms);
}

/* GET /gifs/suggest */
static enum err suggest_searches(struct call *call)
{
    struct list terms = { 0 };
    struct gif_request w;
    enum err e = read_gif_request(call, &w);

    if (!e && should_search_local_gif_catalogue(call))
        e = read_gif_search_suggestions(&w, &terms);
    return e ? e : reply_with_provider_terms(&w, &terms);
}

/* --- selection ------------------------------------------------------------------------ */

static enum err prepare_select_gif(struct call *call)
{
    if (gif_get_config()->source == GIFS_OFF)
        return ERR_FEATURE_DISABLED;
    forward_gif_selection_to_provider(call);
    prepare_recording_of_selected_gif(call);
    return OK;
}

/* POST /gifs/select */
static enum err select_gif(struct call *call)
{
    const struct gif_select_body *in = call->body;
    struct str locale;
    enum err e = determine_request_locale(call, &locale);

    return e ? e : insert_gif_selection(call, in->id, locale);
}

/* --- routes --------------------------------------------------------------------------- */

#define READ(path_, handler_, query_, reply_, prepare_, doc_)                             \
    {                                                                                     \
        .method = GET, .path = path_, .name = #handler_, .doc = doc_,                     \
        .auth = AUTH_OPEN | AUTH_GOOD, .query = &(query_), .reply = &(reply_),            \
        .limit = &gif_limit, .background = true, .prepare = prepare_, .handle = handler_, \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/gifs",
        .name = "list_gif_sources",
        .doc = "The sources of GIFs: one, or none if GIFs are off.",
        .auth = AUTH_OPEN | AUTH_GOOD,
        .reply = &gif_source_names_reply,
        .limit = &gif_limit,
        .store = ROUTE_STORE_NONE,
        .handle = list_gif_sources,
    },
    READ("/gifs/search", search_gifs, gif_search_query, gifs_reply, send_gif_search_to_provider,
         "GIFs by words, the best first."),
    READ("/gifs/suggest", suggest_searches, gif_suggest_query, gif_terms_reply,
         request_gif_suggestions_of_provider, "Suggested search terms that continue the query."),
    READ("/gifs/trending", get_gif_trends, gif_trends_query, gif_trends_reply,
         request_gif_trends_of_provider, "Categories, and one trending GIF."),
    READ("/gifs/trending-gifs", list_trending_gifs, gif_list_query, gifs_reply,
         request_trending_gifs_of_provider, "Trending GIFs."),
    READ("/gifs/trending-search", list_trending_searches, gif_term_query, gif_terms_reply,
         request_trending_gif_terms_of_provider, "Trending search terms."),
    {
        .method = POST,
        .path = "/gifs/select",
        .name = "select_gif",
        .doc = "Report that a GIF was chosen.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &gif_choice_body,
        .limit = &gif_limit,
        .prepare = prepare_select_gif,
        .handle = select_gif,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &gif_count_job, NULL };

const struct domain gifs_domain = {
    .name = "GIFs",
    .doc = "Search for GIFs to send.",
    .routes = routes,
    .jobs = jobs,
    .deletions =
        (const struct deletion_rule[]){ { DELETE_OF(WITH_ACCOUNT, "gif_picks", "user_id", "gif") },
                                        { 0 } },
};
