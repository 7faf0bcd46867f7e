/* request_checks.c - the checks of a request run in a fixed order. The routes belong to this
 * test: each step of a request has a route that shows it. */
#include "world.h"

#include <stdio.h>
#include <string.h>

#include "model/permissions/permissions.h"
#include "people.h"
#include "platform/accounts/accounts.h"

/* --- a test domain -------------------------------------------------------------------- */

/* Things with these ids are refused at different steps. */
enum { THING_UNKNOWN = 404, THING_HIDDEN = 403, THING_LOCKED = 13, THING_BUSY = 9 };

struct box {
    struct str name;
    int64_t count;
    struct opt_id owner;
};
struct page {
    int64_t limit;
    bool all;
    struct list words;
};

static const struct type type_name = { .kind = KIND_STRING, .min = 1, .max = 5 };
static const struct type type_limit = { .kind = KIND_INT, .min = 1, .max = 100 };
static const struct type type_words = { .kind = KIND_ARRAY, .max = 3, .of = &type_name };
static const struct field box_fields[] = {
    { FIELD(struct box, name), .type = &type_name },
    { FIELD(struct box, count), .type = &type_limit, .flags = OPTIONAL, .fallback = 1 },
    { FIELD(struct box, owner), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
static const struct schema box_schema = { "Box", sizeof(struct box), box_fields, .doc = "A box." };
static const struct type box_type = { .kind = KIND_OBJECT, .schema = &box_schema };
static const struct field page_fields[] = {
    { FIELD(struct page, limit), .type = &type_limit, .flags = OPTIONAL, .fallback = 50 },
    { FIELD(struct page, all), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct page, words), .type = &type_words, .flags = OPTIONAL },
    { 0 },
};
static const struct schema page_schema = { "Page", sizeof(struct page), page_fields,
                                           .doc = "A page." };
static const struct type page_type = { .kind = KIND_OBJECT, .schema = &page_schema };

static const struct rate_limit limit_thing = { .name = "thing", .count = 2, .window_s = 10 };
static const struct rate_limit limit_shared = { "well", 2, 10, .shared = true };

static enum err resolve_thing(struct call *call)
{
    snowflake id = call_get_path_id(call, "thing.id");

    return id == THING_UNKNOWN ? ERR_UNKNOWN_CHANNEL : id == THING_HIDDEN ? ERR_MISSING_ACCESS : OK;
}

static enum err check_permission(struct call *call, uint64_t needs)
{
    bool locked = needs && call_get_path_id(call, "thing.id") == THING_LOCKED;

    return locked && needs == PERMISSION(MANAGE_GUILD) ? ERR_MISSING_PERMISSIONS : OK;
}

static enum err put_thing(struct call *call)
{
    struct user user = { .id = call->caller->id, .username = STR("ada") };

    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(user.id), &partial_user_schema,
                    &user);
    call_add_header(call, "X-Box", STR("touched"));
    if (call_get_path_id(call, "thing.id") == THING_BUSY)
        return ERR_ALREADY_MEMBER;
    return call_reply_with_object(call, call->body);
}

static enum err reply_with_query(struct call *call)
{
    return call_reply_with_object(call, call->query);
}

static enum err reply_with_body(struct call *call)
{
    return call_reply_with_object(call, call->body);
}

static enum err reply_with_word(struct call *call)
{
    return call_reply_with_object(
        call, &(struct box){ .name = call_get_path_text(call, "word"), .count = 1 });
}

static enum err expect_no_tx(struct call *call)
{
    return call->tx ? ERR_INTERNAL : OK;
}

static enum err write_all_bios(struct call *call)
{
    return tx_exec(call->tx, "update users set bio = $1", BIND(v_text(STR("written"))), NULL);
}

static enum err read_bio(struct call *call)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select bio from users where id = $1",
                        BIND(v_id(call->caller->id)), &row, &found);

    return e ? e
             : call_reply_with_object(call, &(struct box){ .name = row_text(&row, 0), .count = 1 });
}

static enum err do_nothing(struct call *call)
{
    (void)call;
    return OK;
}

#define EVERYBODY AUTH_USER | AUTH_BOT

static const struct route routes[] = {
    { PUT, "/words/{word}", "put_word", "A word.", EVERYBODY, .reply = &box_type,
      .handle = reply_with_word },
    { PUT, "/things/{thing.id}", "put_box", "Fill a thing.", AUTH_USER | AUTH_BEARER, "voice",
      PERMISSION(MANAGE_GUILD), &page_schema, &box_type, .reply = &box_type, .handle = put_thing },
    { GET, "/pages", "get_page", "A page.", EVERYBODY, .query = &page_schema, .reply = &page_type,
      .handle = reply_with_query },
    { POST, "/forms", "post_form", "A form.", EVERYBODY, .body = &box_type,
      .body_kinds = BODY_FORM | BODY_MULTIPART, .reply = &box_type, .handle = reply_with_body },
    { POST, "/small", "post_small", "A small body.", EVERYBODY, .body = &box_type, .max_body = 100,
      .reply = &box_type, .handle = reply_with_body },
    { POST, "/quick", "post_quick", "No store.", EVERYBODY, .store = ROUTE_STORE_NONE,
      .handle = expect_no_tx },
    { GET, "/written", "get_written", "Writes.", EVERYBODY, .store = ROUTE_STORE_WRITE,
      .status = 204, .handle = write_all_bios },
    { POST, "/read", "post_read", "Only reads.", EVERYBODY, .store = ROUTE_STORE_READ,
      .reply = &box_type, .handle = read_bio },
    { GET, "/limited/{thing.id}", "get_limited", "Limited.", EVERYBODY, .limit = &limit_thing,
      .status = 204, .handle = do_nothing },
    { POST, "/limited/{thing.id}/also", "post_limited", "Limited with it.", EVERYBODY,
      .limit = &limit_thing, .handle = do_nothing },
    { POST, "/well", "draw", "Limited for all together.", AUTH_OPEN, .limit = &limit_shared,
      .handle = do_nothing },
    { GET, "/bots", "get_bots", "For bots.", AUTH_BOT, .limit = &limit_thing, .status = 204,
      .handle = do_nothing },
    { 0 },
};

static const struct path_resolver resolvers[] = {
    { .name = "thing.id", .field = "thing_id", .major = true, .resolve = resolve_thing },
    { .name = "word", .field = "word", .is_text = true },
    { 0 },
};

static const struct domain things_domain = { "Things", "Things.", routes, resolvers,
                                             check_permission };
static const struct domain *const domains[] = { &accounts_domain, &things_domain, NULL };

/* --- order of checks ------------------------------------------------------------------ */

static struct answer put_json(struct client *c, const char *path, const char *body)
{
    return client_request(c, "PUT", path, "Content-Type: application/json\r\n", str_of(body));
}

/* Each request fixes what the previous one was refused for. */
static void request_gets_the_error_of_its_first_failed_check(struct world *w)
{
    struct client *nobody = world_anonymous(w), *bot = world_bot(w, "helper");
    struct client *ada = world_client(w, "ada");
    struct client *other = world_token(w, ada, CALLER_BEARER, "email", 0);
    struct client *app = world_token(w, ada, CALLER_BEARER, "email voice", 0);

    expect_error(put_json(nobody, "/api/v5/nothing/x?limit=x", "{"), 404, 0);
    expect_error(client_request(nobody, "POST", "/api/v5/things/x?limit=x", NULL, STR("{")), 405,
                 0);
    expect_error(put_json(nobody, "/api/v5/things/x?limit=x", "{"), 400, 50041);
    expect_error(put_json(nobody, "/api/things/x?limit=x", "{"), 401, 0);
    expect_error(put_json(bot, "/api/things/x?limit=x", "{"), 403, 20001);
    expect_error(put_json(other, "/api/things/x?limit=x", "{"), 403, 50026);
    for (int i = 0; i < 2; i++) {
        struct client *c = i ? app : ada;

        expect_invalid(put_json(c, "/api/things/x?limit=x", "{"), "thing_id", "NUMBER_TYPE_COERCE");
        expect_error(put_json(c, "/api/things/404?limit=x", "{"), 404, 10003);
        expect_error(put_json(c, "/api/things/403?limit=x", "{"), 403, 50001);
        expect_error(put_json(c, "/api/things/13?limit=x", "{"), 403, 50013);
        expect_error(put_json(c, "/api/things/9?limit=x", "{"), 400, 50109);
        expect_invalid(put_json(c, "/api/things/9?limit=x", "{}"), "limit", "NUMBER_TYPE_COERCE");
        expect_invalid(put_json(c, "/api/things/9?limit=x", "{}"), "name", "BASE_TYPE_REQUIRED");
        expect_invalid(put_json(c, "/api/things/9", "{}"), "name", "BASE_TYPE_REQUIRED");
        expect_error(put_json(c, "/api/things/9", "{\"name\":\"a\"}"), 400, 40108);
        expect_json(put_json(c, "/api/things/10", "{\"name\":\"a\"}"), "{'name': 'a', 'count': 1}");
    }
}

/* 401 precedes the rate limit and does not count; all other checks follow it. */
static void rate_limit_is_checked_after_the_credential(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);

    for (int i = 0; i < 4; i++)
        expect_error(client_get(nobody, "/bots"), 401, 0);
    expect_error(client_get(ada, "/bots"), 403, 20002);
    expect_error(client_get(ada, "/bots"), 403, 20002);
    expect_status(client_get(ada, "/bots"), 429);
    expect_error(client_get(nobody, "/bots"), 401, 0);
    expect_invalid(client_get(ada, "/limited/x"), "thing_id", "NUMBER_TYPE_COERCE");
    expect_invalid(client_get(ada, "/limited/x"), "thing_id", "NUMBER_TYPE_COERCE");
    expect_status(client_get(ada, "/limited/x"), 429);
}

/* --- rollback ------------------------------------------------------------------------- */

static void refused_request_has_no_events_headers_or_writes(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    struct answer a = put_json(ada, "/api/things/9", "{\"name\":\"a\"}");
    expect_error(a, 400, 40108);
    expect(!answer_header(a, "X-Box").p);
    expect_silence(ada);
    a = put_json(ada, "/api/things/10", "{\"name\":\"a\"}");
    expect_status(a, 200);
    expect(str_is(answer_header(a, "X-Box"), "touched"));
    expect_event(ada, "USER_UPDATE", "{'id': '%s'}", ada->id);
    expect_silence(ada);
}

/* --- input ---------------------------------------------------------------------------- */

static void query_parameters_are_parsed_by_type(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(client_get(ada, "/pages"), "{'limit': 50, 'all': false, 'words': []}");
    expect_json(client_get(ada, "/pages?limit=1&all=True&other=x"), "{'limit': 1, 'all': true}");
    expect_json(client_get(ada, "/pages?limit=100&all=0"), "{'limit': 100, 'all': false}");
    expect_json(client_get(ada, "/pages?words=a&words=b"), "{'words': ['a', 'b']}");
    expect_json(client_get(ada, "/pages?words=a,b%%2B"), "{'words': ['a', 'b+']}");
    expect_invalid(client_get(ada, "/pages?limit=0"), "limit", "NUMBER_TYPE_MIN");
    expect_invalid(client_get(ada, "/pages?limit=101"), "limit", "NUMBER_TYPE_MAX");
    expect_invalid(client_get(ada, "/pages?limit=many"), "limit", "NUMBER_TYPE_COERCE");
    expect_invalid(client_get(ada, "/pages?all=maybe"), "all", "BOOLEAN_TYPE_CONVERT");
    expect_invalid(client_get(ada, "/pages?words=%%ff"), "words", "STRING_TYPE_CONVERT");
    expect_invalid(client_get(ada, "/pages?words=a,b,c,d"), "words", "BASE_TYPE_MAX_LENGTH");
    struct answer a = client_get(ada, "/pages?limit=x&all=x");
    expect_invalid(a, "limit", "NUMBER_TYPE_COERCE");
    expect_invalid(a, "all", "BOOLEAN_TYPE_CONVERT");
}

static void path_parameters_are_percent_decoded_and_must_be_utf8(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(client_put(ada, NULL, "/words/a%%2Fb%%20c+"), "{'name': 'a/b c+'}");
    expect_json(client_put(ada, NULL, "/words/@me"), "{'name': '@me'}");
    expect_json(client_put(ada, NULL, "/words/%%c3%%a4"), "{'name': '\xc3\xa4'}");
    expect_invalid(client_put(ada, NULL, "/words/%%c3"), "word", "STRING_TYPE_CONVERT");
    expect_invalid(client_put(ada, NULL, "/words/a%%00"), "word", "STRING_TYPE_CONVERT");
    expect_error(client_put(ada, NULL, "/words/"), 404, 0);
    expect_error(client_put(ada, NULL, "/words/%%zz"), 404, 0);
}

static struct answer post_form(struct client *c, const char *type, const char *body)
{
    char header[100];

    snprintf(header, sizeof header, "Content-Type: %s\r\n", type);
    return client_request(c, "POST", "/api/forms", header, str_of(body));
}

static void form_and_multipart_bodies_are_accepted(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(post_form(ada, "application/json", "{\"name\":\"a\",\"count\":2}"), "{'count': 2}");
    expect_json(post_form(ada, "application/x-www-form-urlencoded", "name=a+b&count=3"),
                "{'name': 'a b', 'count': 3}");
    expect_invalid(post_form(ada, "application/x-www-form-urlencoded", "count=x"), "name",
                   "BASE_TYPE_REQUIRED");
    expect_json(post_form(ada, "multipart/form-data; boundary=b",
                          "--b\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n"
                          "{\"name\":\"c\"}\r\n--b--\r\n"),
                "{'name': 'c'}");
    expect_invalid(post_form(ada, "multipart/form-data; boundary=b",
                             "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"
                             "c\r\n--b--\r\n"),
                   "name", "BASE_TYPE_REQUIRED");
    expect_error(post_form(ada, "multipart/form-data; boundary=b", "nonsense"), 400, 0);
    expect_invalid(post_form(ada, "text/plain", "name=a"), "", "CONTENT_TYPE_INVALID");
    /* An unsupported content type is refused even if its content is valid. */
    struct answer a =
        client_request(ada, "POST", "/api/small",
                       "Content-Type: application/x-www-form-urlencoded\r\n", STR("name=a"));
    expect_invalid(a, "", "CONTENT_TYPE_INVALID");
}

static void snowflakes_in_bodies_may_be_integers(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_json(post_form(ada, "application/json", "{\"name\":\"a\",\"owner\":9007199254740993}"),
                "{'owner': '9007199254740993'}");
    expect_json(
        post_form(ada, "application/json", "{\"name\":\"a\",\"owner\":\"9007199254740993\"}"),
        "{'owner': '9007199254740993'}");
    expect_invalid(post_form(ada, "application/json", "{\"name\":\"a\",\"owner\":1.5}"), "owner",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(post_form(ada, "application/json", "{\"name\":\"a\",\"owner\":-1}"), "owner",
                   "NUMBER_TYPE_COERCE");
    expect_invalid(
        post_form(ada, "application/json", "{\"name\":\"a\",\"owner\":9223372036854775808}"),
        "owner", "NUMBER_TYPE_COERCE");
}

static void route_can_have_a_smaller_body_limit(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    char body[200];

    int n = snprintf(body, sizeof body, "{\"name\":\"a\"%88s}", "");
    expect(n == 100);
    expect_status(client_request(ada, "POST", "/api/small", "Content-Type: application/json\r\n",
                                 str_of(body)),
                  200);
    snprintf(body, sizeof body, "{\"name\":\"a\"%89s}", "");
    expect_error(client_request(ada, "POST", "/api/small", "Content-Type: application/json\r\n",
                                str_of(body)),
                 413, 40005);
    /* Percent-encoded paths have the same limit. */
    expect_error(client_request(ada, "POST", "/api/sm%61ll", "Content-Type: application/json\r\n",
                                str_of(body)),
                 413, 40005);
}

/* --- the store ------------------------------------------------------------------------ */

static void route_row_selects_a_read_or_write_transaction_for_its_handler(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_status(client_post(ada, NULL, "/quick"), 204);
    expect_json(client_post(ada, NULL, "/read"), "{'name': ''}");
    expect_status(client_get(ada, "/written"), 204);
    expect_json(client_post(ada, NULL, "/read"), "{'name': 'written'}");
}

/* --- rate limits of rows -------------------------------------------------------------- */

static void rate_limits_count_per_major_parameter(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    expect_status(client_get(ada, "/limited/1"), 204);
    expect_status(client_post(ada, NULL, "/limited/1/also"), 204);
    struct answer a = client_get(ada, "/limited/1");
    expect_status(a, 429);
    expect_status(client_get(ada, "/limited/01"), 429);
    struct answer other = client_get(ada, "/limited/2");
    expect_status(other, 204);
    expect(
        str_eq(answer_header(a, "X-RateLimit-Bucket"), answer_header(other, "X-RateLimit-Bucket")));
    expect_status(client_get(bob, "/limited/1"), 204);
    world_wait(w, 10);
    expect_status(client_get(ada, "/limited/1"), 204);
}

static void shared_rate_limit_counts_all_callers_together(struct world *w)
{
    expect_status(client_post(world_client(w, "ada"), NULL, "/well"), 204);
    expect_status(client_post(world_anonymous(w), NULL, "/well"), 204);
    struct answer a = client_post(world_client(w, "bob"), NULL, "/well");
    expect_status(a, 429);
    expect(str_is(answer_header(a, "X-RateLimit-Scope"), "shared"));
    expect_json(a, "{'message': 'The resource is being rate limited.', 'global': false}");
}

#define TEST_HERE(function)    TEST_ON(function, NULL, domains)
#define TEST_LIMITED(function) TEST_ON(function, buckets_only, domains)

const struct test request_checks_tests[] = {
    TEST_HERE(request_gets_the_error_of_its_first_failed_check),
    TEST_LIMITED(rate_limit_is_checked_after_the_credential),
    TEST_HERE(refused_request_has_no_events_headers_or_writes),
    TEST_HERE(query_parameters_are_parsed_by_type),
    TEST_HERE(path_parameters_are_percent_decoded_and_must_be_utf8),
    TEST_HERE(form_and_multipart_bodies_are_accepted),
    TEST_HERE(snowflakes_in_bodies_may_be_integers),
    TEST_HERE(route_can_have_a_smaller_body_limit),
    TEST_HERE(route_row_selects_a_read_or_write_transaction_for_its_handler),
    TEST_LIMITED(rate_limits_count_per_major_parameter),
    TEST_LIMITED(shared_rate_limit_counts_all_callers_together),
    { 0 },
};
