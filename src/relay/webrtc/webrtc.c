/* webrtc.c - the transport of a participant that uses WebRTC: credentials, handshake, consent. */
#include "relay/webrtc/webrtc.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "relay/media/media.h"
#include "relay/media/media_sender.h"
#include "relay/participants.h"
#include "relay/webrtc/dtls.h"
#include "relay/webrtc/sdp.h"

/* --- credentials ---------------------------------------------------------------------- */

static void write_random_ice_text(char *out, size_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char random[ICE_PASSWORD_SIZE];

    randombytes_buf(random, n);
    for (size_t i = 0; i < n; i++)
        out[i] = letters[random[i] % 64];
}

static uint64_t ufrag_map_key(const char ufrag[ICE_UFRAG_SIZE])
{
    uint64_t key;

    memcpy(&key, ufrag, sizeof key);
    return key;
}

struct relay_participant *find_participant_by_ufrag(const struct relay_participants *all,
                                                    struct str ufrag)
{
    return ufrag.n == ICE_UFRAG_SIZE ? map_find_value(&all->by_ufrag, ufrag_map_key(ufrag.p))
                                     : NULL;
}

unsigned webrtc_get_worker_of_ufrag(const struct relay *r, struct str ufrag)
{
    return (unsigned char)ufrag.p[0] % r->worker_count;
}

/* Returns the relay's certificate, which is created when the first browser connects. */
static struct dtls_identity *get_or_create_dtls_identity(struct relay *r)
{
    pthread_mutex_lock(&r->lock);
    if (!r->identity)
        r->identity = dtls_identity_new();
    struct dtls_identity *identity = r->identity;
    pthread_mutex_unlock(&r->lock);
    return identity;
}

struct webrtc_transport *webrtc_transport_new(struct relay_participant *s, struct str fingerprints)
{
    struct relay_participants *all = participants_of_same_worker(s);

    struct dtls_identity *identity = get_or_create_dtls_identity(s->relay);

    if (!identity)
        return NULL;
    struct webrtc_transport *t = mem_new(sizeof *t);
    char *copy = mem_new(fingerprints.n + 1);

    memcpy(copy, fingerprints.p, fingerprints.n);
    t->fingerprints = str_slice(copy, fingerprints.n);
    t->participant = s;
    t->identity = identity;
    do
        write_random_ice_text(t->ufrag, sizeof t->ufrag);
    while (map_find_value(&all->by_ufrag, ufrag_map_key(t->ufrag)) ||
           webrtc_get_worker_of_ufrag(s->relay, str_slice(t->ufrag, sizeof t->ufrag)) !=
               s->worker->index);
    write_random_ice_text(t->password, sizeof t->password);
    map_set_value(&all->by_ufrag, ufrag_map_key(t->ufrag), s);
    atomic_fetch_add(&s->relay->count.browsers, 1);
    return t;
}

const char *webrtc_encryption_mode_name(const struct webrtc_transport *t)
{
    if (!t->srtp)
        return "";
    switch (srtp_get_profile(t->srtp)) {
    case PROFILE_CM_SHA1:
        return "srtp_aes128_cm_sha1_80";
    case PROFILE_GCM_128:
        return "srtp_aead_aes_128_gcm";
    case PROFILE_GCM_256:
        return "srtp_aead_aes_256_gcm";
    }
    return "";
}

void webrtc_write_sdp_answer(const struct webrtc_transport *t, struct buf *out)
{
    const struct relay *r = t->participant->relay;
    struct sdp_candidate candidates[2] = { { str_of(r->options.address), (unsigned)r->port } };
    unsigned count = 1;

    if (r->options.address6[0])
        candidates[count++] =
            (struct sdp_candidate){ str_of(r->options.address6), (unsigned)r->port };
    sdp_write_answer(out, dtls_identity_fingerprint(t->identity),
                     str_slice(t->ufrag, sizeof t->ufrag), webrtc_ice_password(t), candidates,
                     count);
}

/* --- the handshake -------------------------------------------------------------------- */

struct dtls_datagram {
    struct dtls_datagram *next;
    size_t n;
    char bytes[];
};

/* A DTLS handshake on the thread pool. While `running` is set, the thread pool uses dtls, work_list
 * and state, and the worker's OS thread uses the other fields. */
struct handshake {
    uv_work_t work;
    struct relay_worker *worker;
    struct webrtc_transport *transport; /* NULL if the participant was removed */
    bool running;
    int64_t begun_ms;
    struct deadline check;
    struct dtls_datagram *inbox, **inbox_end;
    unsigned inbox_count;
    struct dtls *dtls;
    struct dtls_datagram *work_list;
    enum dtls_state state;
};

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static void free_dtls_datagrams(struct dtls_datagram *d)
{
    for (struct dtls_datagram *next; d; d = next) {
        next = d->next;
        mem_free(d);
    }
}

static void handshake_free(struct handshake *h)
{
    deadline_cancel(&h->check);
    free_dtls_datagrams(h->inbox);
    free_dtls_datagrams(h->work_list);
    dtls_free(h->dtls);
    mem_free(h);
}

/* Ends a DTLS handshake. If the thread pool is using it, on_handshake_step_done frees it later. */
static void end_dtls_handshake(struct webrtc_transport *t)
{
    struct handshake *h = t->handshake;

    t->handshake = NULL;
    if (!h)
        return;
    h->transport = NULL;
    deadline_cancel(&h->check);
    if (!h->running)
        handshake_free(h);
}

static void run_handshake_step_on_pool(uv_work_t *work)
{
    struct handshake *h = container_of(work, struct handshake, work);

    if (h->state == DTLS_RUNNING && dtls_timeout_ms(h->dtls) == 0)
        h->state = dtls_retransmit(h->dtls);
    for (struct dtls_datagram *d = h->work_list; d; d = d->next)
        h->state = dtls_receive_datagram(h->dtls, str_slice(d->bytes, d->n));
}

/* Counts a failed DTLS handshake. The third failure closes the voice socket, because the browser
 * cannot recover without a new connection. */
static void count_failed_handshake(struct webrtc_transport *t)
{
    struct relay_participant *s = t->participant;

    atomic_fetch_add(&s->relay->count.handshakes_failed, 1);
    end_dtls_handshake(t);
    if (t->handshakes < WEBRTC_HANDSHAKES_MAX)
        return;
    log_info("voice: the DTLS handshake with a browser failed %u times; its certificate does not "
             "match its offer, or it has no SRTP profile in common with the server",
             t->handshakes);
    participant_disconnect(s, RELAY_BAD_PROTOCOL);
}

static void handshake_send_datagrams(struct handshake *h, const struct relay_participant *s)
{
    unsigned char out[DTLS_MAX_DATAGRAM];

    for (size_t n; (n = dtls_pop_outgoing_datagram(h->dtls, out));)
        if (s->media.has_address)
            media_sender_send_now(h->worker->work->sender, &s->media.address, out, n);
}

static void on_handshake_step_done(uv_work_t *work, int status);

static void handshake_start_step(struct handshake *h)
{
    h->work_list = h->inbox;
    h->inbox = NULL;
    h->inbox_end = &h->inbox;
    h->inbox_count = 0;
    h->running = uv_queue_work(loop_get_uv_loop(h->worker->loop), &h->work,
                               run_handshake_step_on_pool, on_handshake_step_done) == 0;
}

static void on_handshake_step_done(uv_work_t *work, int status)
{
    struct handshake *h = container_of(work, struct handshake, work);
    struct webrtc_transport *t = h->transport;

    (void)status;
    h->running = false;
    free_dtls_datagrams(h->work_list);
    h->work_list = NULL;
    if (!t) {
        handshake_free(h);
        return;
    }
    handshake_send_datagrams(h, t->participant);
    if (h->state == DTLS_DONE && !t->srtp) {
        t->srtp = dtls_create_srtp_session(h->dtls);
        atomic_fetch_add(&h->worker->relay->count.handshakes, 1);
    }
    if (h->state == DTLS_FAILED)
        count_failed_handshake(t);
    else if (h->inbox)
        handshake_start_step(h);
}

/* Sends DTLS datagrams again if they were lost. A finished handshake is stored until its time
 * limit, because the browser may not have received the last datagrams. */
void on_webrtc_handshake_check_due(struct deadline *d)
{
    struct handshake *h = container_of(d, struct handshake, check);
    struct webrtc_transport *t = h->transport;

    if (monotonic_ms() - h->begun_ms >= DTLS_TIMEOUT_MS) {
        if (t->srtp)
            end_dtls_handshake(t);
        else
            count_failed_handshake(t);
        return;
    }
    if (!h->running && !t->srtp)
        handshake_start_step(h);
    deadline_restart(participants_of_same_worker(t->participant)->handshake_checks, &h->check);
}

static void begin_dtls_handshake(struct webrtc_transport *t)
{
    struct relay_worker *w = t->participant->worker;
    struct handshake *h = mem_new(sizeof *h);

    h->worker = w;
    h->transport = t;
    h->begun_ms = monotonic_ms();
    h->inbox_end = &h->inbox;
    h->dtls = dtls_new(t->identity, t->fingerprints);
    t->handshake = h;
    t->handshakes++;
    deadline_restart(w->participants->handshake_checks, &h->check);
}

void webrtc_receive_dtls(struct webrtc_transport *t, struct str datagram)
{
    if (!t->handshake && (t->srtp || t->handshakes >= WEBRTC_HANDSHAKES_MAX))
        return;
    if (!t->handshake)
        begin_dtls_handshake(t);
    struct handshake *h = t->handshake;
    if (h->inbox_count >= WEBRTC_HANDSHAKE_DATAGRAMS)
        return;
    struct dtls_datagram *d = mem_new(sizeof *d + datagram.n);
    d->n = datagram.n;
    memcpy(d->bytes, datagram.p, datagram.n);
    *h->inbox_end = d;
    h->inbox_end = &d->next;
    h->inbox_count++;
    if (!h->running)
        handshake_start_step(h);
}

/* --- consent and end ------------------------------------------------------------------ */

/* Stops sending media to a browser that has sent no valid STUN request for WEBRTC_CONSENT_MS (RFC
 * 7675). The participant stays while its socket is open; a later valid STUN request sets its
 * address again. */
void on_ice_consent_expired(struct deadline *d)
{
    participant_clear_address(container_of(d, struct webrtc_transport, consent)->participant);
}

void webrtc_transport_free(struct webrtc_transport *t)
{
    if (!t)
        return;
    struct relay_participant *s = t->participant;

    end_dtls_handshake(t);
    deadline_cancel(&t->consent);
    remove_participant_from_map(&participants_of_same_worker(s)->by_ufrag, ufrag_map_key(t->ufrag),
                                s);
    srtp_free(t->srtp);
    mem_free(t->feedback);
    atomic_fetch_sub(&s->relay->count.browsers, 1);
    mem_free((void *)(uintptr_t)t->fingerprints.p);
    sodium_memzero(t, sizeof *t);
    mem_free(t);
}

/* --- SSRCs ---------------------------------------------------------------------------- */

void webrtc_store_announced_ssrc(struct relay_participant *s, unsigned at, uint32_t ssrc)
{
    if (!ssrc)
        return;
    /* A browser that uses another SSRC has other sequence numbers, but the numbers that receivers
     * get must continue. */
    if (at && s->media.video && s->media.announced[at] != ssrc)
        s->media.video[at].has_new_sender = true;
    s->media.announced[at] = ssrc;
}

int webrtc_find_announced_ssrc(const struct relay_participant *s, uint32_t ssrc)
{
    for (int i = 0; ssrc && i < MEDIA_SSRCS; i++)
        if (s->media.announced[i] == ssrc)
            return i;
    return -1;
}
