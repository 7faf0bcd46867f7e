/* claims.c - sends each person of a copied guild a code with which they claim their account on this
 * server.
 *
 * The bot sends the code as a direct message on the source server. The code is neither printed nor
 * written to the archive. The file claims-sent.jsonl has the ids of the people who have received a
 * code. */
#include <inttypes.h>
#include <stdio.h>

#include "platform/accounts/placeholders.h"
#include "server/guildhall.h"
#include "tools/copy/archive/json_members.h"
#include "tools/copy/convert/convert.h"
#include "tools/copy/copy.h"
#include "tools/copy/import/import.h"

struct claim_sender {
    const struct claim_code_sending_options *options;
    struct source_server_connection connection;
    struct guild_archive_line_file sent;
    struct map ids; /* people who have received a code */
    struct str guild_name;
    enum guild_copy_result result;
    int64_t count, refused;
};

struct claim_code_request {
    snowflake user_id;
    struct str code;
};

static enum err create_claim_code(struct tx *tx, void *arg)
{
    struct claim_code_request *r = arg;

    return placeholder_account_create_claim_code(tx, r->user_id, &r->code);
}

/* Opens the DM channel of the bot and a person. Returns its id, or 0 on failure. */
static snowflake open_private_channel(struct claim_sender *s, snowflake user_id)
{
    struct buf body, out;
    snowflake id = 0;

    buf_init(&body, 200);
    buf_init(&out, SIZE_MAX);
    buf_printf(&body, "{\"recipient_id\":\"%" PRIu64 "\"}", user_id);
    s->result = source_server_connection_send_request(&s->connection, "POST", "/users/@me/channels",
                                                      buf_as_str(&body), &out);
    if (s->result == COPY_OK)
        id = json_member_get_id(buf_as_str(&out), "id");
    buf_clear(&body);
    buf_clear(&out);
    return id;
}

static void send_claim_message(struct claim_sender *s, struct arena *arena, snowflake channel,
                               struct str code)
{
    struct str text = str_printf(
        arena,
        "**%.*s** has been copied to %s. Your account is there with your messages and roles. Choose "
        "a password to make it yours:\n%s/claim#token=%.*s\nThe link is only for you and is valid "
        "for %d days. If you do not want this account, ask the people who run the guild to delete "
        "it.",
        STR_ARGS(s->guild_name), s->options->address, s->options->address, STR_ARGS(code),
        CLAIM_CODE_DAYS);
    struct buf body, out;
    struct json_writer j = json_writer_to_buf(&body);
    char path[100];

    buf_init(&body, 16384);
    buf_init(&out, SIZE_MAX);
    json_begin_object(&j);
    json_write_name(&j, "content");
    json_write_text(&j, text);
    json_write_name(&j, "flags");
    /* Suppresses the preview of the link, because a crawler must not open the link. */
    json_write_int(&j, 4);
    json_end_object(&j);
    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages", channel);
    s->result = source_server_connection_send_request(&s->connection, "POST", path,
                                                      buf_as_str(&body), &out);
    buf_clear(&body);
    buf_clear(&out);
}

static void report_refused_claim(struct claim_sender *s, snowflake user_id)
{
    char what[100];

    snprintf(what, sizeof what, "claim code of %" PRIu64, user_id);
    guild_archive_add_report_line(s->options->archive, what, s->connection.reason);
    s->refused++;
    if (s->result == COPY_REFUSED)
        s->result = COPY_OK; /* the person accepts no direct messages */
}

static void record_sent_claim_code(struct claim_sender *s, snowflake user_id)
{
    char line[64];
    int n = snprintf(line, sizeof line, "{\"id\":\"%" PRIu64 "\"}\n", user_id);

    s->count++;
    if (!guild_archive_line_file_append(&s->sent, str_slice(line, (size_t)n)))
        s->result = COPY_STOPPED;
}

static bool request_claim_code(const struct claim_sender *s, struct arena *arena,
                               struct claim_code_request *r)
{
    if (s->options->running)
        return running_server_create_claim_code(s->options->running, r->user_id, arena, &r->code);
    return store_run_transaction_and_wait(s->options->store, STORE_WRITE, arena, create_claim_code,
                                          r) == OK;
}

static bool send_claim_code_to_member(void *arg, struct str member, int64_t next_offset,
                                      struct arena *arena)
{
    struct claim_sender *s = arg;
    struct str user = json_member_get_raw_text(member, "user");
    struct claim_code_request request = { .user_id = json_member_get_id(user, "id") };

    (void)next_offset;
    if (json_member_is_true(user, "bot") || guild_copy_id_is_known(&s->ids, request.user_id))
        return true;
    snowflake channel = open_private_channel(s, request.user_id);
    if (channel && !request_claim_code(s, arena, &request)) {
        fprintf(stderr, "guildhall: cannot write to the store\n");
        s->result = COPY_STOPPED;
    } else if (channel && request.code.n) {
        send_claim_message(s, arena, channel, request.code);
    }
    if (s->result != COPY_OK)
        report_refused_claim(s, request.user_id);
    else if (request.code.n)
        record_sent_claim_code(s, request.user_id);
    return s->result == COPY_OK;
}

static bool read_sent_claim_codes(void *arg, struct str line, int64_t next_offset,
                                  struct arena *arena)
{
    (void)next_offset, (void)arena;
    guild_copy_add_known_id(arg, json_member_get_id(line, "id"));
    return true;
}

static bool read_guild_name(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    struct claim_sender *s = arg;

    (void)next_offset, (void)arena;
    s->guild_name = json_member_get_text(s->options->archive->names, line, "name");
    s->guild_name = str_dup(s->options->archive->names, s->guild_name);
    return false;
}

enum guild_copy_result send_claim_codes_to_members(const struct claim_code_sending_options *options)
{
    struct claim_sender s = { .options = options };
    struct guild_archive *a = options->archive;

    if (!source_server_connection_open(&s.connection, options->source) ||
        !guild_archive_line_file_open(a, "claims-sent.jsonl", "id", &s.sent))
        return COPY_STOPPED;
    map_init(&s.ids);
    guild_archive_for_each_line(a, "guild.jsonl", 0, read_guild_name, &s);
    guild_archive_for_each_line(a, "claims-sent.jsonl", 0, read_sent_claim_codes, &s.ids);
    guild_archive_for_each_line(a, "members.jsonl", 0, send_claim_code_to_member, &s);
    printf("sent %lld claim codes; %lld people accept no direct messages of the bot\n",
           (long long)s.count, (long long)s.refused);
    map_clear(&s.ids);
    guild_archive_line_file_close(&s.sent);
    source_server_connection_close(&s.connection);
    return s.result;
}
