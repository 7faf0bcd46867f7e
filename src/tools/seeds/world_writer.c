/* world_writer.c - writes a random data set, about 50,000 rows per transaction.
 *
 * Rows are inserted in the order of each table's primary key, and close together in other indexes,
 * so that each database page is written about once. */
#include "tools/seeds/world_objects.h"

#include <stdio.h>

#include "model/channel.h"
#include "model/permissions/permissions.h"
#include "model/text/reaction_text.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/messages/messages.h"
#include "platform/reactions/reactions.h"
#include "platform/relationships/relationship_pairs.h"

enum { ROWS_PER_TRANSACTION = 50000 };

/* Part of the data set that is being written. The parts are written in this order. */
enum seed_phase {
    PHASE_USERS,
    PHASE_FRIENDS,
    PHASE_GUILDS,
    PHASE_MEMBERS,
    PHASE_MESSAGES,
    PHASE_END
};

struct seed_position {
    enum seed_phase phase;
    int64_t i, j;
    int64_t rows;
};

struct seed_state {
    const struct seed_options *o;
    struct seed_position at, next;
};

/* --- accounts ------------------------------------------------------------------------- */

static enum err insert_user(struct tx *tx, const struct seed_options *o, struct seed_position *at)
{
    char name[33], display[64];

    if (at->i == o->users) {
        *at = (struct seed_position){ PHASE_FRIENDS, 0, 0, at->rows };
        return OK;
    }
    seed_username(o, at->i, name);
    const struct user u = { .id = seed_user_id(o, at->i),
                            .username = str_of(name),
                            .global_name = opt_str_or_null(
                                seed_display_name(o, at->i, display, sizeof display)),
                            .locale = STR("en-US"),
                            .verified = true };
    at->i++;
    at->rows++;
    return user_insert_without_uniqueness_check(tx, &u);
}

static enum err insert_friend(struct tx *tx, const struct seed_options *o, int64_t account,
                              int64_t friend, struct seed_position *at)
{
    int64_t later = account > friend ? account : friend;

    at->rows++;
    return relationship_row_save(
        tx, seed_user_id(o, account), seed_user_id(o, friend),
        &(struct relationship_row){ .type = RELATIONSHIP_FRIEND,
                                    .since = opt_int_present(seed_joined_at(o, -1, later)) });
}

/* Writes all friends of one account: first those with lower account numbers, then those with higher
 * ones. */
static enum err insert_friends(struct tx *tx, const struct seed_options *o,
                               struct seed_position *at)
{
    enum err e = OK;

    if (at->i == o->users || o->friends == 0) {
        *at = (struct seed_position){ PHASE_GUILDS, 0, 0, at->rows };
        return OK;
    }
    for (int64_t d = seed_max_following_friends(o); d > 0 && !e; d--)
        if (seed_count_following_friends(o, at->i - d) >= d)
            e = insert_friend(tx, o, at->i, at->i - d, at);
    for (int64_t d = 1; d <= seed_count_following_friends(o, at->i) && !e; d++)
        e = insert_friend(tx, o, at->i, at->i + d, at);
    at->i++;
    return e;
}

/* --- guilds --------------------------------------------------------------------------- */

static const char ADD_GUILD[] =
    "insert into guilds (id, name, owner_id, member_count) values ($1, $2, $3, $4)";
static enum err insert_role(struct tx *tx, const struct seed_options *o, int64_t guild,
                            int64_t role)
{
    char name[32];

    snprintf(name, sizeof name, "role %lld", (long long)role + 1);
    return role_insert(
        tx, &(struct role){ .id = seed_role_id(o, guild, role),
                            .guild_id = seed_guild_id(o, guild),
                            .name = str_of(name),
                            .color =
                                (int64_t)(seed_random(o, RANDOM_ROLE, guild, -role - 1) & 0xffffff),
                            .permissions = PERMISSIONS_DEFAULT,
                            .position = o->roles_per_guild - role });
}

static enum err insert_everyone_role(struct tx *tx, const struct seed_options *o, int64_t guild)
{
    snowflake id = seed_guild_id(o, guild);

    return role_insert(tx, &(struct role){ .id = id,
                                           .guild_id = id,
                                           .name = STR("@everyone"),
                                           .permissions = PERMISSIONS_DEFAULT });
}

static enum err insert_channel(struct tx *tx, const struct seed_options *o, int64_t guild,
                               int64_t channel)
{
    snowflake last = seed_last_message_id(o, guild, channel);
    bool voice = seed_channel_is_voice(channel);
    char name[32];

    snprintf(name, sizeof name, channel ? "%s-%lld" : "general", voice ? "voice" : "topic",
             (long long)channel);
    return channel_insert(tx,
                          &(struct channel){ .id = seed_channel_id(o, guild, channel),
                                             .guild_id = opt_id_or_null(seed_guild_id(o, guild)),
                                             .type = voice ? CHANNEL_VOICE : CHANNEL_TEXT,
                                             .name = opt_str_or_null(str_of(name)),
                                             .position = opt_int_present(channel),
                                             .last_message_id = opt_id_or_null(last) });
}

/* Writes a guild with its roles and channels. Its members and messages are written later. */
static enum err insert_guild(struct tx *tx, const struct seed_options *o, struct seed_position *at)
{
    int64_t guild = at->i;
    char name[32];

    if (guild == o->guilds) {
        at->phase = PHASE_END;
        return OK;
    }
    snprintf(name, sizeof name, "Guild %lld", (long long)guild + 1);
    enum err e = tx_exec(tx, ADD_GUILD,
                         BIND(v_id(seed_guild_id(o, guild)), v_text(str_of(name)),
                              v_id(seed_user_id(o, seed_guild_owner(o, guild))),
                              v_int(seed_guild_size(o, guild))),
                         NULL);
    if (!e)
        e = insert_everyone_role(tx, o, guild);
    for (int64_t r = 0; r < o->roles_per_guild && !e; r++)
        e = insert_role(tx, o, guild, r);
    for (int64_t c = 0; c < o->channels_per_guild && !e; c++)
        e = insert_channel(tx, o, guild, c);
    at->rows += 2 + o->roles_per_guild + o->channels_per_guild;
    at->phase = PHASE_MEMBERS;
    at->j = 0;
    return e;
}

static const char ADD_MEMBER_ROLE[] =
    "insert into member_roles (guild_id, user_id, role_id) values ($1, $2, $3)";

/* Writes a member; every second member gets a role. */
static enum err insert_member(struct tx *tx, const struct seed_options *o, struct seed_position *at)
{
    int64_t guild = at->i, j = at->j;

    if (j == seed_guild_size(o, guild)) {
        *at = (struct seed_position){ PHASE_MESSAGES, guild, 0, at->rows };
        return OK;
    }
    snowflake guild_id = seed_guild_id(o, guild),
              user_id = seed_user_id(o, seed_member_account(o, guild, j));
    uint64_t draw = seed_random(o, RANDOM_ROLE, guild, j);

    at->j++;
    at->rows++;
    bool new;
    enum err e = member_insert_row(tx,
                                   &(struct member){ .guild_id = guild_id,
                                                     .user_id = user_id,
                                                     .joined_at = seed_joined_at(o, guild, j) },
                                   false, &new);
    if (e || draw & 1 || !o->roles_per_guild)
        return e;
    int64_t role = (int64_t)((draw >> 1) % (uint64_t)o->roles_per_guild);
    at->rows++;
    return tx_exec(tx, ADD_MEMBER_ROLE,
                   BIND(v_id(guild_id), v_id(user_id), v_id(seed_role_id(o, guild, role))), NULL);
}

/* A message and the encoded value of its reactions column. */
struct seed_message {
    snowflake id, channel_id;
    struct buf reactions;
};

/* Adds reactions with one emoji to a message. The first `count` members of the guild react. */
static enum err insert_reaction(struct tx *tx, const struct seed_options *o, int64_t guild,
                                struct seed_message *m, int64_t emoji, int64_t count)
{
    /* Animal emoji have consecutive code points. */
    char text[] = { (char)0xf0, (char)0x9f, (char)0x90, (char)(0x80 + emoji) };
    struct reaction_emoji displayed = { { .given = GIVEN_NULL }, { text, sizeof text }, { 0 } };
    struct reaction_line line = { .id = snowflake_new(),
                                  .normal = count,
                                  .key = displayed.name,
                                  .emoji = reaction_emoji_encode(tx_arena(tx), &displayed) };
    const struct message about = { .id = m->id, .channel_id = m->channel_id };
    bool new;
    enum err e = reaction_insert_row(tx, m->id, &line, &displayed);

    if (!m->reactions.n)
        reaction_text_append_reader_line(&m->reactions);
    reaction_line_append(&m->reactions, &line);
    for (int64_t i = 0; !e && i < count; i++)
        e = reaction_add_user(tx, &about, line.id, false,
                              seed_user_id(o, seed_member_account(o, guild, i)), &new);
    return e;
}

static enum err insert_reactions(struct tx *tx, const struct seed_options *o,
                                 struct seed_position *at, struct seed_message *m, int64_t count)
{
    enum err e = OK;

    for (int64_t i = 0; !e && i < SEED_MAX_EMOJI; i++) {
        int64_t n = count_elements_before_part(count, i + 1, SEED_MAX_EMOJI) -
                    count_elements_before_part(count, i, SEED_MAX_EMOJI);

        if (n)
            e = insert_reaction(tx, o, at->i, m, i, n);
    }
    at->rows += count;
    return e;
}

static const char ADD_MESSAGE[] =
    "insert into messages (id, channel_id, author_id, content, reacted, reactions, shown) "
    "values ($1, $2, $3, $4, $5, $6, $7)";

static enum err insert_message(struct tx *tx, const struct seed_options *o,
                               struct seed_position *at)
{
    int64_t guild = at->i, j = at->j;

    if (o->messages == 0 || j == seed_guild_message_count(o, guild)) {
        *at = (struct seed_position){ PHASE_GUILDS, guild + 1, 0, at->rows };
        return OK;
    }
    uint64_t draw = seed_random(o, RANDOM_AUTHOR, guild, j);
    int64_t author =
        seed_member_account(o, guild, (int64_t)(draw % (uint64_t)seed_guild_size(o, guild)));
    int64_t channel = seed_message_channel(o, guild, j);

    struct seed_message m = { .id = seed_message_id(o, guild, j),
                              .channel_id = seed_channel_id(o, guild, channel) };

    at->j++;
    at->rows++;
    buf_init(&m.reactions, MAX_REACTION_TEXT_BYTES);
    enum err e = insert_reactions(tx, o, at, &m, seed_message_reaction_count(o, guild, j));
    struct str reactions = buf_move_to_arena(&m.reactions, tx_arena(tx));
    struct message made = message_row_from_text(m.id, m.channel_id, seed_user_id(o, author),
                                                seed_message_text(o, guild, j));
    if (!e)
        e = tx_exec(tx, ADD_MESSAGE,
                    BIND(v_id(m.id), v_id(m.channel_id), v_id(made.author_id), v_text(made.content),
                         v_int(reactions.n > 0), reactions.n ? v_text(reactions) : v_null(),
                         v_text(message_precompute_json(tx_arena(tx), &made))),
                    NULL);
    return e ? e : message_add_to_indexes_if_late(tx, &made);
}

/* --- transactions --------------------------------------------------------------------- */

static enum err insert_next_batch_of_seed_rows(struct tx *tx, void *arg)
{
    static enum err (*const add[])(struct tx *, const struct seed_options *,
                                   struct seed_position *) = {
        [PHASE_USERS] = insert_user,       [PHASE_FRIENDS] = insert_friends,
        [PHASE_GUILDS] = insert_guild,     [PHASE_MEMBERS] = insert_member,
        [PHASE_MESSAGES] = insert_message,
    };
    struct seed_state *s = arg;
    /* A copy of the position in the data set, because the transaction may be retried. */
    struct seed_position at = s->at;
    enum err e = OK;

    while (!e && at.phase != PHASE_END && at.rows - s->at.rows < ROWS_PER_TRANSACTION)
        e = add[at.phase](tx, s->o, &at);
    s->next = at;
    return e;
}

/* Returns an estimate of the number of rows. The exact number is not known in advance, because it
 * depends on how many members have a role. */
static int64_t estimate_row_count(const struct seed_options *o)
{
    int64_t of_guild = 2 + o->roles_per_guild + o->channels_per_guild;
    int64_t of_members = o->members + (o->roles_per_guild ? o->members / 2 : 0);

    return o->users + 2 * o->friends + o->guilds * of_guild + of_members + o->messages +
           o->reactions;
}

enum err write_seed_data(struct store *store, const struct seed_options *o,
                         void (*report_progress)(void *arg, int64_t done, int64_t total), void *arg)
{
    struct seed_state s = { .o = o };
    int64_t total = estimate_row_count(o);

    while (s.at.phase != PHASE_END) {
        enum err e = store_run_transaction_and_wait(store, STORE_WRITE, NULL,
                                                    insert_next_batch_of_seed_rows, &s);

        if (e)
            return e;
        s.at = s.next;
        report_progress(arg, s.at.phase == PHASE_END || s.at.rows > total ? total : s.at.rows,
                        total);
    }
    return OK;
}
