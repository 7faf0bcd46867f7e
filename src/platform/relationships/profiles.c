/* profiles.c - GET /users/{user.id}/profile: user profiles and their access rules. */
#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"
#include "platform/members/members.h"
#include "platform/relationships/friends.h"
#include "platform/relationships/suggestions.h"

struct profile_query {
    bool with_mutual_guilds, with_mutual_friends, with_mutual_friends_count;
    struct opt_id guild_id;
};
struct profile_details {
    struct str bio, pronouns;
    struct opt_int accent_color;
    struct opt_str theme_colors; /* JSON */
};
struct mutual_guild {
    snowflake id;
    struct opt_str nick;
};
struct profile_application {
    snowflake id;
};
struct profile {
    const struct user *user;
    const struct profile_details *user_profile;
    struct list badges, guild_badges, connected_accounts; /* always empty lists */
    struct opt_list mutual_guilds, mutual_friends;
    struct opt_int mutual_friends_count, premium_type, premium_since, premium_guild_since;
    const struct member *guild_member;
    const struct profile_application *application;
};

static const struct field query_fields[] = {
    { FIELD(struct profile_query, with_mutual_guilds), .type = &type_bool, .flags = OPTIONAL,
      .fallback = 1 },
    { FIELD(struct profile_query, with_mutual_friends), .type = &type_bool, .flags = OPTIONAL },
    { FIELD(struct profile_query, with_mutual_friends_count), .type = &type_bool,
      .flags = OPTIONAL },
    { FIELD(struct profile_query, guild_id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Include the member object of this guild" },
    { 0 },
};
static const struct schema profile_query_schema = {
    .name = "ProfileQuery",
    .size = sizeof(struct profile_query),
    .fields = query_fields,
    .doc = "Which parts of a profile to return.",
};

static const struct field about_fields[] = {
    { FIELD(struct profile_details, bio), .type = &type_text },
    { FIELD(struct profile_details, pronouns), .type = &type_text },
    { FIELD(struct profile_details, accent_color), .type = &type_color, .flags = NULLABLE },
    { FIELD(struct profile_details, theme_colors), .type = &type_raw, .flags = OPTIONAL | NULLABLE,
      .doc = "Two colours" },
    { 0 },
};
static const struct schema about_schema = {
    .name = "ProfileAbout",
    .size = sizeof(struct profile_details),
    .fields = about_fields,
    .doc = "Profile fields that the user has set.",
};
static const struct type type_about = { .kind = KIND_OBJECT, .schema = &about_schema };

static const struct field mutual_guild_fields[] = {
    { FIELD(struct mutual_guild, id), .type = &type_id },
    { FIELD(struct mutual_guild, nick), .type = &type_nick, .flags = NULLABLE },
    { 0 },
};
static const struct schema mutual_guild_schema = {
    .name = "MutualGuild",
    .size = sizeof(struct mutual_guild),
    .fields = mutual_guild_fields,
    .doc = "A guild that both users are in, with the other user's nick.",
};
static const struct type type_mutual_guild = { .kind = KIND_OBJECT,
                                               .schema = &mutual_guild_schema };
static const struct type type_mutual_guilds = { .kind = KIND_ARRAY, .of = &type_mutual_guild };

static const struct field application_fields[] = {
    { FIELD(struct profile_application, id), .type = &type_id },
    { 0 },
};
static const struct schema profile_application_schema = {
    .name = "ProfileApplication",
    .size = sizeof(struct profile_application),
    .fields = application_fields,
    .doc = "The app of a bot.",
};
static const struct type type_profile_application = { .kind = KIND_OBJECT,
                                                      .schema = &profile_application_schema };

static const struct field profile_fields[] = {
    { FIELD(struct profile, user), .type = &type_profile_user },
    { FIELD(struct profile, user_profile), .type = &type_about },
    { FIELD(struct profile, badges), .type = &type_always_empty_list },
    { FIELD(struct profile, guild_badges), .type = &type_always_empty_list },
    { FIELD(struct profile, connected_accounts), .type = &type_always_empty_list },
    { FIELD(struct profile, mutual_guilds), .type = &type_mutual_guilds, .flags = OPTIONAL },
    { FIELD(struct profile, mutual_friends), .type = &type_partial_users, .flags = OPTIONAL },
    { FIELD(struct profile, mutual_friends_count), .type = &type_count, .flags = OPTIONAL },
    { FIELD(struct profile, premium_type), .type = &type_count, .flags = NULLABLE },
    { FIELD(struct profile, premium_since), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct profile, premium_guild_since), .type = &type_time, .flags = NULLABLE },
    { FIELD(struct profile, guild_member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct profile, application), .type = &type_profile_application, .flags = OPTIONAL },
    { 0 },
};
static const struct schema profile_schema = {
    .name = "Profile",
    .size = sizeof(struct profile),
    .fields = profile_fields,
    .doc = "The profile of a user.",
};
static const struct type profile_reply = { .kind = KIND_OBJECT, .schema = &profile_schema };

/* --- access --------------------------------------------------------------------------- */

static const char MUTUAL_GUILDS[] =
    "select b.guild_id, b.nick from members a join members b on b.guild_id = a.guild_id "
    "join guilds g on g.id = a.guild_id and g.removed = 0 where a.user_id = $1 and b.user_id = $2 order by b.guild_id";

static void mutual_guild_from_row(const struct rows *r, void *ret)
{
    *(struct mutual_guild *)ret = (struct mutual_guild){ row_id(r, 0), row_optional_text(r, 1) };
}

static enum err read_mutual_guilds(struct tx *tx, snowflake me, snowflake other, struct list *ret)
{
    return tx_read_list(tx, MUTUAL_GUILDS, BIND(v_id(me), v_id(other)), sizeof(struct mutual_guild),
                        mutual_guild_from_row, ret);
}

/* Returns an error unless the caller may see the profile: the caller's own, or that of a bot, a
 * friend, a user who sent the caller a friend request, a suggested user, or a member of a mutual
 * guild. */
static enum err check_profile_is_visible(struct call *call, const struct list *guilds)
{
    const struct user *user = call->target.user;
    bool suggested;
    int64_t type;
    enum err e = relationship_type_read(call->tx, call->caller->id, user->id, &type);

    if (!e)
        e = friend_suggestion_exists(call->tx, call->caller->id, user->id, &suggested);
    if (e)
        return e;
    if (user->id == call->caller->id || user->bot.value || guilds->count ||
        type == RELATIONSHIP_FRIEND || type == RELATIONSHIP_INCOMING || suggested)
        return OK;
    return ERR_MISSING_ACCESS;
}

/* --- content -------------------------------------------------------------------------- */

static enum err add_mutual_friends(struct call *call, struct profile *p)
{
    const struct profile_query *in = call->query;
    struct list friends = { 0 };
    enum err e = OK;

    if (!p->user->bot.value && (in->with_mutual_friends || in->with_mutual_friends_count))
        e = mutual_friends(call->tx, call->caller->id, p->user->id, &friends);
    if (in->with_mutual_friends)
        p->mutual_friends = (struct opt_list){ GIVEN, friends };
    if (in->with_mutual_friends_count)
        p->mutual_friends_count = opt_int_present((int64_t)friends.count);
    return e;
}

/* The caller must be a member of the guild; the other user need not be one. */
static enum err add_guild_member_to_profile(struct call *call, struct profile *p)
{
    const struct profile_query *in = call->query;
    struct member *m = arena_alloc(call->arena, sizeof *m);
    struct member_access standing;

    if (in->guild_id.given != GIVEN)
        return OK;
    enum err e = member_access_find(call->tx, in->guild_id.value, call->caller->id, &standing);
    if (!e)
        e = member_find(call->tx, in->guild_id.value, p->user->id, m);
    if (e)
        return e == ERR_UNKNOWN_MEMBER ? OK : e;
    m->user = p->user;
    p->guild_member = m;
    return OK;
}

static const char APPLICATION_OF_BOT[] =
    "select id from applications where bot_id = $1 and removed = 0";

static enum err add_bot_application(struct call *call, struct profile *p)
{
    struct profile_application *app = arena_alloc(call->arena, sizeof *app);

    if (!p->user->bot.value)
        return OK;
    enum err e = tx_read_id(call->tx, APPLICATION_OF_BOT, BIND(v_id(p->user->id)), &app->id);
    if (!e && app->id)
        p->application = app;
    return e;
}

static enum err add_restricted_profile_fields(struct call *call, struct profile_details *about,
                                              const struct list *guilds, struct profile *p)
{
    const struct profile_query *in = call->query;
    const struct user *user = p->user;

    about->bio = user->bio;
    about->accent_color = user->accent_color;
    about->pronouns = user->pronouns;
    if (user->premium_type)
        p->premium_type = opt_int_present(user->premium_type);
    if (in->with_mutual_guilds)
        p->mutual_guilds = (struct opt_list){ GIVEN, *guilds };
    enum err e = profile_theme_colors_find(call->tx, user->id, &about->theme_colors);
    if (!e)
        e = add_mutual_friends(call, p);
    if (!e)
        e = add_guild_member_to_profile(call, p);
    return e ? e : add_bot_application(call, p);
}

/* Decides how much of the profile the caller may see. *ret_whole is false if only the public fields
 * are visible. Returns ERR_MISSING_ACCESS if nothing is visible. */
static enum err read_profile_access(struct call *call, struct list *ret_guilds, bool *ret_whole)
{
    snowflake id = call->target.user->id;
    int64_t theirs = RELATIONSHIP_NONE;
    enum err e = read_mutual_guilds(call->tx, call->caller->id, id, ret_guilds);

    if (!e)
        e = check_profile_is_visible(call, ret_guilds);
    if (!e)
        e = relationship_type_read(call->tx, id, call->caller->id, &theirs);
    *ret_whole = theirs != RELATIONSHIP_BLOCKED;
    return e;
}

/* GET /users/{user.id}/profile */
static enum err get_profile(struct call *call)
{
    struct user user = *call->target.user;
    struct profile_details about = { .bio = STR(""), .pronouns = STR("") };
    struct profile out = { .user = &user, .user_profile = &about };
    struct list guilds = { 0 };
    bool whole;
    enum err e = read_profile_access(call, &guilds, &whole);

    if (e)
        return e;
    if (!whole)
        user.bio = STR("");
    else
        e = add_restricted_profile_fields(call, &about, &guilds, &out);
    return e ? e : call_reply_with_object(call, &out);
}

/* GET /users/{user.id}/relationships */
static enum err get_mutual_friends(struct call *call)
{
    const struct user *user = call->target.user;
    struct list friends = { 0 }, guilds = { 0 };
    bool whole;
    enum err e = read_profile_access(call, &guilds, &whole);

    if (!e && whole && !user->bot.value && user->id != call->caller->id)
        e = mutual_friends(call->tx, call->caller->id, user->id, &friends);
    return e ? e : call_reply_with_object(call, &friends);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/users/{user.id}/profile",
        .name = "get_profile",
        .doc = "The profile of a bot, friend, requesting user, or member of a mutual guild.",
        .auth = AUTH_USER,
        .query = &profile_query_schema,
        .reply = &profile_reply,
        .handle = get_profile,
    },
    {
        .method = GET,
        .path = "/users/{user.id}/relationships",
        .name = "get_mutual_friends",
        .doc = "Mutual friends of the caller and a user whose profile the caller can view.",
        .auth = AUTH_USER,
        .reply = &type_partial_users,
        .handle = get_mutual_friends,
    },
    { 0 },
};

const struct domain profiles_domain = {
    .name = "Profiles",
    .doc = "Profiles of users, for callers who can view them.",
    .routes = routes,
};
