/* group.c - state machine of the encrypted group of one voice room (DAVE). */
#include "relay/dave/group.h"

#include <assert.h>

#include "base/links.h"
#include "base/map.h"
#include "base/mem.h"

enum {
    NO_LEAF = -1,
    FIRST_EPOCH = 1, /* epoch of opcode 24 for a new group */
    TRANSITION_MAX = UINT16_MAX,
    PROPOSALS_APPEND = 0,
    PROPOSALS_REVOKE = 1,
    /* Each member has at most one Add and one Remove. */
    PROPOSALS_MAX = 2 * DAVE_MEMBERS_MAX,
    PAYLOAD_MAX = PROPOSALS_MAX * MLS_PROPOSAL,
};

struct dave_member {
    struct link link;
    snowflake user;
    bool plain;         /* the client does not support DAVE */
    bool described;     /* opcode 4 was sent */
    bool replaced;      /* its Add was revoked, because it sent another key package */
    bool proposed;      /* its Add was sent; only before the group is established */
    bool in_transition; /* receives opcode 22 of the running transition */
    bool ready;         /* sent opcode 23 */
    bool distrusted;    /* most recipients of its commit reported it: it no longer commits */
    int leaf;           /* or NO_LEAF */
    /* Key packages that have not arrived: requested by opcode 4 or 24, announced by opcode 31. The
     * client sends one for each; all but the last one are outdated when they arrive. */
    unsigned requested, announced;
    /* Key package that is not used yet; empty: none. */
    struct buf package;
    unsigned char package_ref[MLS_HASH];
    char signature_key[MLS_PUBLIC_KEY];
    /* Its Add for add_epoch, signed when it arrived: a round of 100 signatures takes too long for a
     * thread that forwards media. */
    struct buf add;
    unsigned char add_ref[MLS_HASH];
    uint64_t add_epoch;
    /* Ring of the times of the latest unrequested key packages. */
    int64_t package_times[DAVE_KEY_PACKAGES];
    unsigned package_count;
};

struct dave_leaf {
    bool used;
    snowflake user;
    char signature_key[MLS_PUBLIC_KEY];
};

struct dave_proposal {
    unsigned char ref[MLS_HASH];
    bool adds;
    uint32_t leaf; /* to remove */
    /* To add: */
    snowflake user;
    unsigned char package_ref[MLS_HASH];
    char signature_key[MLS_PUBLIC_KEY];
    struct buf message;
    bool matched; /* by a reference of the commit that is being checked */
};

struct dave_room {
    struct dave_config config;
    struct map members; /* by user id */
    struct link order;  /* members by time of joining */
    size_t plain_count;
    bool too_large;
    unsigned version;
    bool media; /* participants may have exchanged media: transitions must not be immediate */

    bool established;
    uint64_t epoch;
    struct dave_leaf *leaves; /* DAVE_MEMBERS_MAX; allocated with the first group */
    int leaf_count;
    struct dave_proposal **proposals; /* outstanding; PROPOSALS_MAX */
    size_t proposal_count;
    snowflake committer;          /* sender of the latest commit */
    unsigned recipients, reports; /* others that received it; that reported it as invalid */

    unsigned transition, last_transition; /* id of the running one or 0; id of the latest one */
    int64_t transition_due, commit_due, round_due;
    int64_t round_time; /* time of the latest opcode 27 */
    int64_t not_before; /* the next round waits until then */
    unsigned failures;  /* consecutive resets without a commit */
};

#define NEVER INT64_MAX
#define EACH_MEMBER(m, room)                                       \
    struct dave_member *m = member_at((room), (room)->order.next); \
    m;                                                             \
    m = member_at((room), m->link.next)

static struct dave_member *member_at(const struct dave_room *room, struct link *link)
{
    return link == &room->order ? NULL : container_of(link, struct dave_member, link);
}

/* --- messages --------------------------------------------------------------------------- */

bool dave_message_is_json(const struct dave_message *m)
{
    return m->op == DAVE_PREPARE_TRANSITION || m->op == DAVE_EXECUTE_TRANSITION ||
           m->op == DAVE_PREPARE_EPOCH;
}

void dave_message_write(const struct dave_message *m, struct buf *out)
{
    if (m->op == DAVE_PREPARE_TRANSITION)
        buf_printf(out, "{\"protocol_version\":%u,\"transition_id\":%u}", m->version,
                   m->transition);
    else if (m->op == DAVE_EXECUTE_TRANSITION)
        buf_printf(out, "{\"transition_id\":%u}", m->transition);
    else
        buf_printf(out, "{\"protocol_version\":%u,\"epoch\":%u}", m->version, m->epoch);
}

static void member_send(struct dave_room *room, const struct dave_member *m,
                        struct dave_message message)
{
    room->config.send(room->config.context, m->user, &message);
}

static void member_send_binary(struct dave_room *room, const struct dave_member *m,
                               enum dave_opcode op, const struct buf *payload)
{
    assert(!buf_is_full(payload));
    member_send(room, m, (struct dave_message){ .op = op, .payload = buf_str(payload) });
}

static void member_send_sender(struct dave_room *room, struct dave_member *m)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    mls_write_sender(room->config.key, &payload);
    member_send_binary(room, m, DAVE_EXTERNAL_SENDER, &payload);
    buf_clear(&payload);
    m->requested++;
}

/* The client forgets its group and sends a new key package. */
static void member_send_epoch(struct dave_room *room, const struct dave_member *m)
{
    member_send(room, m,
                (struct dave_message){
                    .op = DAVE_PREPARE_EPOCH, .version = DAVE_VERSION, .epoch = FIRST_EPOCH });
}

static void member_send_transition(struct dave_room *room, const struct dave_member *m,
                                   unsigned version, unsigned transition)
{
    member_send(room, m,
                (struct dave_message){
                    .op = DAVE_PREPARE_TRANSITION, .version = version, .transition = transition });
}

/* --- transitions ------------------------------------------------------------------------ */

static void transition_finish(struct dave_room *room)
{
    for (EACH_MEMBER(m, room)) {
        if (room->transition && m->in_transition)
            member_send(room, m,
                        (struct dave_message){ .op = DAVE_EXECUTE_TRANSITION,
                                               .transition = room->transition });
        m->in_transition = m->ready = false;
    }
    room->transition = 0;
    room->transition_due = NEVER;
}

/* Finishes a running transition first, because some clients remember only one. */
static void transition_start(struct dave_room *room, int64_t now)
{
    transition_finish(room);
    room->last_transition = room->last_transition % TRANSITION_MAX + 1;
    room->transition = room->last_transition;
    room->transition_due = now + DAVE_TRANSITION_MS;
    room->config.counters->transitions++;
}

static void transition_finish_if_ready(struct dave_room *room)
{
    if (!room->transition)
        return;
    for (EACH_MEMBER(m, room))
        if (m->in_transition && !m->ready)
            return;
    transition_finish(room);
}

/* --- proposals -------------------------------------------------------------------------- */

static void proposal_free(struct dave_proposal *p)
{
    buf_clear(&p->message);
    mem_free(p);
}

static struct dave_proposal *proposal_new(struct dave_room *room)
{
    struct dave_proposal *p = mem_new(sizeof *p);

    assert(room->proposal_count < PROPOSALS_MAX);
    buf_init(&p->message, MLS_PROPOSAL);
    room->proposals[room->proposal_count++] = p;
    return p;
}

static void member_sign_add(struct dave_room *room, struct dave_member *m)
{
    buf_reset(&m->add);
    mls_write_add(room->config.key, room->config.group, room->epoch, buf_str(&m->package), &m->add,
                  m->add_ref);
    m->add_epoch = room->epoch;
}

static void proposal_new_add(struct dave_room *room, struct dave_member *m)
{
    struct dave_proposal *p = proposal_new(room);

    if (m->add_epoch != room->epoch)
        member_sign_add(room, m);
    p->adds = true;
    p->user = m->user;
    memcpy(p->package_ref, m->package_ref, sizeof p->package_ref);
    memcpy(p->signature_key, m->signature_key, sizeof p->signature_key);
    memcpy(p->ref, m->add_ref, sizeof p->ref);
    buf_add_str(&p->message, buf_str(&m->add));
}

static void proposal_new_remove(struct dave_room *room, uint32_t leaf)
{
    struct dave_proposal *p = proposal_new(room);

    p->leaf = leaf;
    mls_write_remove(room->config.key, room->config.group, room->epoch, leaf, &p->message, p->ref);
}

static bool proposal_is_add_of(const struct dave_proposal *p, const struct dave_member *m)
{
    return p->adds && p->user == m->user;
}

/* A client must not receive its own Add. It refuses all proposals of a message with an Add of a
 * user that has left before it came. */
static bool proposal_is_for(const struct dave_room *room, const struct dave_proposal *p,
                            const struct dave_member *m)
{
    return !p->adds || (p->user != m->user && map_get(&room->members, p->user));
}

/* Sends the proposals from that index on. */
static void proposals_send(struct dave_room *room, const struct dave_member *m, size_t from)
{
    struct buf payload;
    size_t n = 0;

    for (size_t i = from; i < room->proposal_count; i++)
        if (proposal_is_for(room, room->proposals[i], m))
            n += room->proposals[i]->message.n;
    if (!n)
        return;
    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, PROPOSALS_APPEND, 1);
    mls_write_length(&payload, n);
    for (size_t i = from; i < room->proposal_count; i++)
        if (proposal_is_for(room, room->proposals[i], m))
            buf_add_str(&payload, buf_str(&room->proposals[i]->message));
    member_send_binary(room, m, DAVE_PROPOSALS, &payload);
    buf_clear(&payload);
}

static struct dave_proposal **proposal_find_add(const struct dave_room *room,
                                                const struct dave_member *m)
{
    for (size_t i = 0; i < room->proposal_count; i++)
        if (proposal_is_add_of(room->proposals[i], m))
            return &room->proposals[i];
    return NULL;
}

/* Revokes the Add of a member that sent another key package before the group was established. The
 * Add of a member that has left is not revoked, because davey commits without a Welcome after a
 * revocation that no further Add follows. */
static void proposal_revoke(struct dave_room *room, struct dave_member *m)
{
    struct dave_proposal **at = proposal_find_add(room, m);
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, PROPOSALS_REVOKE, 1);
    mls_write_length(&payload, 1 + MLS_HASH);
    mls_write_vector(&payload, str_slice((const char *)(*at)->ref, MLS_HASH));
    for (EACH_MEMBER(other, room))
        if (other != m && other->proposed)
            member_send_binary(room, other, DAVE_PROPOSALS, &payload);
    buf_clear(&payload);
    proposal_free(*at);
    room->proposal_count--;
    memmove(at, at + 1, (size_t)(room->proposals + room->proposal_count - at) * sizeof *at);
    m->proposed = false;
    m->replaced = true;
}

static void proposals_clear(struct dave_room *room)
{
    while (room->proposal_count)
        proposal_free(room->proposals[--room->proposal_count]);
    for (EACH_MEMBER(m, room))
        m->proposed = m->replaced = false;
    room->commit_due = NEVER;
}

/* --- groups ----------------------------------------------------------------------------- */

static void member_drop_package(struct dave_member *m)
{
    buf_clear(&m->package);
    buf_clear(&m->add);
}

static void group_clear(struct dave_room *room)
{
    proposals_clear(room);
    room->established = false;
    room->epoch = 0;
    room->leaf_count = 0;
    room->round_due = NEVER;
    room->not_before = INT64_MIN;
    for (EACH_MEMBER(m, room)) {
        m->leaf = NO_LEAF;
        member_drop_package(m);
    }
}

/* Starts a new group: every client forgets the present one and sends a key package. */
static void group_reset(struct dave_room *room)
{
    transition_finish(room);
    group_clear(room);
    if (!room->leaves) {
        room->leaves = mem_new(DAVE_MEMBERS_MAX * sizeof *room->leaves);
        room->proposals = mem_new(PROPOSALS_MAX * sizeof(struct dave_proposal *));
    }
    for (EACH_MEMBER(m, room)) {
        if (!m->described)
            continue;
        member_send_epoch(room, m);
        if (room->members.count == 1)
            member_send_transition(room, m, DAVE_VERSION, 0);
        member_send_sender(room, m);
    }
}

/* Resets a group that has no member left that could commit, or only one participant. */
static void group_reset_if_unusable(struct dave_room *room)
{
    bool usable = false;

    for (EACH_MEMBER(m, room))
        usable |= room->established ? m->leaf != NO_LEAF && !m->distrusted : m->proposed;
    if (room->members.count == 1) {
        if (room->established || room->proposal_count > 1)
            group_reset(room);
    } else if (room->established && !usable) {
        room->config.counters->resets++;
        group_reset(room);
    } else if (!usable) {
        proposals_clear(room); /* no participant has received them */
    }
}

static struct dave_member *leaf_owner(const struct dave_room *room, int leaf)
{
    struct dave_member *m = map_get(&room->members, room->leaves[leaf].user);

    return m && m->leaf == leaf ? m : NULL;
}

static bool leaf_is_orphan(const struct dave_room *room, int leaf)
{
    return room->leaves[leaf].used && !leaf_owner(room, leaf);
}

/* Members take the left-most free leaf, as in every client (RFC 9420, section 7.7). */
static int leaf_take(struct dave_room *room, snowflake user, const char *signature_key)
{
    int at = 0;

    while (at < room->leaf_count && room->leaves[at].used)
        at++;
    assert(at < DAVE_MEMBERS_MAX);
    if (at == room->leaf_count)
        room->leaf_count++;
    room->leaves[at] = (struct dave_leaf){ .used = true, .user = user };
    memcpy(room->leaves[at].signature_key, signature_key, MLS_PUBLIC_KEY);
    return at;
}

static bool member_waits(const struct dave_member *m)
{
    return m->package.n && m->leaf == NO_LEAF && !m->proposed;
}

static bool round_has_changes(const struct dave_room *room)
{
    for (int i = 0; i < room->leaf_count; i++)
        if (leaf_is_orphan(room, i))
            return true;
    for (EACH_MEMBER(m, room))
        if (member_waits(m))
            return true;
    return false;
}

static void round_await_commit(struct dave_room *room, int64_t now)
{
    unsigned doublings =
        room->failures < DAVE_COMMIT_DOUBLINGS ? room->failures : DAVE_COMMIT_DOUBLINGS;
    int64_t wait = DAVE_COMMIT_MS + DAVE_COMMIT_MEMBER_MS * (int64_t)room->proposal_count;

    room->commit_due = now + (wait << doublings);
}

/* Before the group is established, every client has a group of its own, with itself at leaf 0. It
 * receives the Adds of all others, and the first commit decides whose group becomes the common
 * one. */
static void round_propose_initial(struct dave_room *room, int64_t now)
{
    size_t from = room->proposal_count;

    for (EACH_MEMBER(m, room)) {
        if (!member_waits(m))
            continue;
        if (room->proposal_count == DAVE_MEMBERS_MAX) { /* many have left before the commit */
            group_reset(room);
            return;
        }
        proposal_new_add(room, m);
    }
    for (EACH_MEMBER(m, room)) {
        if (!m->package.n)
            continue;
        proposals_send(room, m, m->proposed || m->replaced ? from : 0);
        m->proposed = true;
        m->replaced = false;
    }
    if (room->proposal_count > 1)
        round_await_commit(room, now);
}

static void round_propose(struct dave_room *room, int64_t now)
{
    for (int i = 0; i < room->leaf_count; i++)
        if (leaf_is_orphan(room, i))
            proposal_new_remove(room, (uint32_t)i);
    for (EACH_MEMBER(m, room))
        if (member_waits(m))
            proposal_new_add(room, m);
    for (EACH_MEMBER(m, room))
        if (m->leaf != NO_LEAF)
            proposals_send(room, m, 0);
    round_await_commit(room, now);
}

/* Proposes the changes that have accumulated, if the room is ready for them. */
static void round_start(struct dave_room *room, int64_t now)
{
    int64_t start = room->not_before;

    room->round_due = NEVER;
    if (!room->version || room->transition || (room->established && room->proposal_count) ||
        !round_has_changes(room))
        return;
    if (room->members.count > DAVE_BATCH_MEMBERS && start < room->round_time + DAVE_BATCH_MS)
        start = room->round_time + DAVE_BATCH_MS;
    if (now < start) {
        room->round_due = start;
        return;
    }
    room->round_time = now;
    if (room->established)
        round_propose(room, now);
    else
        round_propose_initial(room, now);
}

/* --- versions --------------------------------------------------------------------------- */

static unsigned room_target(struct dave_room *room)
{
    if (room->members.count > DAVE_MEMBERS_MAX)
        room->too_large = true;
    else if (room->members.count <= DAVE_MEMBERS_AGAIN)
        room->too_large = false;
    return room->config.version && room->members.count && !room->plain_count && !room->too_large
               ? DAVE_VERSION
               : 0;
}

static void room_downgrade(struct dave_room *room, int64_t now)
{
    room->config.counters->downgrades++;
    group_clear(room);
    transition_start(room, now);
    for (EACH_MEMBER(m, room))
        if (m->described && !m->plain) {
            m->in_transition = true;
            member_send_transition(room, m, 0, room->transition);
        }
}

static void room_update_version(struct dave_room *room, int64_t now)
{
    unsigned target = room_target(room), before = room->version;

    if (room->members.count < 2)
        room->media = false;
    room->version = target;
    if (before && !target && room->members.count) {
        room_downgrade(room, now);
    } else if (before && !target) {
        transition_finish(room);
        group_clear(room);
    } else if (!before && target) {
        group_reset(room);
    }
    if (!target && room->members.count > 1)
        room->media = true;
}

unsigned dave_room_version(const struct dave_room *room)
{
    return room->version;
}

bool dave_room_transitions(const struct dave_room *room)
{
    return room->transition;
}

/* --- participants ----------------------------------------------------------------------- */

struct dave_room *dave_room_new(const struct dave_config *config)
{
    struct dave_room *room = mem_new(sizeof *room);

    room->config = *config;
    map_init(&room->members);
    links_init(&room->order);
    room->transition_due = room->commit_due = room->round_due = NEVER;
    room->round_time = INT64_MIN / 2;
    room->not_before = INT64_MIN;
    return room;
}

static void member_free(struct dave_member *m)
{
    link_remove(&m->link);
    member_drop_package(m);
    mem_free(m);
}

void dave_room_free(struct dave_room *room)
{
    if (!room)
        return;
    proposals_clear(room);
    while (!links_are_empty(&room->order))
        member_free(member_at(room, room->order.next));
    map_clear(&room->members);
    mem_free(room->leaves);
    mem_free(room->proposals);
    mem_free(room);
}

unsigned dave_room_join(struct dave_room *room, snowflake user, unsigned max_version, int64_t now)
{
    dave_room_leave(room, user, now);

    struct dave_member *m = mem_new(sizeof *m);
    m->user = user;
    m->plain = max_version < DAVE_VERSION;
    m->leaf = NO_LEAF;
    buf_init(&m->package, MLS_KEY_PACKAGE);
    buf_init(&m->add, MLS_PROPOSAL);
    links_append(&room->order, &m->link);
    map_put(&room->members, user, m);
    room->plain_count += m->plain;
    room_update_version(room, now);
    return room->version;
}

void dave_room_described(struct dave_room *room, snowflake user, unsigned version, int64_t now)
{
    struct dave_member *m = map_get(&room->members, user);

    (void)now;
    if (!m || m->described)
        return;
    m->described = true;
    if (!room->version && version)
        member_send_transition(room, m, 0, 0);
    if (!room->version)
        return;
    if (!version)
        member_send_epoch(room, m);
    member_send_sender(room, m);
}

void dave_room_leave(struct dave_room *room, snowflake user, int64_t now)
{
    struct dave_member *m = map_get(&room->members, user);

    if (!m)
        return;
    map_remove(&room->members, user);
    room->plain_count -= m->plain;
    member_free(m);
    room_update_version(room, now);
    if (room->version)
        group_reset_if_unusable(room);
    transition_finish_if_ready(room);
    round_start(room, now);
}

/* --- key packages ----------------------------------------------------------------------- */

/* Counts a key package that was not requested; false: too many in the last minute. */
static bool member_may_send_package(struct dave_member *m, int64_t now)
{
    int64_t *oldest = &m->package_times[m->package_count % DAVE_KEY_PACKAGES];

    if (m->package_count >= DAVE_KEY_PACKAGES && now - *oldest < DAVE_KEY_PACKAGES_MS)
        return false;
    *oldest = now;
    m->package_count++;
    return true;
}

enum dave_verdict dave_room_key_package(struct dave_room *room, snowflake user, struct str payload,
                                        int64_t now)
{
    struct dave_member *m = map_get(&room->members, user);
    struct mls_key_package k;

    if (!m || !m->described)
        return DAVE_OUTDATED;
    bool requested = m->requested, outdated = m->requested + m->announced > 1;
    if (m->announced)
        m->announced--;
    else if (m->requested)
        m->requested--;
    if (outdated || !room->version)
        return DAVE_OUTDATED;
    bool allowed = requested || member_may_send_package(m, now);
    if (!allowed || !mls_key_package_read(payload, user, &k)) {
        room->config.counters->refused_key_packages++;
        return allowed ? DAVE_REFUSED : DAVE_TOO_MANY;
    }
    /* The client has forgotten the keys of an earlier package and its leaf. */
    if (m->proposed) {
        proposal_revoke(room, m);
    } else if (!room->established && proposal_find_add(room, m)) {
        group_reset(room); /* the member returned; some clients have its old Add, some do not */
        return DAVE_OUTDATED;
    }
    m->leaf = NO_LEAF;
    member_drop_package(m);
    if (room->established)
        group_reset_if_unusable(room);
    buf_add_str(&m->package, k.bytes);
    memcpy(m->package_ref, k.ref, sizeof m->package_ref);
    memcpy(m->signature_key, k.leaf.signature_key.p, sizeof m->signature_key);
    member_sign_add(room, m);
    room->not_before = INT64_MIN;
    round_start(room, now);
    return DAVE_ACCEPTED;
}

/* --- commits ---------------------------------------------------------------------------- */

static struct dave_proposal *proposal_find(const struct dave_room *room, const char *ref)
{
    for (size_t i = 0; i < room->proposal_count; i++)
        if (memcmp(room->proposals[i]->ref, ref, MLS_HASH) == 0)
            return room->proposals[i];
    return NULL;
}

/* Whether the commit references each outstanding proposal once, and no others. The initial commit
 * does not reference the Add of its sender. */
static bool commit_matches_proposals(const struct dave_room *room, const struct dave_member *m,
                                     const struct mls_commit *c)
{
    size_t own = room->established ? 0 : 1;

    if (c->reference_count + own != room->proposal_count)
        return false;
    for (size_t i = 0; i < room->proposal_count; i++)
        room->proposals[i]->matched =
            !room->established && proposal_is_add_of(room->proposals[i], m);
    for (size_t i = 0; i < c->reference_count; i++) {
        struct dave_proposal *p = proposal_find(room, mls_commit_reference(c, i));

        if (!p || p->matched)
            return false;
        p->matched = true;
    }
    return true;
}

/* The committer's new leaf node must have its user and its signature key. */
static bool commit_path_is_valid(const struct dave_room *room, const struct dave_member *m,
                                 const struct mls_commit *c)
{
    const char *key = room->established ? room->leaves[m->leaf].signature_key : m->signature_key;

    return !c->has_path || (c->path.user == m->user &&
                            str_eq(c->path.signature_key, str_slice(key, MLS_PUBLIC_KEY)) &&
                            mls_commit_verify_path(c));
}

/* The Welcome must have secrets for each added member and for nobody else. */
static bool commit_welcomes_added(const struct dave_room *room, const struct mls_commit *c,
                                  const struct mls_welcome *w)
{
    size_t adds = 0;

    for (size_t i = 0; i < c->reference_count; i++) {
        const struct dave_proposal *p = proposal_find(room, mls_commit_reference(c, i));

        if (!p->adds)
            continue;
        adds++;
        if (!w->secret_count || !mls_welcome_has(w, p->package_ref))
            return false;
    }
    return w->secret_count == adds;
}

static bool commit_is_of_group(const struct dave_room *room, const struct mls_commit *c)
{
    struct mls_reader r = { .rest = c->group };

    return c->group.n == sizeof room->config.group &&
           mls_read_number(&r, sizeof room->config.group) == room->config.group;
}

static enum dave_verdict commit_check(const struct dave_room *room, const struct dave_member *m,
                                      struct str payload, struct mls_commit *ret_commit,
                                      struct mls_welcome *ret_welcome)
{
    struct mls_reader r = { .rest = payload };

    *ret_welcome = (struct mls_welcome){ 0 };
    if (payload.n > DAVE_COMMIT_BYTES || !mls_commit_read(&r, ret_commit) ||
        (r.rest.n && !mls_welcome_read(&r, ret_welcome)) || r.rest.n ||
        !commit_is_of_group(room, ret_commit))
        return DAVE_REFUSED;
    if (ret_commit->epoch != room->epoch || !room->proposal_count ||
        !(room->established ? m->leaf != NO_LEAF : m->proposed) ||
        !commit_matches_proposals(room, m, ret_commit))
        return DAVE_OUTDATED;
    if (ret_commit->leaf != (room->established ? (uint32_t)m->leaf : 0) ||
        !commit_path_is_valid(room, m, ret_commit) ||
        !commit_welcomes_added(room, ret_commit, ret_welcome))
        return DAVE_REFUSED;
    return DAVE_ACCEPTED;
}

static void commit_announce(struct dave_room *room, struct dave_member *m, enum dave_opcode op,
                            const struct buf *payload)
{
    m->in_transition = room->transition;
    m->ready = false;
    room->recipients += m->user != room->committer;
    member_send_binary(room, m, op, payload);
}

/* Sends the commit to the members that were in the group before and stay in it. */
static void commit_send(struct dave_room *room, const struct mls_commit *c)
{
    struct buf payload;

    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, room->transition, 2);
    buf_add_str(&payload, c->bytes);
    for (EACH_MEMBER(m, room))
        if (m->leaf != NO_LEAF)
            commit_announce(room, m, DAVE_ANNOUNCE_COMMIT, &payload);
    buf_clear(&payload);
}

/* Gives a leaf to an added member. If it has left or has sent another key package, the leaf is an
 * orphan and is removed in the next round. */
static void commit_add(struct dave_room *room, const struct dave_proposal *p,
                       const struct mls_welcome *w)
{
    int leaf = leaf_take(room, p->user, p->signature_key);
    struct dave_member *m = map_get(&room->members, p->user);
    struct buf payload;

    if (!m || m->leaf != NO_LEAF || !m->package.n ||
        memcmp(m->package_ref, p->package_ref, MLS_HASH) != 0)
        return;
    m->leaf = leaf;
    member_drop_package(m);
    buf_init(&payload, PAYLOAD_MAX);
    mls_write_number(&payload, room->transition, 2);
    mls_welcome_write(w, p->package_ref, &payload);
    commit_announce(room, m, DAVE_WELCOME, &payload);
    buf_clear(&payload);
}

/* Removes are applied before Adds, Adds in the order of the references. */
static void commit_apply(struct dave_room *room, struct dave_member *committer,
                         const struct mls_commit *c, const struct mls_welcome *w, int64_t now)
{
    if (room->media)
        transition_start(room, now);
    if (!room->established) {
        committer->leaf = leaf_take(room, committer->user, committer->signature_key);
        member_drop_package(committer);
    }
    room->established = room->media = true;
    room->epoch++;
    room->failures = 0;
    room->config.counters->epochs++;
    room->committer = committer->user;
    room->recipients = room->reports = 0;
    for (size_t i = 0; i < room->proposal_count; i++)
        if (!room->proposals[i]->adds)
            room->leaves[room->proposals[i]->leaf].used = false;
    commit_send(room, c);
    for (size_t i = 0; i < c->reference_count; i++) {
        const struct dave_proposal *p = proposal_find(room, mls_commit_reference(c, i));

        if (p->adds)
            commit_add(room, p, w);
    }
    proposals_clear(room);
    round_start(room, now);
}

enum dave_verdict dave_room_commit(struct dave_room *room, snowflake user, struct str payload,
                                   int64_t now)
{
    struct dave_member *m = map_get(&room->members, user);
    struct mls_commit c;
    struct mls_welcome w;

    if (!m || !room->version || m->distrusted)
        return DAVE_OUTDATED;
    enum dave_verdict verdict = commit_check(room, m, payload, &c, &w);
    if (verdict == DAVE_REFUSED)
        room->config.counters->refused_commits++;
    else if (verdict == DAVE_ACCEPTED)
        commit_apply(room, m, &c, &w, now);
    return verdict;
}

/* --- transitions and timers ------------------------------------------------------------- */

void dave_room_ready(struct dave_room *room, snowflake user, unsigned transition, int64_t now)
{
    struct dave_member *m = map_get(&room->members, user);

    if (!m || !transition || transition != room->transition)
        return;
    m->ready = true;
    transition_finish_if_ready(room);
    round_start(room, now);
}

/* Ignores later commits of a member whose commit most recipients could not process, so that it
 * cannot block the room. If nobody is left that may commit, all may again. */
static void committer_report(struct dave_room *room, const struct dave_member *reporter)
{
    struct dave_member *committer = map_get(&room->members, room->committer);
    bool trusted = false;

    if (!committer || committer == reporter || 2 * ++room->reports <= room->recipients)
        return;
    committer->distrusted = true;
    for (EACH_MEMBER(m, room))
        trusted |= !m->distrusted;
    for (EACH_MEMBER(m, room))
        m->distrusted &= trusted;
}

void dave_room_invalid(struct dave_room *room, snowflake user, int64_t now)
{
    struct dave_member *m = map_get(&room->members, user);

    if (!m)
        return;
    m->announced++;
    if (!room->established || m->leaf == NO_LEAF)
        return;
    m->leaf = NO_LEAF;
    m->ready = true;
    room->not_before = now + DAVE_READD_MS;
    committer_report(room, m);
    group_reset_if_unusable(room);
    transition_finish_if_ready(room);
    round_start(room, now);
}

int64_t dave_room_due(const struct dave_room *room)
{
    int64_t due = room->transition_due;

    if (room->commit_due < due)
        due = room->commit_due;
    return room->round_due < due ? room->round_due : due;
}

void dave_room_tick(struct dave_room *room, int64_t now)
{
    if (room->transition && now >= room->transition_due)
        transition_finish(room);
    if (now >= room->commit_due) {
        room->failures++;
        room->config.counters->resets++;
        group_reset(room);
    }
    round_start(room, now);
}
