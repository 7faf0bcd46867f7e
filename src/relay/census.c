/* census.c - lists the connected voice participants as JSON lines, for the operator. */
#include "relay/internal.h"

#include "json/write.h"
#include "net/address.h"

enum { CENSUS_STEP = 500 }; /* participants per iteration of the relay's loop */

static void census_number(struct json *j, const char *name, uint64_t n)
{
    json_key(j, str_of(name));
    json_int(j, (int64_t)n);
}

static void census_text(struct json *j, const char *name, struct str text)
{
    json_key(j, str_of(name));
    json_text(j, text);
}

static struct str census_address(const struct relay_seat *s, char text[ADDRESS_TEXT])
{
    struct address a = address_from(&s->media.address);

    return s->media.has_address ? str_slice(text, address_write(&a, text)) : STR("");
}

static void census_seat(const struct relay_seat *s, struct buf *out)
{
    struct json j = json_to(out);
    char address[ADDRESS_TEXT];

    json_object(&j);
    json_name(&j, "user_id");
    json_id(&j, s->place.user_id);
    json_name(&j, "channel_id");
    json_id(&j, s->channel_id);
    json_name(&j, "connected");
    json_bool(&j, s->peer != 0);
    census_text(&j, "address", census_address(s, address));
    census_text(&j, "mode", s->media.seal ? str_of(seal_name(s->media.seal)) : STR(""));
    census_number(&j, "version", (uint64_t)s->version);
    census_number(&j, "speaking", seat_speaking(s));
    census_number(&j, "packets", s->quality.packets);
    census_number(&j, "missing", s->quality.missing - s->quality.late);
    census_number(&j, "jitter_us", (uint64_t)s->quality.jitter_ns / 1000);
    json_object_end(&j);
    buf_add_char(out, '\n');
}

struct voice_census {
    struct relay *relay;
    struct buf *out;
    size_t at;
    bool more;
};

static void census_step(struct loop *loop, void *arg)
{
    struct voice_census *c = arg;
    const struct relay_seat *s = NULL;

    (void)loop;
    for (int i = 0; i < CENSUS_STEP && (s = seats_next(c->relay->seats, &c->at)); i++)
        census_seat(s, c->out);
    c->more = s;
}

/* A participant that joins or leaves between two steps may be missing or listed twice. */
void relay_census(struct relay *r, struct buf *out)
{
    struct voice_census c = { .relay = r, .out = out, .more = r != NULL };

    while (c.more)
        loop_call(relay_loop(r), census_step, &c);
}
