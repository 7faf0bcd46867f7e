/* rooms.c - tests the rooms of the relay: large rooms, message queues, key exhaustion. Tests
 * src/relay/relay.c, src/relay/participants.c and src/relay/outbox.c. */
#include "unit/unit.h"

#include <malloc.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "relay/internal.h"
#include "relay/media/datagram_bundles.h"

enum { PEOPLE = 800, ROOM = 7, GUILD = 5, PATIENCE_S = 60 };
enum {
    FILLS = 6,
    LEFT_BYTES = 256
}; /* maximum bytes per participant that stay in use after FILLS rounds */
#define SECOND INT64_C(1000000000)

struct held_loop {
    struct loop_message post;
    sem_t go;
};

static _Atomic int left; /* participants whose state says that they have no socket */

static void count_participants_without_socket(void *arg, const struct voice_state_key *p, bool live)
{
    (void)arg, (void)p;
    left += !live;
}

static void ignore_audio_activity(void *arg, const struct voice_state_key *p)
{
    (void)arg, (void)p;
}

/* Number of loop iterations since counting started. */
struct turn_count {
    struct loop_iteration_callback end;
    _Atomic int turns;
};

static void count_loop_iteration(struct loop_iteration_callback *t)
{
    container_of(t, struct turn_count, end)->turns++;
}

static void start_counting_iterations(struct loop *l, void *arg)
{
    struct turn_count *c = arg;

    c->end.run = count_loop_iteration;
    loop_add_iteration_callback(l, &c->end);
}

static void stop_counting_iterations(struct loop *l, void *arg)
{
    (void)l;
    loop_remove_iteration_callback(&((struct turn_count *)arg)->end);
}

/* Sends the join of a participant whose socket has already closed. */
static void send_participant_join(struct relay *r, struct loop *loop, snowflake user_id,
                                  struct opt_int flags)
{
    struct pending_identify *c = mem_new(sizeof *c);

    *c = (struct pending_identify){ .server_id = GUILD,
                                    .user_id = user_id,
                                    .relay = r,
                                    .loop = loop,
                                    .number = user_id,
                                    .version = VOICE_SEQUENCE_VERSION };
    memcpy(c->token, &user_id, sizeof user_id);
    pending_identify_add(c);
    relay_deliver_voice_state_change(r, &(struct relay_voice_state){ .guild_id = GUILD,
                                                                     .user_id = user_id,
                                                                     .channel_id = ROOM,
                                                                     .room_id = ROOM,
                                                                     .may_send_audio = true,
                                                                     .flags = flags,
                                                                     .claim = user_id });
}

struct group_coming {
    struct relay *relay;
    struct loop *loop; /* the loop of the sockets */
};

/* Runs on the relay's thread, so that everything is queued before the thread processes it. */
static void send_all_participant_joins(struct loop *l, void *arg)
{
    const struct group_coming *c = arg;

    (void)l;
    for (snowflake id = 1; id <= PEOPLE; id++)
        send_participant_join(c->relay, c->loop, id, (struct opt_int){ 0 });
}

/* Each join is sent to all participants: a third of a million messages. */
static void joins_of_a_large_room_are_spread_over_many_iterations(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    struct turn_count here = { .turns = 0 };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct relay *r;

    (void)state;
    left = 0;
    assert_int_equal(relay_start(ls, &options, &r), OK);
    struct loop *own = r->workers[0].loop, *loop = loops_get_loop_at(ls, 0);
    loop_run_function_and_wait(own, start_counting_iterations, &here);
    loop_run_function_and_wait(own, send_all_participant_joins, &(struct group_coming){ r, loop });
    while (left < PEOPLE) {
        assert_true(clock_monotonic_ns() < until);
        usleep(1000);
    }
    loop_run_function_and_wait(own, stop_counting_iterations, &here);
    assert_true(here.turns >= 5);
    relay_stop(r);
    loops_stop(ls);
}

static void send_all_joins_and_end_room(struct loop *l, void *arg)
{
    send_all_participant_joins(l, arg);
    relay_deliver_voice_state_change(((const struct group_coming *)arg)->relay,
                                     &(struct relay_voice_state){ .room_id = ROOM });
}

/* The participants are removed one by one and find that they have left. */
static void hold_loop(struct loop_message *p)
{
    struct held_loop *h = container_of(p, struct held_loop, post);

    sem_wait(&h->go);
}

static long resident_kib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void queue_for_a_busy_loop_stays_small(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct held_loop held = { .post.run = hold_loop };
    struct relay_stats s;
    struct relay *r;

    (void)state;
    left = 0;
    sem_init(&held.go, 0, 0);
    assert_int_equal(relay_start(ls, &options, &r), OK);
    loop_post_message(loops_get_loop_at(ls, 0), &held.post);
    long before = resident_kib();
    loop_run_function_and_wait(r->workers[0].loop, send_all_participant_joins,
                               &(struct group_coming){ r, loops_get_loop_at(ls, 0) });
    do
        relay_read_stats(r, &s);
    while (s.participants < PEOPLE && clock_monotonic_ns() < until);
    long took = resident_kib() - before;
    print_message("%ld KiB for %d who came at once\n", took, PEOPLE);
    sem_post(&held.go);
    while (left < PEOPLE && clock_monotonic_ns() < until)
        usleep(1000);
    relay_stop(r);
    loops_stop(ls);
    sem_destroy(&held.go);
#ifndef __SANITIZE_ADDRESS__
    assert_true(took < 24 * 1024);
#endif
}

static void ended_room_is_empty_immediately(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct relay_stats s = { .participants = 1 };
    struct relay *r;

    (void)state;
    left = 0;
    assert_int_equal(relay_start(ls, &options, &r), OK);
    loop_run_function_and_wait(r->workers[0].loop, send_all_joins_and_end_room,
                               &(struct group_coming){ r, loops_get_loop_at(ls, 0) });
    while (left < PEOPLE || s.participants) {
        assert_true(clock_monotonic_ns() < until);
        usleep(1000);
        relay_read_stats(r, &s);
    }
    relay_deliver_voice_state_change(
        r, &(struct relay_voice_state){ .guild_id = GUILD, .user_id = 1 });
    relay_stop(r);
    loops_stop(ls);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Returns the heap bytes in use by all threads. */
static size_t heap_in_use(void)
{
    return mallinfo2().uordblks;
}
#else
static size_t heap_in_use(void)
{
    return 0;
}
#endif

/* Tables and caches of threads have grown after the first round. */
static void emptied_room_frees_its_memory(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    size_t first = 0;
    struct relay *r;

    (void)state;
    assert_int_equal(relay_start(ls, &options, &r), OK);
    for (int i = 0; i < FILLS; i++) {
        struct relay_stats s = { .participants = 1 };

        left = 0;
        loop_run_function_and_wait(r->workers[0].loop, send_all_joins_and_end_room,
                                   &(struct group_coming){ r, loops_get_loop_at(ls, 0) });
        while (left < PEOPLE || s.participants) {
            assert_true(clock_monotonic_ns() < until);
            usleep(1000);
            relay_read_stats(r, &s);
        }
        first = i ? first : heap_in_use();
    }
    while (heap_in_use() > first + PEOPLE * LEFT_BYTES) { /* the loop processes the last messages */
        assert_true(clock_monotonic_ns() < until);
        usleep(1000);
    }
    relay_stop(r);
    loops_stop(ls);
}

static void send_three(struct loop *l, void *arg)
{
    const struct group_coming *c = arg;

    (void)l;
    for (snowflake id = 1; id <= 3; id++)
        send_participant_join(c->relay, c->loop, id, (struct opt_int){ 0 });
}

/* The refused participant's state says that it has no socket. */
static void room_refuses_participants_above_its_limit(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .room_max = 2,
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct relay_stats s;
    struct relay *r;

    (void)state;
    left = 0;
    assert_int_equal(relay_start(ls, &options, &r), OK);
    loop_run_function_and_wait(r->workers[0].loop, send_three,
                               &(struct group_coming){ r, loops_get_loop_at(ls, 0) });
    while (left < 3) {
        assert_true(clock_monotonic_ns() < until);
        usleep(1000);
    }
    relay_read_stats(r, &s);
    assert_int_equal(s.participants, 2);
    relay_stop(r);
    loops_stop(ls);
}

/* Number of messages that a participant was sent; 0: it has not joined yet. */
struct received_count {
    struct relay *relay;
    snowflake user_id;
    unsigned seq;
};

static void read_participant_sequence(struct loop *l, void *arg)
{
    struct received_count *t = arg;
    size_t at = 0;

    (void)l;
    for (const struct relay_participant *s;
         (s = get_next_participant(t->relay->workers[0].participants, &at));)
        if (s->voice_state.user_id == t->user_id)
            t->seq = s->outbox.seq;
}

enum { CHANGES = 601 };

static void send_joins_and_speaking_changes(struct loop *l, void *arg)
{
    const struct group_coming *c = arg;

    (void)l;
    for (snowflake id = 1; id <= 2; id++)
        send_participant_join(c->relay, c->loop, id, (struct opt_int){ 0 });
    for (unsigned i = 0; i < CHANGES; i++) {
        struct relay_message *n = relay_message_new(c->relay, RELAY_MESSAGE_SPEAKING, 0);

        n->peer = 1;
        n->speaking.bits = i % 2 == 0;
        relay_message_send(n);
    }
}

/* The participant gets Ready, the list, ten changes, and the final state. */
static void frequent_speaking_changes_are_limited_and_the_last_is_sent(void **state)
{
    enum { MOST = 40 }; /* a new second may begin meanwhile */
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct received_count t = { .user_id = 2 };

    (void)state;
    assert_int_equal(relay_start(ls, &options, &t.relay), OK);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_joins_and_speaking_changes,
                               &(struct group_coming){ t.relay, loops_get_loop_at(ls, 0) });
    while (t.seq < 2 + 11) {
        assert_true(clock_monotonic_ns() < until);
        usleep(1000);
        loop_run_function_and_wait(t.relay->workers[0].loop, read_participant_sequence, &t);
    }
    assert_true(t.seq <= MOST);
    relay_stop(t.relay);
    loops_stop(ls);
}

static void send_101_participant_joins(struct loop *l, void *arg)
{
    const struct group_coming *c = arg;

    (void)l;
    for (snowflake id = 1; id <= 101; id++)
        send_participant_join(c->relay, c->loop, id, (struct opt_int){ GIVEN, 1 });
}

/* The participant gets Ready, the list, and a message about each other participant. */
static void large_rooms_do_not_send_the_flags_of_each_client(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct received_count last = { .user_id = 101 }, before = { .user_id = 100 };

    (void)state;
    assert_int_equal(relay_start(ls, &options, &last.relay), OK);
    before.relay = last.relay;
    loop_run_function_and_wait(last.relay->workers[0].loop, send_101_participant_joins,
                               &(struct group_coming){ last.relay, loops_get_loop_at(ls, 0) });
    while (!last.seq) {
        assert_true(clock_monotonic_ns() < until);
        loop_run_function_and_wait(last.relay->workers[0].loop, read_participant_sequence, &last);
    }
    loop_run_function_and_wait(last.relay->workers[0].loop, read_participant_sequence, &before);
    assert_int_equal(last.seq, 2);
    assert_int_equal(before.seq, 2 + 99 + 1); /* includes the last participant's join */
    relay_stop(last.relay);
    loops_stop(ls);
}

/* --- workers ---------------------------------------------------------------------------- */

enum { WORKERS = 4, WORKER_ROOMS = 16 };

/* A user joins a room, with a salt of its own. */
static void send_room_join(struct relay *r, struct loop *loop, snowflake user_id, snowflake room,
                           uint64_t number)
{
    struct pending_identify *c = mem_new(sizeof *c);
    struct relay_voice_state f = { .guild_id = GUILD,
                                   .user_id = user_id,
                                   .channel_id = room,
                                   .room_id = room,
                                   .salt = { (unsigned char)number },
                                   .claim = number };

    *c = (struct pending_identify){ .server_id = GUILD,
                                    .user_id = user_id,
                                    .relay = r,
                                    .loop = loop,
                                    .number = number,
                                    .version = VOICE_SEQUENCE_VERSION };
    memcpy(c->token, &number, sizeof number);
    pending_identify_add(c);
    relay_deliver_voice_state_change(r, &f);
}

struct worker_check {
    struct relay_worker *worker;
    unsigned count;
    snowflake room_of_first_user;
};

static void check_worker_has_only_its_rooms(struct loop *l, void *arg)
{
    struct worker_check *t = arg;
    const struct relay_worker *w = t->worker;
    size_t at = 0;

    (void)l;
    for (const struct relay_participant *s; (s = get_next_participant(w->participants, &at));) {
        assert_ptr_equal(relay_get_worker_of_room(w->relay, s->room->id), w);
        assert_int_equal(relay_get_worker_of_ssrc(w->relay, s->media.ssrc), w->index);
        t->count++;
        if (s->voice_state.user_id == 1)
            t->room_of_first_user = s->room->id;
    }
}

static struct worker_check check_workers(struct relay *r)
{
    struct worker_check t = { 0 };

    for (unsigned i = 0; i < r->worker_count; i++) {
        t.worker = &r->workers[i];
        loop_run_function_and_wait(t.worker->loop, check_worker_has_only_its_rooms, &t);
    }
    return t;
}

/* A user that moves to a room of another worker is removed by the first one. */
static void rooms_are_divided_between_workers(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = WORKERS,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct worker_check t;
    struct relay *r;

    (void)state;
    assert_int_equal(relay_start(ls, &options, &r), OK);
    assert_int_equal(r->worker_count, WORKERS);
    for (snowflake id = 1; id <= WORKER_ROOMS; id++)
        send_room_join(r, loops_get_loop_at(ls, 0), id, id, id);
    for (snowflake room = 2; room <= WORKER_ROOMS; room++) {
        send_room_join(r, loops_get_loop_at(ls, 0), 1, room, WORKER_ROOMS + room);
        do {
            assert_true(clock_monotonic_ns() < until);
            t = check_workers(r);
        } while (t.count != WORKER_ROOMS || t.room_of_first_user != room);
    }
    relay_stop(r);
    loops_stop(ls);
}

/* --- required end-to-end encryption ----------------------------------------------------- */

struct encrypted_room {
    struct relay *relay;
    unsigned joined;
    enum relay_close_code refusal; /* refusal of the participant that did not join */
};

/* All participants support DAVE and their addresses are known. */
static void join_encrypted_group(struct loop *l, void *arg)
{
    struct encrypted_room *t = arg;
    size_t at = 0;

    (void)l;
    for (const struct relay_participant *s;
         (s = get_next_participant(t->relay->workers[0].participants, &at));) {
        struct relay_participant *seat = (struct relay_participant *)(uintptr_t)s;

        seat->dave_version = DAVE_VERSION;
        seat->media.has_address = true;
        enum relay_close_code refusal = participant_media_refusal_code(seat);
        bool joins = participant_join_dave_group(seat) == DAVE_VERSION;

        seat->media.has_address = false; /* the address is in no map */
        assert_int_equal(joins, refusal == 0);
        t->joined += joins;
        t->refusal = refusal ? refusal : t->refusal;
    }
}

static struct encrypted_room fill_encrypted_room(void)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .e2ee = RELAY_E2EE_REQUIRE,
                                     .source.on_connected_changed =
                                         count_participants_without_socket };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct encrypted_room t = { 0 };
    struct relay_stats s;

    assert_int_equal(relay_start(ls, &options, &t.relay), OK);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_101_participant_joins,
                               &(struct group_coming){ t.relay, loops_get_loop_at(ls, 0) });
    do {
        assert_true(clock_monotonic_ns() < until);
        relay_read_stats(t.relay, &s);
    } while (s.participants < 101);
    loop_run_function_and_wait(t.relay->workers[0].loop, join_encrypted_group, &t);
    relay_read_stats(t.relay, &s);
    assert_int_equal(s.encrypted_rooms, 1);
    relay_stop(t.relay);
    loops_stop(ls);
    return t;
}

static void full_encrypted_room_refuses_participants_if_encryption_is_required(void **state)
{
    struct encrypted_room t = fill_encrypted_room();

    (void)state;
    assert_int_equal(t.joined, DAVE_MEMBERS_MAX);
    assert_int_equal(t.refusal, RELAY_RATE_LIMITED);
}

/* --- exhausted keys ------------------------------------------------------------------- */

enum { SPEAKER = 1, LISTENER = 2 };

struct two_seats {
    struct relay *relay;
    struct loop *loop;
    int fd; /* used by both clients */
    unsigned char key[ENCRYPTION_KEY_SIZE];
    uint32_t ssrc;
    bool bound;
};

static void send_joins_of_speaker_and_listener(struct loop *l, void *arg)
{
    const struct two_seats *t = arg;

    (void)l;
    for (snowflake id = SPEAKER; id <= LISTENER; id++) {
        struct relay_message *n = relay_message_new(t->relay, RELAY_MESSAGE_SELECT_PROTOCOL, 0);

        send_participant_join(t->relay, t->loop, id, (struct opt_int){ 0 });
        n->peer = id;
        n->select.mode = encryption_mode_find(str_of(encryption_mode_name(0)));
        relay_message_send(n);
    }
}

/* Binds both participants to the socket, with one nonce left for the listener. */
static void bind_sockets_of_speaker_and_listener(struct loop *l, void *arg)
{
    struct two_seats *t = arg;
    union media_address a = { 0 };
    socklen_t n = sizeof a;
    size_t at = 0, sealed = 0;

    (void)l;
    getsockname(t->fd, &a.any, &n);
    for (const struct relay_participant *s;
         (s = get_next_participant(t->relay->workers[0].participants, &at));)
        sealed += s->media.cipher != NULL;
    at = 0;
    for (const struct relay_participant *s;
         sealed == 2 && (s = get_next_participant(t->relay->workers[0].participants, &at));) {
        struct relay_participant *seat = (struct relay_participant *)(uintptr_t)s;

        participant_set_address(seat, &a);
        if (s->voice_state.user_id == SPEAKER) {
            memcpy(t->key, s->media.key, sizeof t->key);
            t->ssrc = s->media.ssrc;
            continue;
        }
        seat->permissions.can_receive = true;
        media_cipher_free(seat->media.cipher);
        seat->media.cipher = media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(0))),
                                              seat->media.key, NONCES_PER_KEY - 1);
    }
    t->bound = sealed == 2;
}

static int loopback_socket(void)
{
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof any) == 0);
    return fd;
}

static void send_typed(const struct two_seats *t, struct media_cipher *seal, unsigned number,
                       unsigned type)
{
    struct decrypted_rtp_packet plain = { .header = { 0x80, (unsigned char)type }, .n = 1 };
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons((uint16_t)relay_get_media_port(t->relay)) };
    uint32_t ssrc = htonl(t->ssrc);
    unsigned char out[ENCRYPTED_PACKET_MAX];

    plain.header[3] = (unsigned char)number;
    memcpy(plain.header + 8, &ssrc, sizeof ssrc);
    size_t n = media_cipher_encrypt(seal, &plain, out);
    assert_int_equal(sendto(t->fd, out, n, 0, (const struct sockaddr *)&to, sizeof to), n);
}

static void send_packet(const struct two_seats *t, struct media_cipher *seal, unsigned number)
{
    send_typed(t, seal, number, RTP_OPUS_PAYLOAD_TYPE);
}

static void participant_is_disconnected_after_the_last_nonce(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket,
                                     .source.on_audio_activity = ignore_audio_activity };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct two_seats t = { .loop = loops_get_loop_at(ls, 0), .fd = loopback_socket() };
    struct relay_stats s;

    (void)state;
    assert_int_equal(relay_start(ls, &options, &t.relay), OK);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_joins_of_speaker_and_listener, &t);
    while (!t.bound)
        loop_run_function_and_wait(t.relay->workers[0].loop, bind_sockets_of_speaker_and_listener,
                                   &t);
    struct media_cipher *seal =
        media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(0))), t.key, 0);
    send_packet(&t, seal, 1);
    do
        relay_read_stats(t.relay, &s);
    while (s.packets_out < 1 && clock_monotonic_ns() < until);
    assert_true(s.packets_out == 1 && s.participants == 2);
    send_packet(&t, seal, 2);
    do
        relay_read_stats(t.relay, &s);
    while (s.participants == 2 && clock_monotonic_ns() < until);
    assert_true(s.packets_out == 1 && s.participants == 1);
    media_cipher_free(seal);
    close(t.fd);
    relay_stop(t.relay);
    loops_stop(ls);
}

enum { BYSTANDERS = 99 };

static void send_joins_of_bystanders(struct loop *l, void *arg)
{
    const struct two_seats *t = arg;

    (void)l;
    for (snowflake id = LISTENER + 1; id <= LISTENER + BYSTANDERS; id++)
        send_participant_join(t->relay, t->loop, id, (struct opt_int){ 0 });
}

struct credit_reading {
    struct relay *relay;
    long credit;
};

static void read_media_credit_of_relay_room(struct loop *l, void *arg)
{
    struct credit_reading *c = arg;
    size_t at = 0;

    (void)l;
    c->credit = get_next_participant(c->relay->workers[0].participants, &at)->room->share.credit;
}

/* A packet is received (2), sent once (1) and not sent to 100 participants (6): otherwise a room
 * of thousands that receives nothing would take the time of the other rooms. */
static void room_is_charged_for_participants_that_receive_nothing(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket,
                                     .source.on_audio_activity = ignore_audio_activity };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    struct two_seats t = { .loop = loops_get_loop_at(ls, 0), .fd = loopback_socket() };
    struct relay_stats s;

    (void)state;
    assert_int_equal(relay_start(ls, &options, &t.relay), OK);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_joins_of_speaker_and_listener, &t);
    while (!t.bound)
        loop_run_function_and_wait(t.relay->workers[0].loop, bind_sockets_of_speaker_and_listener,
                                   &t);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_joins_of_bystanders, &t);
    do
        relay_read_stats(t.relay, &s);
    while (s.participants < LISTENER + BYSTANDERS && clock_monotonic_ns() < until);
    struct media_cipher *seal =
        media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(0))), t.key, 0);
    send_packet(&t, seal, 1);
    do
        relay_read_stats(t.relay, &s);
    while (s.packets_out < 1 && clock_monotonic_ns() < until);
    struct credit_reading reading = { .relay = t.relay };
    loop_run_function_and_wait(t.relay->workers[0].loop, read_media_credit_of_relay_room, &reading);
    assert_int_equal(reading.credit, MEDIA_QUEUE_CREDIT - 2 - 1 - 6);
    media_cipher_free(seal);
    close(t.fd);
    relay_stop(t.relay);
    loops_stop(ls);
}

/* --- sequence numbers ----------------------------------------------------------------- */

/* Returns a participant without a socket that was sent `count` messages. */
static struct relay_participant make_participant_with_messages(uint16_t seq, unsigned count)
{
    struct serialized_message *t = serialized_message_new(VOICE_SPEAKING, STR("{}"));
    struct relay_participant s = { .version = VOICE_SEQUENCE_VERSION, .outbox.seq = seq };

    for (unsigned i = 0; i < count; i++)
        participant_outbox_send_message(&s, t);
    serialized_message_unref(t);
    return s;
}

/* Clients take 0 as no sequence number. */
static void message_sequence_numbers_wrap_around_and_skip_zero(void **state)
{
    struct relay_participant s = make_participant_with_messages(65533, 4);

    (void)state;
    assert_int_equal(s.outbox.seq, 2);
    assert_true(participant_outbox_can_replay_after(&s, 65533) &&
                participant_outbox_can_replay_after(&s, 65534) &&
                participant_outbox_can_replay_after(&s, 65535));
    assert_true(participant_outbox_can_replay_after(&s, 1) &&
                participant_outbox_can_replay_after(&s, 2));
    assert_false(participant_outbox_can_replay_after(&s, 65532) ||
                 participant_outbox_can_replay_after(&s, 3) ||
                 participant_outbox_can_replay_after(&s, -1));
    participant_outbox_drop_acknowledged(&s, 65535);
    assert_int_equal(s.outbox.ring_count, 2);
    assert_false(participant_outbox_can_replay_after(&s, 65534));
    assert_true(participant_outbox_can_replay_after(&s, 65535) &&
                participant_outbox_can_replay_after(&s, 1));
    participant_outbox_drop_acknowledged(&s, 2);
    assert_int_equal(s.outbox.ring_count, 0);
    assert_true(participant_outbox_can_replay_after(&s, 2));
    participant_outbox_clear(&s);
}

static void participant_that_missed_too_many_messages_cannot_resume(void **state)
{
    struct relay_participant s = make_participant_with_messages(0, VOICE_REPLAY_MAX);

    (void)state;
    assert_true(participant_outbox_can_replay_after(&s, -1) &&
                participant_outbox_can_replay_after(&s, 0) &&
                participant_outbox_can_replay_after(&s, 1));
    participant_outbox_clear(&s);
    s = make_participant_with_messages(0, VOICE_REPLAY_MAX + 1);
    assert_int_equal(s.outbox.ring_count, VOICE_REPLAY_MAX);
    assert_false(participant_outbox_can_replay_after(&s, -1));
    assert_true(participant_outbox_can_replay_after(&s, 1));
    participant_outbox_clear(&s);
}

/* --- video frames --------------------------------------------------------------------- */

enum { PICTURE = 8, PICTURE_TYPE = 101 };

/* The first participant sends video and the other wants to receive it. */
static void start_video_to_listener(struct loop *l, void *arg)
{
    struct two_seats *t = arg;
    static struct video_request all = { .any = 100 };
    size_t at = 0;

    bind_sockets_of_speaker_and_listener(l, arg);
    for (const struct relay_participant *s;
         t->bound && (s = get_next_participant(t->relay->workers[0].participants, &at));) {
        struct relay_participant *seat = (struct relay_participant *)(uintptr_t)s;

        seat->permissions.can_send_video = seat->camera.layers[0].active =
            s->voice_state.user_id == SPEAKER;
        seat->offer.types = video_payload_types_default();
        if (s->voice_state.user_id == SPEAKER)
            continue;
        participant_handle_video_request(seat, &all);
        media_cipher_free(seat->media.cipher);
        seat->media.cipher = media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(0))),
                                              seat->media.key, 0);
    }
}

/* Runs on the relay's thread, so that everything is queued before the thread processes it. */
static void send_video_frame(struct loop *l, void *arg)
{
    struct two_seats *t = arg;
    struct media_cipher *seal =
        media_cipher_new(encryption_mode_find(str_of(encryption_mode_name(0))), t->key, 0);

    (void)l;
    t->ssrc++;
    for (unsigned i = 0; i < PICTURE; i++)
        send_typed(t, seal, i, PICTURE_TYPE);
    media_cipher_free(seal);
}

static void video_frame_is_sent_in_one_call_and_arrives_as_many_datagrams(void **state)
{
    struct loops *ls = loops_start(1, NULL, NULL);
    struct relay_options options = { .host = "127.0.0.1",
                                     .threads = 1,
                                     .address = "127.0.0.1",
                                     .source.on_connected_changed =
                                         count_participants_without_socket,
                                     .source.on_audio_activity = ignore_audio_activity };
    struct two_seats t = { .loop = loops_get_loop_at(ls, 0), .fd = loopback_socket() };
    int64_t until = clock_monotonic_ns() + PATIENCE_S * SECOND;
    const struct timeval patience = { .tv_sec = PATIENCE_S };
    bool known = datagram_bundles_are_supported(t.fd);
    unsigned char in[ENCRYPTED_PACKET_MAX];
    struct relay_stats s;

    (void)state;
    setsockopt(t.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(relay_start(ls, &options, &t.relay), OK);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_joins_of_speaker_and_listener, &t);
    while (!t.bound)
        loop_run_function_and_wait(t.relay->workers[0].loop, start_video_to_listener, &t);
    loop_run_function_and_wait(t.relay->workers[0].loop, send_video_frame, &t);
    for (unsigned i = 0; i < PICTURE; i++) {
        assert_int_equal(recv(t.fd, in, sizeof in, 0), RTP_HEADER_SIZE + 1 + ENCRYPTION_OVERHEAD);
        assert_true(in[1] == PICTURE_TYPE && in[3] == i);
    }
    /* Datagrams are counted after they were sent. */
    do
        relay_read_stats(t.relay, &s);
    while (known && !s.bundled && clock_monotonic_ns() < until);
    assert_int_equal(s.packets_out, PICTURE);
    assert_int_equal(s.bundled, known ? PICTURE - 1 : 0);
    close(t.fd);
    relay_stop(t.relay);
    loops_stop(ls);
}

static void shared_message_text_gets_the_sequence_number_of_each_participant(void **state)
{
    struct serialized_message *t = serialized_message_new(VOICE_SPEAKING, STR("{\"ssrc\":1}"));
    struct buf out;

    (void)state;
    buf_init(&out, 100);
    serialized_message_write(t, 65535, &out);
    assert_str(buf_as_str(&out), "{\"op\":5,\"d\":{\"ssrc\":1},\"seq\":65535}");
    buf_reset(&out);
    serialized_message_write(t, 0, &out);
    assert_str(buf_as_str(&out), "{\"op\":5,\"d\":{\"ssrc\":1}}");
    assert_ptr_equal(serialized_message_ref(t), t);
    serialized_message_unref(t);
    serialized_message_unref(t);
    buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_for_a_busy_loop_stays_small),
        cmocka_unit_test(joins_of_a_large_room_are_spread_over_many_iterations),
        cmocka_unit_test(ended_room_is_empty_immediately),
        cmocka_unit_test(emptied_room_frees_its_memory),
        cmocka_unit_test(frequent_speaking_changes_are_limited_and_the_last_is_sent),
        cmocka_unit_test(room_refuses_participants_above_its_limit),
        cmocka_unit_test(large_rooms_do_not_send_the_flags_of_each_client),
        cmocka_unit_test(message_sequence_numbers_wrap_around_and_skip_zero),
        cmocka_unit_test(participant_that_missed_too_many_messages_cannot_resume),
        cmocka_unit_test(rooms_are_divided_between_workers),
        cmocka_unit_test(full_encrypted_room_refuses_participants_if_encryption_is_required),
        cmocka_unit_test(participant_is_disconnected_after_the_last_nonce),
        cmocka_unit_test(room_is_charged_for_participants_that_receive_nothing),
        cmocka_unit_test(video_frame_is_sent_in_one_call_and_arrives_as_many_datagrams),
        cmocka_unit_test(shared_message_text_gets_the_sequence_number_of_each_participant),
    };

    log_init(2, LOG_OFF, 0);
    return cmocka_run_group_tests_name("relay/rooms", tests, NULL, NULL);
}
