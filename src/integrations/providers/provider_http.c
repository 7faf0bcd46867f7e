/* provider_http.c - sends requests to the HTTP server of a platform (protocol:
 * docs/integrations.md). The server is not trusted: a timeout is logged and becomes
 * PROVIDER_TEMPORARY, and so does a response that is too large, invalid or unexpected. */
#include "integrations/providers/provider.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/fields/types.h"
#include "net/client/fetcher.h"

enum { TIMEOUT_MS = 5000, TRIES = 3, MAX_ANSWER = 1024 * 1024 };

/* A pending request, with copies of its strings in an arena. */
struct http_provider_request {
    struct api *api;
    struct loop *loop;
    struct arena *arena;
    struct platform_provider_request question;
    struct str url, body;
    int tries;
};

/* --- schemas of answers --------------------------------------------------------------- */

static const struct type type_account_id = { .kind = KIND_STRING,
                                             .min = 1,
                                             .max = LONGEST_ACCOUNT_ID };
static const struct type type_account_name = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_secret = { .kind = KIND_STRING, .max = LONGEST_SECRET };
static const struct type type_cursor = { .kind = KIND_STRING, .max = 512 };

static const struct field account_fields[] = {
    { FIELD(struct platform_provider_account, id), .type = &type_account_id },
    { FIELD(struct platform_provider_account, name), .type = &type_account_name },
    { FIELD(struct platform_provider_account, secret), .type = &type_secret, .flags = OPTIONAL,
      .fallback_text = "" },
    { FIELD(struct platform_provider_account, has_programme), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct platform_provider_account, is_partner), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema account_schema = { .size = sizeof(struct platform_provider_account),
                                              .fields = account_fields };
static const struct type type_account = { .kind = KIND_OBJECT, .schema = &account_schema };

struct provider_person {
    struct str id;
};
static const struct field person_fields[] = {
    { FIELD(struct provider_person, id), .type = &type_account_id },
    { 0 },
};
static const struct schema person_schema = { .size = sizeof(struct provider_person),
                                             .fields = person_fields };
static const struct type type_person = { .kind = KIND_OBJECT, .schema = &person_schema };
static const struct type type_people = { .kind = KIND_ARRAY,
                                         .max = PROVIDER_PAGE,
                                         .of = &type_person };

struct provider_people_page {
    struct list people;
    struct opt_str next_cursor;
};
#define PAGE(name_, word_)                                                                     \
    static const struct field name_##_fields[] = {                                             \
        { FIELD_AS(struct provider_people_page, people, word_), .type = &type_people },        \
        { FIELD(struct provider_people_page, next_cursor), .type = &type_cursor,               \
          .flags = OPTIONAL | NULLABLE },                                                      \
        { 0 },                                                                                 \
    };                                                                                         \
    static const struct schema name_##_schema = { .size = sizeof(struct provider_people_page), \
                                                  .fields = name_##_fields };                  \
    static const struct type type_##name_ = { .kind = KIND_OBJECT, .schema = &name_##_schema }
PAGE(subscribers, "subscribers");
PAGE(friends, "friends");

static bool parse_account_response(struct http_provider_request *k, struct str body,
                                   struct platform_provider_response *a)
{
    const struct platform_provider_account *account =
        schema_decode_or_null(&type_account, body, k->arena);

    if (!account)
        return false;
    a->account = *account;
    /* A response that is about another account than the request is refused. */
    return k->question.kind == ASK_EXCHANGE || str_eq(account->id, k->question.account_id);
}

static bool parse_account_ids_page_response(struct http_provider_request *k, struct str body,
                                            struct platform_provider_response *a)
{
    const struct provider_people_page *page = schema_decode_or_null(
        k->question.kind == ASK_FRIENDS ? &type_friends : &type_subscribers, body, k->arena);

    if (!page)
        return false;
    /* The strings can be used as a list, because struct provider_person has the layout of struct
     * str. */
    a->ids = page->people;
    if (page->next_cursor.given == GIVEN)
        a->next = page->next_cursor.value;
    return true;
}

static bool parse_provider_response(struct http_provider_request *k, struct str body,
                                    struct platform_provider_response *a)
{
    switch (k->question.kind) {
    case ASK_EXCHANGE:
    case ASK_ACCOUNT:
        return parse_account_response(k, body, a);
    case ASK_IS_SUBSCRIBER:
        return true;
    default:
        return parse_account_ids_page_response(k, body, a);
    }
}

/* --- requests ------------------------------------------------------------------------- */

static void send_http_request(struct http_provider_request *k);

static void finish_http_request(struct http_provider_request *k,
                                const struct platform_provider_response *a)
{
    k->question.done(k->question.arg, a);
    arena_free(k->arena);
}

static void log_http_failure(const struct http_provider_request *k, enum fetch_result result,
                             int status)
{
    log_warn("integrations: request to the provider of %s failed: %s (HTTP status %d)",
             platform_get_database_name(k->question.platform).p, fetch_result_describe(result),
             status);
}

static enum platform_provider_result provider_result_of_status(enum fetch_result result, int status)
{
    if (result != FETCH_OK)
        return PROVIDER_TEMPORARY;
    if (status == 401 || status == 403)
        return PROVIDER_UNAUTHORISED;
    if (status == 404)
        return PROVIDER_NOT_FOUND;
    return status >= 200 && status < 300 ? PROVIDER_OK : PROVIDER_TEMPORARY;
}

/* Returns whether the request must be sent again. An exchange of a code is not repeated, because a
 * code may work only once. Permanent errors are not repeated either. */
static bool should_retry_http_request(const struct http_provider_request *k,
                                      enum fetch_result result)
{
    return k->question.kind != ASK_EXCHANGE && k->tries < TRIES && result != FETCH_TOO_LARGE &&
           result != FETCH_BAD_URL && result != FETCH_FORBIDDEN && !api_is_draining(k->api);
}

static void on_http_response(void *arg, enum fetch_result result, int status,
                             struct str content_type, struct buf *body)
{
    struct http_provider_request *k = arg;
    struct platform_provider_response a = { .result = provider_result_of_status(result, status) };

    (void)content_type;
    if (a.result == PROVIDER_OK && !parse_provider_response(k, buf_as_str(body), &a))
        a = (struct platform_provider_response){ .result = PROVIDER_TEMPORARY };
    if (a.result == PROVIDER_TEMPORARY && should_retry_http_request(k, result)) {
        send_http_request(k);
        return;
    }
    if (a.result == PROVIDER_TEMPORARY)
        log_http_failure(k, result, status);
    finish_http_request(k, &a);
}

static void send_http_request(struct http_provider_request *k)
{
    struct str key =
        STR_CONCAT(k->arena, STR("Bearer "), platform_get_provider_key(k->question.platform));
    struct fetch_header headers[] = {
        { STR("Accept"), STR("application/json") },
        { STR("Authorization"), key },
        { STR("X-Account-Secret"), k->question.secret },
        { STR("Content-Type"), STR("application/json") },
    };

    k->tries++;
    fetcher_start_request(api_get_http_client_of_loop(k->api, k->loop),
                          &(struct fetch_request){ .method = k->body.n ? "POST" : "GET",
                                                   .url = str_dup_cstring(k->arena, k->url),
                                                   .headers = headers,
                                                   .header_count = k->body.n ? 4 : 3,
                                                   .body = k->body,
                                                   .timeout_ms = TIMEOUT_MS,
                                                   .max_response = MAX_ANSWER,
                                                   .done = on_http_response,
                                                   .arg = k });
}

/* --- URLs ----------------------------------------------------------------------------- */

static struct str build_account_ids_page_url(struct http_provider_request *k, struct str account,
                                             const char *what)
{
    return str_printf(k->arena, "%.*s/%s?cursor=%.*s&limit=%d", STR_ARGS(account), what,
                      STR_ARGS(str_percent_encode(k->arena, k->question.cursor)),
                      (int)PROVIDER_PAGE);
}

static struct str encode_link_code_body(struct arena *arena, struct str code)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 64 * 1024);
    json_begin_object(&j);
    json_write_name(&j, "code");
    json_write_text(&j, code);
    json_end_object(&j);
    return buf_move_to_arena(&out, arena);
}

static struct str build_request_url(struct http_provider_request *k)
{
    struct platform_provider_request *q = &k->question;
    struct str base = platform_get_provider_url(q->platform);
    struct str account =
        STR_CONCAT(k->arena, base, STR("/accounts/"), str_percent_encode(k->arena, q->account_id));

    switch (q->kind) {
    case ASK_EXCHANGE:
        k->body = encode_link_code_body(k->arena, q->code);
        return STR_CONCAT(k->arena, base, STR("/token"));
    case ASK_ACCOUNT:
        return account;
    case ASK_IS_SUBSCRIBER:
        return STR_CONCAT(k->arena, account, STR("/subscribers/"),
                          str_percent_encode(k->arena, q->subscriber_id));
    case ASK_FRIENDS:
        return build_account_ids_page_url(k, account, "friends");
    default:
        return build_account_ids_page_url(k, account, "subscribers");
    }
}

void platform_provider_send_http_request(struct api *api, struct loop *loop,
                                         const struct platform_provider_request *q)
{
    struct arena *arena = arena_new();
    struct http_provider_request *k = arena_alloc(arena, sizeof *k);

    *k = (struct http_provider_request){ .api = api, .loop = loop, .arena = arena, .question = *q };
    k->question.account_id = str_dup(arena, q->account_id);
    k->question.subscriber_id = str_dup(arena, q->subscriber_id);
    k->question.code = str_dup(arena, q->code);
    k->question.cursor = str_dup(arena, q->cursor);
    k->question.secret = str_dup(arena, q->secret);
    k->url = build_request_url(k);
    send_http_request(k);
}
