/* fuzz_dave.c - MLS messages of DAVE, and rooms with clients that send anything in any order.
 *
 * Input: a byte that chooses what is tested (0: a key package, 1: a commit with a welcome, 2: a
 * room), then the message or the events. An event is a byte, in the room's case: the kind in the
 * lower three bits, the user above; some kinds take further bytes. */
#include "fuzz.h"

#include <string.h>

#include "../support/dave.h"
#include "base/mem.h"
#include "relay/dave/group.h"

enum { USERS = 8, PROPOSALS = 32 };
enum { JOIN, LEAVE, PACKAGE, COMMIT, READY, INVALID, TICK, BYTES };
#define GROUP UINT64_C(900)

static struct mls_key *key;
static struct dave_identity identities[USERS];
static struct dave_counters counters;
static struct fuzz_client {
    struct dave_received proposals[PROPOSALS];
    size_t proposal_count;
    unsigned transition;
} clients[USERS];

static bool is_within(struct str inner, struct str outer)
{
    return !inner.n || (inner.p >= outer.p && inner.p + inner.n <= outer.p + outer.n);
}

static void check_key_package_bytes(struct str bytes)
{
    struct mls_key_package k;

    if (mls_key_package_read(bytes, 1, &k))
        FUZZ_CHECK(k.leaf.user == 1 && is_within(k.bytes, bytes) &&
                   is_within(k.leaf.signature_key, bytes));
}

static void check_parsed_dave_commit(struct str bytes)
{
    struct mls_reader r = { .rest = bytes };
    struct mls_commit c;
    struct mls_welcome w;
    struct buf b;

    if (!mls_commit_read(&r, &c))
        return;
    FUZZ_CHECK(c.reference_count > 0 && c.bytes.n + r.rest.n == bytes.n);
    for (size_t i = 0; i < c.reference_count; i++)
        FUZZ_CHECK(is_within(str_slice(mls_commit_proposal_reference_at(&c, i), MLS_HASH), bytes));
    mls_commit_verify_path(&c);
    if (!mls_welcome_read(&r, &w))
        return;
    buf_init(&b, bytes.n);
    FUZZ_CHECK(mls_welcome_write(&w, NULL, &b) && str_eq(buf_as_str(&b), w.bytes));
    buf_clear(&b);
}

/* Remembers proposals and transition ids, as a client does. */
static void record_proposals_and_transition(void *context, snowflake user,
                                            const struct dave_message *m)
{
    struct fuzz_client *c = &clients[user % USERS];
    struct mls_reader r = { .rest = m->payload };

    (void)context;
    FUZZ_CHECK(user < USERS && dave_message_is_json(m) == !m->payload.n);
    if (m->op == DAVE_PREPARE_TRANSITION)
        c->transition = m->transition;
    if (m->op == DAVE_ANNOUNCE_COMMIT || m->op == DAVE_WELCOME)
        c->transition = (unsigned)mls_read_number(&r, 2);
    if (m->op == DAVE_ANNOUNCE_COMMIT || m->op == DAVE_WELCOME || m->op == DAVE_PREPARE_EPOCH)
        c->proposal_count = 0;
    if (m->op != DAVE_PROPOSALS || mls_read_number(&r, 1))
        return;
    struct mls_reader list = { .rest = mls_read_vector(&r) };
    while (list.rest.n && c->proposal_count < PROPOSALS) {
        dave_read_proposal(&list, STR(""), &c->proposals[c->proposal_count++]);
        FUZZ_CHECK(!list.failed);
    }
}

static void send_key_package_to_room(struct dave_room *room, snowflake user, int64_t now)
{
    struct buf b;

    buf_init(&b, MLS_KEY_PACKAGE);
    dave_write_package(&b, &identities[user], FAULT_NONE);
    dave_room_handle_key_package(room, user, buf_as_str(&b), now);
    buf_clear(&b);
}

/* Commits all proposals that the user has received; epoch and leaf are input. */
static void room_commit(struct dave_room *room, snowflake user, unsigned epoch, unsigned leaf,
                        int64_t now)
{
    unsigned char refs[PROPOSALS][MLS_HASH], added[PROPOSALS][MLS_HASH];
    struct fuzz_client *c = &clients[user];
    size_t adds = 0;
    struct buf b;

    for (size_t i = 0; i < c->proposal_count; i++) {
        memcpy(refs[i], c->proposals[i].ref, MLS_HASH);
        if (c->proposals[i].adds)
            memcpy(added[adds++], c->proposals[i].package_ref, MLS_HASH);
    }
    struct dave_commit commit = { GROUP, epoch, leaf, refs, c->proposal_count, NULL };
    buf_init(&b, 1 << 16);
    dave_write_commit(&b, &commit, FAULT_NONE);
    if (adds)
        dave_write_welcome(&b, added, adds);
    dave_room_handle_commit(room, user, buf_as_str(&b), now);
    buf_clear(&b);
}

static unsigned take_byte(struct str *in)
{
    unsigned byte = in->n ? (unsigned char)in->p[0] : 0;

    *in = str_skip_bytes(*in, 1);
    return byte;
}

static void check_dave_room_with_random_events(struct str in)
{
    struct dave_room *room = dave_room_new(&(struct dave_config){
        .group = GROUP,
        .version = DAVE_VERSION,
        .key = key,
        .send = record_proposals_and_transition,
        .counters = &counters,
    });
    int64_t now = 1000;

    memset(clients, 0, sizeof clients);
    for (int events = 0; in.n && events < 200; events++) {
        unsigned byte = take_byte(&in), more;
        snowflake user = byte / 8 % USERS;

        now += 10;
        switch (byte % 8) {
        case JOIN:
            more = byte < 0xc0;
            dave_room_on_session_description_sent(room, user, dave_room_join(room, user, more, now),
                                                  now);
            break;
        case LEAVE:
            dave_room_leave(room, user, now);
            break;
        case PACKAGE:
            send_key_package_to_room(room, user, now);
            break;
        case COMMIT:
            more = take_byte(&in);
            room_commit(room, user, more / 16, more % 16, now);
            break;
        case READY:
            dave_room_handle_transition_ready(room, user, clients[user].transition, now);
            break;
        case INVALID:
            dave_room_handle_invalid_commit(room, user, now);
            break;
        case TICK:
            if (dave_room_next_timeout(room) != INT64_MAX && dave_room_next_timeout(room) > now)
                now = dave_room_next_timeout(room);
            dave_room_handle_timeouts(room, now);
            FUZZ_CHECK(dave_room_next_timeout(room) > now);
            break;
        default:
            more = take_byte(&in);
            struct str bytes = str_slice(in.p, more < in.n ? more : in.n);
            in = str_skip_bytes(in, bytes.n);
            dave_room_handle_commit(room, user, bytes, now);
            dave_room_handle_key_package(room, user, bytes, now);
        }
        FUZZ_CHECK(dave_room_get_protocol_version(room) <= DAVE_VERSION);
    }
    dave_room_free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!key) {
        key = mls_key_new();
        for (snowflake i = 0; i < USERS; i++)
            identity_init(&identities[i], i);
    }
    if (!size)
        return 0;
    struct str in = str_slice((const char *)data + 1, size - 1);
    if (data[0] % 3 == 0)
        check_key_package_bytes(in);
    else if (data[0] % 3 == 1)
        check_parsed_dave_commit(in);
    else
        check_dave_room_with_random_events(in);
    return 0;
}
