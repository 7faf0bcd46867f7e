/* participant_list.c - lists the connected voice participants as JSON lines, for the operator. */
#include "relay/internal.h"

#include "json/write.h"
#include "net/address.h"
#include "relay/webrtc/webrtc.h"

/* Maximum number of participants listed per iteration of a worker's loop. */
enum { PARTICIPANTS_PER_ITERATION = 500 };

static void write_number_member(struct json_writer *j, const char *name, uint64_t n)
{
    json_write_key(j, str_of(name));
    json_write_int(j, (int64_t)n);
}

static void write_text_member(struct json_writer *j, const char *name, struct str text)
{
    json_write_key(j, str_of(name));
    json_write_text(j, text);
}

static struct str format_media_address(const struct relay_participant *s,
                                       char text[ADDRESS_TEXT_SIZE])
{
    struct ip_address a = ip_address_from_sockaddr(&s->media.address);

    return s->media.has_address ? str_slice(text, ip_address_format(&a, text)) : STR("");
}

static const char *encryption_mode_name_of(const struct relay_participant *s)
{
    if (s->media.webrtc)
        return webrtc_encryption_mode_name(s->media.webrtc);
    return s->media.cipher ? media_cipher_mode_name(s->media.cipher) : "";
}

static void append_participant_json(const struct relay_participant *s, struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);
    char address[ADDRESS_TEXT_SIZE];

    json_begin_object(&j);
    json_write_name(&j, "user_id");
    json_write_id(&j, s->voice_state.user_id);
    json_write_name(&j, "channel_id");
    json_write_id(&j, s->channel_id);
    json_write_name(&j, "connected");
    json_write_bool(&j, s->peer != 0);
    write_text_member(&j, "address", format_media_address(s, address));
    write_text_member(&j, "transport",
                      s->media.webrtc   ? STR("webrtc")
                      : s->media.cipher ? STR("udp")
                                        : STR(""));
    write_text_member(&j, "mode", str_of(encryption_mode_name_of(s)));
    write_number_member(&j, "version", (uint64_t)s->version);
    write_number_member(&j, "dave", participant_dave_version(s));
    write_number_member(&j, "speaking", participant_visible_speaking_bits(s));
    write_number_member(&j, "packets", s->quality.packets);
    write_number_member(&j, "missing", s->quality.missing - s->quality.late);
    write_number_member(&j, "jitter_us", (uint64_t)s->quality.jitter_ns / 1000);
    json_end_object(&j);
    buf_add_char(out, '\n');
}

struct participant_list {
    const struct relay_worker *worker;
    struct buf *out;
    size_t at;
    bool more;
};

static void append_participants_of_worker(struct loop *loop, void *arg)
{
    struct participant_list *c = arg;
    const struct relay_participant *s = NULL;

    (void)loop;
    for (int i = 0; i < PARTICIPANTS_PER_ITERATION &&
                    (s = get_next_participant(c->worker->participants, &c->at));
         i++)
        append_participant_json(s, c->out);
    c->more = s;
}

/* Writes a list of all participants, in several loop iterations. A participant that joins or leaves
 * meanwhile may be missing or listed twice. */
void relay_list_participants(struct relay *r, struct buf *out)
{
    for (unsigned i = 0; r && i < r->worker_count; i++) {
        struct participant_list c = { .worker = &r->workers[i], .out = out };

        do
            loop_run_function_and_wait(c.worker->loop, append_participants_of_worker, &c);
        while (c.more);
    }
}
