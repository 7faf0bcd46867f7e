/* routes.c - message search routes and their responses. */
#include "platform/search/internal.h"

#include <stdlib.h>

#include "model/fields/ids.h"
#include "model/permissions/message_content.h"
#include "model/thread.h"
#include "model/fields/types.h"
#include "platform/applications/applications.h"
#include "platform/channels/channels.h"

/* --- hits ----------------------------------------------------------------------------- */

struct search_hit {
    snowflake id;
    double score;
};

/* Messages that are not indexed yet: those that match (found), and all of them (all). The index may
 * have an outdated version of an edited message, so its hits for messages in `all` are ignored. */
struct unindexed_hits {
    struct list found, all; /* snowflakes, newest first */
};

static bool id_is_in_range(const struct search_id_range *r, snowflake id)
{
    return id > r->above && id < r->below;
}

/* Finds those of the unindexed messages that match. */
static void find_unindexed_hits(struct call *call, const struct search_terms *t,
                                const struct search_id_range *r, const struct list *documents,
                                struct unindexed_hits *ret)
{
    for (size_t i = 0; i < documents->count; i++) {
        struct search_document *d = &((struct search_document *)documents->items)[i];

        id_list_add(call->arena, &ret->all, d->id);
        if (!id_is_in_range(r, d->id))
            continue;
        search_document_add_content_terms(call->arena, d);
        if (search_terms_match_message(t, d))
            id_list_add(call->arena, &ret->found, d->id);
    }
}

static bool message_is_unindexed(const struct list *all, snowflake id)
{
    const snowflake *ids = all->items;
    size_t low = 0, high = all->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ids[middle] > id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->count && ids[low] == id;
}

static int compare_hits_newest_first(const void *a, const void *b)
{
    const struct search_hit *x = a, *y = b;

    return x->id > y->id ? -1 : x->id < y->id;
}

static int compare_hits_oldest_first(const void *a, const void *b)
{
    return compare_hits_newest_first(b, a);
}

static int compare_hits_by_score(const void *a, const void *b)
{
    const struct search_hit *x = a, *y = b;

    return x->score > y->score ? -1 : x->score < y->score ? 1 : compare_hits_newest_first(a, b);
}

static void append_hits_of_ids(struct call *call, struct list *hits, const struct list *ids,
                               const struct list *but)
{
    for (size_t i = 0; i < ids->count; i++) {
        snowflake id = ((const snowflake *)ids->items)[i];

        if (!but || !message_is_unindexed(but, id))
            ((struct search_hit *)list_append(call->arena, hits, sizeof(struct search_hit)))->id =
                id;
    }
}

static void sort_search_hits(struct list *hits, int (*order)(const void *, const void *))
{
    if (hits->count)
        qsort(hits->items, hits->count, sizeof(struct search_hit), order);
}

/* --- word order and distance ---------------------------------------------------------- */

enum { CONTENTS_AT_ONCE = 250 };

static bool search_needs_message_contents(const struct search_terms *t,
                                          const struct search_query *q)
{
    const struct search_phrase *p = t->phrases.items;

    return t->any_phrases.count || (t->phrases.count && p->words.count > 1) ||
           str_is(q->sort_by.value, "relevance");
}

/* Appends those hits to `matching` whose message content matches the query. */
static enum err filter_search_hits_by_content(struct call *call, const struct search_terms *t,
                                              struct search_hit *hits, size_t count,
                                              struct list *matching)
{
    struct arena *before, *scratch = arena_new();
    snowflake ids[CONTENTS_AT_ONCE];
    struct rows rows;

    for (size_t i = 0; i < count; i++)
        ids[i] = hits[i].id;
    before = tx_replace_arena(call->tx, scratch);
    enum err e = message_index_read_contents(call, ids, count, &rows);
    while (!e && rows_next(&rows)) {
        struct search_hit hit = { .id = row_id(&rows, 0) };

        if (search_terms_match_content(scratch, t, row_text(&rows, 1), &hit.score))
            *(struct search_hit *)list_append(call->arena, matching, sizeof hit) = hit;
    }
    if (!e)
        e = rows_end(&rows);
    tx_replace_arena(call->tx, before);
    arena_free(scratch);
    return e;
}

static enum err filter_all_hits_by_content(struct call *call, const struct search_terms *t,
                                           struct list *hits)
{
    struct search_hit *h = hits->items;
    struct list matching = { 0 };
    enum err e = OK;

    for (size_t at = 0; !e && at < hits->count; at += CONTENTS_AT_ONCE) {
        size_t left = hits->count - at;

        e = filter_search_hits_by_content(
            call, t, h + at, left < CONTENTS_AT_ONCE ? left : CONTENTS_AT_ONCE, &matching);
    }
    *hits = matching;
    return e;
}

/* --- search --------------------------------------------------------------------------- */

static enum err find_search_hits(struct call *call, const struct search_query *q,
                                 struct search_terms *t, struct list *ret, bool *ret_ready)
{
    struct search_id_range range = { .above = q->min_id.value,
                                     .below =
                                         q->max_id.given == GIVEN && q->max_id.value < INT64_MAX
                                             ? q->max_id.value
                                             : INT64_MAX,
                                     .oldest = str_is(q->sort_order.value, "asc"),
                                     .limit = SEARCH_MAX_RESULTS };
    bool relevant = str_is(q->sort_by.value, "relevance");
    bool needs_contents = search_needs_message_contents(t, q);
    struct unindexed_hits noted = { 0 };
    struct list documents, indexed;

    range.oldest = range.oldest && !relevant;
    enum err e =
        read_unindexed_documents(call->tx, UNINDEXED_NEWEST, SEARCH_MAX_UNINDEXED + 1, &documents);
    if (documents.count)
        call->after = schedule_message_indexing;
    *ret_ready = documents.count <= SEARCH_MAX_UNINDEXED;
    if (e || !*ret_ready)
        return e;
    *ret = (struct list){ 0 };
    e = search_terms_add_posting_lists(call, t);
    if (!e)
        e = message_index_search(call, t, &range, !needs_contents, &indexed);
    if (e)
        return e;
    find_unindexed_hits(call, t, &range, &documents, &noted);
    append_hits_of_ids(call, ret, &indexed, &noted.all);
    append_hits_of_ids(call, ret, &noted.found, NULL);
    if (needs_contents)
        e = filter_all_hits_by_content(call, t, ret);
    sort_search_hits(ret, relevant       ? compare_hits_by_score
                          : range.oldest ? compare_hits_oldest_first
                                         : compare_hits_newest_first);
    if (ret->count > SEARCH_MAX_RESULTS)
        ret->count = SEARCH_MAX_RESULTS;
    return e;
}

/* --- responses ------------------------------------------------------------------------ */

struct search_reply {
    struct list messages; /* one struct list of struct message per result */
    bool doing_deep_historical_index;
    int64_t total_results;
    struct opt_list threads, members;
};
static const struct type type_found = { .kind = KIND_ARRAY, .of = &type_messages };
static const struct field reply_fields[] = {
    { FIELD(struct search_reply, messages), .type = &type_found,
      .doc = "A list with one message per hit" },
    { FIELD(struct search_reply, doing_deep_historical_index), .type = &type_bool },
    { FIELD(struct search_reply, total_results), .type = &type_count,
      .doc = "10000 are counted at most" },
    { FIELD(struct search_reply, threads), .type = &type_channels, .flags = OPTIONAL,
      .doc = "Threads of the messages of this page" },
    { FIELD(struct search_reply, members), .type = &type_thread_members, .flags = OPTIONAL,
      .doc = "The caller's thread members of these threads" },
    { 0 },
};
static const struct schema reply_schema = {
    .name = "SearchResults",
    .size = sizeof(struct search_reply),
    .fields = reply_fields,
    .doc = "Messages that were found.",
};
static const struct type search_reply = { .kind = KIND_OBJECT, .schema = &reply_schema };

struct index_not_ready_reply {
    struct str message;
    int64_t code, documents_indexed, retry_after;
};
static const struct field unready_fields[] = {
    { FIELD(struct index_not_ready_reply, message), .type = &type_text },
    { FIELD(struct index_not_ready_reply, code), .type = &type_count },
    { FIELD(struct index_not_ready_reply, documents_indexed), .type = &type_count,
      .doc = "10000 are counted at most" },
    { FIELD(struct index_not_ready_reply, retry_after), .type = &type_count, .doc = "Seconds" },
    { 0 },
};
static const struct schema unready_schema = {
    .name = "SearchNotReady",
    .size = sizeof(struct index_not_ready_reply),
    .fields = unready_fields,
    .doc = "Too many messages are not indexed yet; retry later.",
};
static const struct type type_unready = { .kind = KIND_OBJECT, .schema = &unready_schema };

static const char COUNT_INDEXED[] =
    "select count(*) from (select rowid from message_index limit 10000) x";

static enum err reply_index_not_ready(struct call *call)
{
    struct index_not_ready_reply out = { STR("Index not yet available. Try again later"), 110000, 0,
                                         5 };
    int64_t n = 0;
    enum err e = tx_read_int(call->tx, COUNT_INDEXED, NO_BIND, &n);

    if (e)
        return e;
    out.documents_indexed = n;
    call_set_status(call, 202);
    return call_reply_with_object_of_type(call, &type_unready, &out);
}

static enum err add_thread_to_reply(struct call *call, struct search_reply *out,
                                    snowflake channel_id)
{
    const struct channel *there = out->threads.value.items;
    struct channel c;

    for (size_t i = 0; i < out->threads.value.count; i++)
        if (there[i].id == channel_id)
            return OK;
    enum err e = channel_find(call->tx, channel_id, &c);
    if (e || !channel_is_thread(c.type))
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    e = thread_read_membership_of_user(call->tx, call->caller->id, &c);
    if (e)
        return e;
    out->threads.given = out->members.given = GIVEN;
    if (c.member)
        *(struct thread_member *)list_append(call->arena, &out->members.value,
                                             sizeof(struct thread_member)) = *c.member;
    c.member = NULL;
    *(struct channel *)list_append(call->arena, &out->threads.value, sizeof c) = c;
    return OK;
}

static enum err add_message_to_reply(struct call *call, struct search_reply *out, snowflake id)
{
    struct message *m = arena_alloc(call->arena, sizeof *m);
    enum err e = message_find_unless_ephemeral(call, id, m);

    if (e)
        return e == ERR_UNKNOWN_MESSAGE ? OK : e;
    m->hit = opt_true_or_absent(true);
    *(struct list *)list_append(call->arena, &out->messages, sizeof(struct list)) =
        (struct list){ m, 1, 0 };
    return channel_is_private(call->target.channel ? call->target.channel->type : 0)
               ? OK
               : add_thread_to_reply(call, out, m->channel_id);
}

static enum err reply_with_hits(struct call *call, const struct search_query *q,
                                const struct list *hits)
{
    struct search_reply out = { .total_results = (int64_t)hits->count };
    const struct search_hit *h = hits->items;
    enum err e = OK;

    for (int64_t i = q->offset; !e && i < (int64_t)hits->count && i < q->offset + q->limit; i++)
        e = add_message_to_reply(call, &out, h[i].id);
    return e ? e : call_reply_with_object(call, &out);
}

static enum err search_and_reply(struct call *call, struct search_terms *t)
{
    const struct search_query *q = call->query;
    struct list hits;
    bool ready;

    search_terms_add_query(call->arena, q, t);
    enum err e = find_search_hits(call, q, t, &hits, &ready);
    if (e)
        return e;
    return ready ? reply_with_hits(call, q, &hits) : reply_index_not_ready(call);
}

/* --- routes --------------------------------------------------------------------------- */

/* Refuses bots without the MESSAGE_CONTENT intent. */
static enum err check_search_permission(struct call *call)
{
    struct application app;

    if (call->caller->kind != CALLER_BOT)
        return OK;
    enum err e = application_find(call->tx, call->caller->application_id, &app);
    if (e)
        return e;
    if (app.flags & APPLICATION_MESSAGE_CONTENT)
        return OK;
    call_set_refusal_cause(
        call,
        "the application has not enabled the privileged intent MESSAGE_CONTENT; enable it in the "
        "settings of the application");
    return ERR_MISSING_ACCESS;
}

/* GET /guilds/{guild.id}/messages/search */
static enum err search_guild_messages(struct call *call)
{
    struct search_terms t = { 0 };
    enum err e = search_terms_add_guild_channels(call, call->query, &t);

    return e ? e : search_and_reply(call, &t);
}

/* GET /channels/{channel.id}/messages/search */
static enum err search_channel_messages(struct call *call)
{
    struct search_terms t = { 0 };

    search_term_filter_add_term(call->arena, search_terms_add_filter(call->arena, &t),
                                search_term_of_id(call->arena, 'c', call->target.channel->id));
    return search_and_reply(call, &t);
}

static const struct rate_limit search_limit = { .name = "message-search",
                                                .count = 5,
                                                .window_s = 5 };

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/messages/search",
        .name = "search_guild_messages",
        .doc = "Find messages of a guild, in channels where the caller has READ_MESSAGE_HISTORY. "
               "202 and code 110000 while many messages have not been indexed yet.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &guild_search_schema,
        .reply = &search_reply,
        .background = true,
        .limit = &search_limit,
        .admit = check_search_permission,
        .before_standby = search_read_channels_of_primary,
        .handle = search_guild_messages,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/messages/search",
        .name = "search_channel_messages",
        .doc = "Find messages of a private channel.",
        .auth = AUTH_USER,
        .query = &channel_search_schema,
        .reply = &search_reply,
        .background = true,
        .limit = &search_limit,
        .admit = require_private_channel,
        .before_standby = call_read_nothing_but_path_objects,
        .handle = search_channel_messages,
    },
    { 0 },
};

const struct domain search_domain = {
    .name = "Message search",
    .doc = "Search for messages by words and other properties.",
    .routes = routes,
    .jobs = (const struct job_kind *const[]){ &message_indexing, NULL },
    .hooks =
        &(const struct hook_listeners){ .message_created = message_indexing_on_message_create },
};
