/* oversized_content.c - content that exceeds a buffer is refused and never truncated, stored or
 * sent. */
#include <stdio.h>
#include <string.h>

#include "channels.h"
#include "gateway_conn.h"
#include "gateway_source/gateway_source.h"
#include "guilds.h"
#include "model/fields/rows.h"
#include "platform/accounts/accounts.h"

/* --- a test domain that produces content of the requested size ------------------------ */

struct size_request {
    int64_t bytes;
};
struct word {
    struct str word;
};

static const struct type type_bytes = { .kind = KIND_INT, .min = 0, .max = 1 << 30 };
static const struct type type_word = { .kind = KIND_RAW }; /* fast to write, even when large */
static const struct field size_request_fields[] = {
    { FIELD(struct size_request, bytes), .type = &type_bytes },
    { 0 },
};
static const struct schema order_schema = { "Order", sizeof(struct size_request),
                                            size_request_fields, .doc = "How much." };
static const struct type order_type = { .kind = KIND_OBJECT, .schema = &order_schema };
static const struct field word_fields[] = {
    { FIELD(struct word, word), .type = &type_word },
    { 0 },
};
static const struct schema word_schema = { "Word", sizeof(struct word), word_fields,
                                           .doc = "As much." };
static const struct type type_word_object = { .kind = KIND_OBJECT, .schema = &word_schema };
static const struct field shown_fields[] = {
    { FIELD(struct word, word), .type = &type_text },
    { 0 },
};
static const struct schema shown_schema = { "Shown", sizeof(struct word), shown_fields,
                                            .doc = "As it is kept." };
static const struct type type_shown_object = { .kind = KIND_OBJECT, .schema = &shown_schema };

enum { MIB = 1024 * 1024, MOST = 64 * MIB };

/* Filled before the request, so that no request takes long because of its test. */
static char texts[MOST + 1];

static void fill_texts(void)
{
    memset(texts, 'x', MOST);
    texts[0] = '"';
}

/* Returns a JSON string of that many bytes including its quotes. */
static struct str write_letters(struct call *call)
{
    size_t n = (size_t)((const struct size_request *)call->body)->bytes;

    if (n > 4 * MIB)
        return str_slice(texts, n); /* never read to its end */
    return STR_CONCAT(call->arena, str_slice(texts, n - 1), STR("\""));
}

static enum err store_note(struct call *call, struct str text)
{
    return tx_exec(call->tx, "update users set bio = $1 where id = $2",
                   BIND(v_text(text), v_id(call->caller->id)), NULL);
}

static enum err reply_with_letters(struct call *call)
{
    struct word word = { write_letters(call) };
    enum err e = store_note(call, STR("replied"));

    return e ? e : call_reply_with_object_of_type(call, &type_word_object, &word);
}

static enum err add_long_header(struct call *call)
{
    call_add_header(call, "X-Long", write_letters(call));
    call_add_header(call, "X-Next", STR("next"));
    return store_note(call, STR("line"));
}

static enum err store_long_column(struct call *call)
{
    struct str text = write_letters(call);

    return store_note(call, json_column_encode(call->arena, &type_word, &text));
}

static enum err emit_long_event(struct call *call)
{
    struct word word = { write_letters(call) };

    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(call->caller->id), &word_schema,
                    &word);
    return store_note(call, STR("told"));
}

/* Returns the start of the stored text. */
static enum err get_note(struct call *call)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select bio from users where id = $1",
                        BIND(v_id(call->caller->id)), &row, &found);
    struct str bio = e ? STR("") : row_text(&row, 0);

    return e ? e
             : call_reply_with_object_of_type(
                   call, &type_shown_object,
                   &(struct word){ str_slice(bio.p, bio.n < 16 ? bio.n : 16) });
}

#define ORDER(path_, handle_)                                                        \
    {                                                                                \
        .method = POST, .path = path_, .name = #handle_, .doc = "As much as asked.", \
        .auth = AUTH_USER, .body = &order_type, .status = 200, .handle = handle_     \
    }

static const struct route routes[] = {
    ORDER("/reply", reply_with_letters),
    ORDER("/line", add_long_header),
    ORDER("/column", store_long_column),
    ORDER("/event", emit_long_event),
    { .method = GET,
      .path = "/note",
      .name = "get_note",
      .doc = "What was kept.",
      .auth = AUTH_USER,
      .status = 200,
      .handle = get_note },
    { 0 },
};
static const struct domain orders = { .name = "Orders", .doc = "For tests.", .routes = routes };
static const struct domain *const served[] = { &orders, NULL };

/* --- the tests ------------------------------------------------------------------------ */

static struct answer size_request(struct client *c, const char *path, long long bytes)
{
    char body[64];

    fill_texts();
    snprintf(body, sizeof body, "{'bytes': %lld}", bytes);
    return client_post(c, body, "%s", path);
}

static void expect_note(struct client *c, const char *word)
{
    struct answer a = client_get(c, "/note");

    expect_status(a, 200);
    expect(strcmp(answer_text(a, "word"), word) == 0);
}

static void oversized_response_is_413_and_rolled_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_log_begin(w);
    expect_error(size_request(ada, "/reply", MOST - 7), 413, 40005);
    expect(strstr(world_log_end(w), "reply_with_letters"));
    expect_note(ada, "");
    struct answer a = size_request(ada, "/reply", 4 * MIB);
    expect_status(a, 200);
    expect(a.body.n == 4 * MIB + 9); /* {"word":} */
    expect_note(ada, "replied");
}

static void oversized_response_header_is_413_and_rolled_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(size_request(ada, "/line", 8 * 1024), 413, 40005);
    expect_note(ada, "");
    struct answer a = size_request(ada, "/line", 7 * 1024);
    expect_status(a, 200);
    expect(answer_header(a, "X-Long").n == 7 * 1024);
    expect(str_is(answer_header(a, "X-Next"), "next"));
    expect_note(ada, "line");
}

static void oversized_json_column_is_413_and_rolled_back(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(size_request(ada, "/column", 4 * MIB + 1), 413, 40005);
    expect_note(ada, "");
    expect_status(size_request(ada, "/column", 4 * MIB), 200);
    expect_note(ada, "\"xxxxxxxxxxxxxxx");
}

static void oversized_event_is_413_and_not_sent(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    expect_error(size_request(ada, "/event", MOST - 7), 413, 40005);
    expect_note(ada, "");
    expect_silence(ada);
    expect_status(size_request(ada, "/event", 5), 200);
    expect_event(ada, "USER_UPDATE", "{'word': 'xxx'}");
}

/* --- guilds too large for READY ------------------------------------------------------- */

/* Writes a guild of 3 MiB. */
static enum err write_large_guild(struct tx *tx, const struct member *m,
                                  const struct payload_recipient *v, struct json_writer *out)
{
    (void)tx, (void)v;
    json_begin_object(out);
    json_write_name(out, "id");
    json_write_id(out, m->guild_id);
    json_write_name(out, "name");
    json_write_raw(out, str_slice(texts, 3 * MIB));
    buf_add_char(out->out, '"');
    json_end_object(out);
    return OK;
}

static void expect_guilds_after_ready(struct gateway_conn *g, const struct dom *ready,
                                      const char *const *ids)
{
    const struct dom *guilds = dom_at(ready, "guilds");

    expect(guilds && guilds->count == 3);
    expect(dom_at(guilds, "0.name") || dom_at(guilds, "0.properties.name"));
    for (size_t i = 1; i < 3; i++) {
        expect(guilds->items[i].count == 2);
        expect(dom_at(&guilds->items[i], "unavailable")->truth);
    }
    for (size_t i = 1; i < 3; i++) {
        const struct dom *d =
            expect_dispatch(g, "GUILD_CREATE", "{'id': '%s', 'unavailable': false}", ids[i]);

        expect(dom_at(d, "name")->text.n == 3 * MIB - 1);
    }
}

static void guilds_that_exceed_ready_follow_as_guild_create(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *ids[3];
    struct gateway_source source = gateway_source;

    fill_texts();
    for (size_t i = 0; i < 3; i++)
        ids[i] = found_guild(ada, "Large");
    source.guild = write_large_guild;
    world_use_source(w, &source);
    struct gateway_conn *g = conn_open(ada, "v=10&encoding=json");
    expect_op(g, 10);
    conn_identify(g, "");
    expect_guilds_after_ready(g, expect_dispatch(g, "READY", "{}"), ids);
    /* Events of such a guild are delivered, too. */
    make_channel(ada, ids[2], "{'name': 'c'}");
    expect_dispatch(g, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'guild_id': '%s'}", ids[2]);
    expect_dispatch(g, "CHANNEL_CREATE", "{'guild_id': '%s'}", ids[2]);
    conn_kill(g);
    struct gateway_conn *shaped = conn_open(ada, "v=10&encoding=json");
    expect_op(shaped, 10);
    conn_identify(shaped, "'capabilities': 1040"); /* users once, guild fields in "properties" */
    expect_guilds_after_ready(shaped, expect_dispatch(shaped, "READY", "{}"), ids);
    world_stop(w);
}

const struct test oversized_content_tests[] = {
    TEST_ON(oversized_response_is_413_and_rolled_back, NULL, served),
    TEST_ON(oversized_response_header_is_413_and_rolled_back, NULL, served),
    TEST_ON(oversized_json_column_is_413_and_rolled_back, NULL, served),
    TEST_ON(oversized_event_is_413_and_not_sent, NULL, served),
    TEST(guilds_that_exceed_ready_follow_as_guild_create),
    { 0 },
};
