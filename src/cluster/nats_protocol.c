/* nats_protocol.c - parses and writes the NATS client protocol. */
#include "cluster/nats_protocol.h"

#include "base/arena.h"
#include "json/read.h"
#include "json/write.h"

#define DEFAULT_PORT "4222"

/* Copies the user, password or host of a server address. Returns false if the part is empty or too
 * long. */
static bool copy_address_part(struct str from, char *to, size_t max)
{
    if (!from.n || from.n >= max || memchr(from.p, 0, from.n))
        return false;
    memcpy(to, from.p, from.n);
    to[from.n] = 0;
    return true;
}

/* Parses the credentials before the last '@' of a server address: "user:password" or a token. */
static bool parse_credentials(struct str *rest, struct nats_server *s)
{
    size_t at = rest->n;

    while (at && rest->p[at - 1] != '@')
        at--;
    if (!at)
        return true;
    struct str who = str_slice(rest->p, at - 1), name;
    *rest = str_skip_bytes(*rest, at);
    name = str_cut(&who, ':');
    return copy_address_part(name, s->user, sizeof s->user) &&
           (!who.n || copy_address_part(who, s->password, sizeof s->password));
}

static bool parse_host_and_port(struct str rest, struct nats_server *s)
{
    struct str host = rest, port = STR(DEFAULT_PORT);
    size_t colon = rest.n;
    uint64_t number;

    while (colon && rest.p[colon - 1] != ':' && rest.p[colon - 1] != ']')
        colon--;
    if (colon && rest.p[colon - 1] == ':') {
        host = str_slice(rest.p, colon - 1);
        port = str_skip_bytes(rest, colon);
    }
    if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']')
        host = str_slice(host.p + 1, host.n - 2);
    if (!str_to_u64(port, &number) || !number || number > 65535)
        return false;
    return copy_address_part(host, s->host, sizeof s->host) &&
           copy_address_part(port, s->port, sizeof s->port);
}

static bool parse_server_url(struct str text, struct nats_server *s)
{
    *s = (struct nats_server){ 0 };
    s->tls = str_starts_with(text, STR("tls://"));
    if (!s->tls && !str_starts_with(text, STR("nats://")))
        return false;
    text = str_skip_bytes(text, s->tls ? 6 : 7);
    if (text.n && text.p[text.n - 1] == '/')
        text.n--;
    return parse_credentials(&text, s) && !memchr(text.p, '/', text.n) &&
           parse_host_and_port(text, s);
}

bool nats_servers_parse(struct str text, struct nats_servers *ret)
{
    ret->count = 0;
    do {
        struct str one = str_trim(str_cut(&text, ','));

        if (ret->count == NATS_SERVERS_MAX || !parse_server_url(one, &ret->items[ret->count]))
            return false;
        ret->count++;
    } while (text.n);
    return true;
}

/* Parses a message: MSG subject sid [reply-to] length CRLF, then length bytes and CRLF. */
static long parse_message_command(struct str bytes, struct str line, size_t line_end,
                                  struct nats_command *ret)
{
    struct str words[4];
    size_t count = 0;
    uint64_t length;

    while (line.n && count < 4) {
        words[count] = str_cut(&line, ' ');
        count += words[count].n > 0;
    }
    if (line.n || count < 3 || !str_to_u64(words[count - 1], &length) || length > NATS_PAYLOAD_MAX)
        return -1;
    size_t end = line_end + (size_t)length + 2;
    if (bytes.n < end)
        return 0;
    if (memcmp(bytes.p + end - 2, "\r\n", 2) != 0)
        return -1;
    *ret = (struct nats_command){ NATS_MESSAGE, words[0], str_slice(bytes.p + line_end, length) };
    return (long)end;
}

static bool line_begins_with_nats_command(struct str line, struct str word, struct str *ret_rest)
{
    if (line.n < word.n || !str_eq_nocase(str_slice(line.p, word.n), word))
        return false;
    if (line.n > word.n && line.p[word.n] != ' ' && line.p[word.n] != '\t')
        return false;
    *ret_rest = str_trim(str_skip_bytes(line, word.n));
    return true;
}

static const struct {
    struct str word;
    enum nats_command_kind kind;
} command_names[] = {
    { STR_INIT("INFO"), NATS_INFO }, { STR_INIT("PING"), NATS_PING },
    { STR_INIT("PONG"), NATS_PONG }, { STR_INIT("+OK"), NATS_OK },
    { STR_INIT("-ERR"), NATS_ERR },
};

long nats_parse_command(struct str bytes, struct nats_command *ret)
{
    size_t read_step = bytes.n < NATS_LINE_MAX ? bytes.n : NATS_LINE_MAX;
    const char *end = read_step ? memchr(bytes.p, '\n', read_step) : NULL;
    struct str rest;

    if (!end)
        return bytes.n < NATS_LINE_MAX ? 0 : -1;
    size_t n = (size_t)(end - bytes.p);
    struct str line = str_slice(bytes.p, n && bytes.p[n - 1] == '\r' ? n - 1 : n);
    if (line_begins_with_nats_command(line, STR("MSG"), &rest))
        return parse_message_command(bytes, rest, n + 1, ret);
    for (size_t i = 0; i < sizeof command_names / sizeof *command_names; i++)
        if (line_begins_with_nats_command(line, command_names[i].word, &rest)) {
            *ret = (struct nats_command){ .kind = command_names[i].kind, .body = rest };
            return (long)n + 1;
        }
    return -1;
}

size_t nats_parse_max_payload(struct str info)
{
    enum { USUAL = 1024 * 1024 };
    struct arena *arena = arena_new();
    struct json_reader r;
    struct json_number number;
    struct str key;
    size_t max = USUAL;

    json_reader_init(&r, info, arena);
    if (json_peek_kind(&r) == JSON_OBJECT) {
        json_enter_container(&r);
        while (json_next_member(&r, &key)) {
            if (!str_is(key, "max_payload") || json_peek_kind(&r) != JSON_NUMBER)
                json_skip_value(&r, NULL);
            else if (json_read_number(&r, &number) && number.kind == NUMBER_INT && number.i > 0)
                max = (size_t)number.i;
        }
    }
    arena_free(arena);
    return max < NATS_PAYLOAD_MAX ? max : NATS_PAYLOAD_MAX;
}

static void write_json_text(struct json_writer *j, const char *name, const char *text)
{
    json_write_key(j, str_of(name));
    json_write_text(j, str_of(text));
}

static void write_json_bool(struct json_writer *j, const char *name, bool on)
{
    json_write_key(j, str_of(name));
    json_write_bool(j, on);
}

/* Writes CONNECT with "echo": false, so that this node does not get its own messages. */
void nats_write_connect_command(struct buf *b, const struct nats_server *s, const char *name)
{
    struct json_writer j = json_writer_to_buf(b);

    buf_add_lit(b, "CONNECT ");
    json_begin_object(&j);
    write_json_bool(&j, "verbose", false);
    write_json_bool(&j, "pedantic", false);
    write_json_bool(&j, "tls_required", s->tls);
    write_json_bool(&j, "echo", false);
    write_json_text(&j, "lang", "c");
    write_json_text(&j, "version", "1");
    write_json_text(&j, "name", name);
    json_write_name(&j, "protocol");
    json_write_int(&j, 1);
    if (s->user[0] && s->password[0]) {
        write_json_text(&j, "user", s->user);
        write_json_text(&j, "pass", s->password);
    } else if (s->user[0]) {
        write_json_text(&j, "auth_token", s->user);
    }
    json_end_object(&j);
    buf_add_lit(b, "\r\n");
}

void nats_write_subscribe_command(struct buf *b, const char *subject, unsigned id)
{
    buf_printf(b, "SUB %s %u\r\n", subject, id);
}

void nats_write_unsubscribe_command(struct buf *b, unsigned id)
{
    buf_printf(b, "UNSUB %u\r\n", id);
}

void nats_write_publish_command(struct buf *b, const char *subject, struct str payload)
{
    buf_printf(b, "PUB %s %zu\r\n", subject, payload.n);
    buf_add_str(b, payload);
    buf_add_lit(b, "\r\n");
}
