/* group.c - the DAVE group of one voice room: its version, participants, key packages, timers. */
#include "relay/dave/group_state.h"

/* --- versions --------------------------------------------------------------------------- */

static unsigned compute_room_dave_version(struct dave_room *room)
{
    if (room->members.count > DAVE_MEMBERS_MAX)
        room->too_large = true;
    else if (room->members.count <= DAVE_MEMBERS_AGAIN)
        room->too_large = false;
    return room->config.version && room->members.count && !room->plain_count && !room->too_large
               ? DAVE_VERSION
               : 0;
}

static void end_dave_encryption_of_room(struct dave_room *room, int64_t now)
{
    room->config.counters->downgrades++;
    dave_group_discard(room);
    dave_transition_start(room, now);
    for (EACH_MEMBER(m, room))
        if (m->described && !m->plain) {
            m->in_transition = true;
            send_dave_prepare_transition(room, m, 0, room->transition);
        }
}

static void update_room_dave_version(struct dave_room *room, int64_t now)
{
    unsigned target = compute_room_dave_version(room), before = room->version;

    if (room->members.count < 2)
        room->media = false;
    room->version = target;
    if (before && !target && room->members.count) {
        end_dave_encryption_of_room(room, now);
    } else if (before && !target) {
        dave_transition_finish(room);
        dave_group_discard(room);
    } else if (!before && target) {
        dave_group_reset(room);
    }
    if (!target && room->members.count > 1)
        room->media = true;
}

unsigned dave_room_get_protocol_version(const struct dave_room *room)
{
    return room->version;
}

bool dave_room_is_full(const struct dave_room *room)
{
    return room->members.count >= DAVE_MEMBERS_MAX;
}

bool dave_room_is_in_transition(const struct dave_room *room)
{
    return room->transition;
}

/* --- participants ----------------------------------------------------------------------- */

struct dave_room *dave_room_new(const struct dave_config *config)
{
    struct dave_room *room = mem_new(sizeof *room);

    room->config = *config;
    map_init(&room->members);
    linked_list_init(&room->order);
    room->transition_due = room->commit_due = room->round_due = NEVER;
    room->round_time = INT64_MIN / 2;
    room->not_before = INT64_MIN;
    return room;
}

static void dave_member_free(struct dave_member *m)
{
    linked_list_remove(&m->link);
    drop_key_package_of_member(m);
    mem_free(m);
}

void dave_room_free(struct dave_room *room)
{
    if (!room)
        return;
    dave_proposals_clear(room);
    while (!linked_list_is_empty(&room->order))
        dave_member_free(dave_member_at(room, room->order.next));
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
    linked_list_append(&room->order, &m->link);
    map_set_value(&room->members, user, m);
    room->plain_count += m->plain;
    update_room_dave_version(room, now);
    return room->version;
}

void dave_room_on_session_description_sent(struct dave_room *room, snowflake user, unsigned version,
                                           int64_t now)
{
    struct dave_member *m = map_find_value(&room->members, user);

    (void)now;
    if (!m || m->described)
        return;
    m->described = true;
    if (!room->version && version)
        send_dave_prepare_transition(room, m, 0, 0);
    if (!room->version)
        return;
    if (!version)
        send_dave_prepare_epoch(room, m);
    send_dave_external_sender_package(room, m);
}

void dave_room_leave(struct dave_room *room, snowflake user, int64_t now)
{
    struct dave_member *m = map_find_value(&room->members, user);

    if (!m)
        return;
    map_remove_value(&room->members, user);
    room->plain_count -= m->plain;
    dave_member_free(m);
    update_room_dave_version(room, now);
    if (room->version)
        dave_group_reset_if_unusable(room);
    dave_transition_finish_if_ready(room);
    start_dave_proposal_round(room, now);
}

/* --- key packages ----------------------------------------------------------------------- */

/* Counts a key package that the server had not requested. Returns false if the member has sent more
 * than DAVE_KEY_PACKAGES such packages in the last minute. */
static bool count_unrequested_key_package(struct dave_member *m, int64_t now)
{
    int64_t *oldest = &m->package_times[m->package_count % DAVE_KEY_PACKAGES];

    if (m->package_count >= DAVE_KEY_PACKAGES && now - *oldest < DAVE_KEY_PACKAGES_MS)
        return false;
    *oldest = now;
    m->package_count++;
    return true;
}

enum dave_message_result dave_room_handle_key_package(struct dave_room *room, snowflake user,
                                                      struct str payload, int64_t now)
{
    struct dave_member *m = map_find_value(&room->members, user);
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
    bool allowed = requested || count_unrequested_key_package(m, now);
    if (!allowed || !mls_key_package_read(payload, user, &k)) {
        room->config.counters->refused_key_packages++;
        return allowed ? DAVE_REFUSED : DAVE_TOO_MANY;
    }
    /* The client has discarded its leaf in the group and its earlier keys. */
    if (m->proposed) {
        revoke_add_proposal_of_member(room, m);
    } else if (!room->established && find_dave_add_proposal_of_member(room, m)) {
        /* The member has joined again, but only some clients got its former Add proposal. */
        dave_group_reset(room);
        return DAVE_OUTDATED;
    }
    m->leaf = NO_LEAF;
    drop_key_package_of_member(m);
    if (room->established)
        dave_group_reset_if_unusable(room);
    buf_add_str(&m->package, k.bytes);
    memcpy(m->package_ref, k.ref, sizeof m->package_ref);
    memcpy(m->signature_key, k.leaf.signature_key.p, sizeof m->signature_key);
    sign_add_proposal_of_member(room, m);
    room->not_before = INT64_MIN;
    start_dave_proposal_round(room, now);
    return DAVE_ACCEPTED;
}

/* --- transitions and timers ------------------------------------------------------------- */

void dave_room_handle_transition_ready(struct dave_room *room, snowflake user, unsigned transition,
                                       int64_t now)
{
    struct dave_member *m = map_find_value(&room->members, user);

    if (!m || !transition || transition != room->transition)
        return;
    m->ready = true;
    dave_transition_finish_if_ready(room);
    start_dave_proposal_round(room, now);
}

/* Records that a recipient could not process the latest commit. If most recipients report this,
 * later commits of the same member are ignored, so that the member cannot block the room. If no
 * member is left that may commit, all members may commit again. */
static void record_report_about_committer(struct dave_room *room,
                                          const struct dave_member *reporter)
{
    struct dave_member *committer = map_find_value(&room->members, room->committer);
    bool trusted = false;

    if (!committer || committer == reporter || 2 * ++room->reports <= room->recipients)
        return;
    committer->distrusted = true;
    for (EACH_MEMBER(m, room))
        trusted |= !m->distrusted;
    for (EACH_MEMBER(m, room))
        m->distrusted &= trusted;
}

void dave_room_handle_invalid_commit(struct dave_room *room, snowflake user, int64_t now)
{
    struct dave_member *m = map_find_value(&room->members, user);

    if (!m)
        return;
    m->announced++;
    if (!room->established || m->leaf == NO_LEAF)
        return;
    m->leaf = NO_LEAF;
    m->ready = true;
    room->not_before = now + DAVE_READD_MS;
    record_report_about_committer(room, m);
    dave_group_reset_if_unusable(room);
    dave_transition_finish_if_ready(room);
    start_dave_proposal_round(room, now);
}

int64_t dave_room_next_timeout(const struct dave_room *room)
{
    int64_t due = room->transition_due;

    if (room->commit_due < due)
        due = room->commit_due;
    return room->round_due < due ? room->round_due : due;
}

void dave_room_handle_timeouts(struct dave_room *room, int64_t now)
{
    if (room->transition && now >= room->transition_due)
        dave_transition_finish(room);
    if (now >= room->commit_due) {
        room->failures++;
        room->config.counters->resets++;
        dave_group_reset(room);
    }
    start_dave_proposal_round(room, now);
}
