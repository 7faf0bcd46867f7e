/* profile.c - PATCH /users/@me.
 *
 * Changes of name, email, password and date of birth need the current password, and a code if the
 * account has a second factor. Checking the password, hashing a new one and storing pictures are
 * slow, so they run before the transaction, off the event loop and the writer. */
#include "platform/accounts/internal.h"

#include "api/hooks.h"
#include "net/http/server.h"
#include "platform/accounts/mail/links.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/operator.h"

/* Results of the stages before the handler of PATCH /users/@me. */
struct profile_change {
    struct str known_hash; /* hash of the checked password; p == NULL: account has none */
    struct str username;   /* username before the change */
    bool known_address;
    struct str new_hash;
    struct opt_str avatar, banner; /* hashes of pictures that are already stored */
};

static bool is_bot(const struct call *call)
{
    return call->caller->kind == CALLER_BOT;
}

/* True if the patch changes a field that needs the current password. */
static bool is_sensitive(const struct call *call)
{
    const struct user_patch *in = call->body;

    return !is_bot(call) && (in->username.given == GIVEN || in->email.given == GIVEN ||
                             in->new_password.given == GIVEN || in->date_of_birth.given == GIVEN);
}

static enum err look_at_password(struct call *call)
{
    const struct user_patch *in = call->body;
    struct profile_change *change = call_passed(call, "profile_change");
    struct user user;

    enum err e = user_find(call->tx, call->caller->id, &user);
    if (e)
        return e;
    if (user.password_hash.p && in->password.given != GIVEN)
        return call_invalid(call, "password", FORM_REQUIRED);
    change->known_hash = user.password_hash;
    change->username = user.username;
    return address_find(call, user.id, &change->known_address);
}

/* Attempts are counted, because the thief of a token could use this route to guess the password. */
static enum err check_password(struct call *call)
{
    const struct user_patch *in = call->body;
    const struct profile_change *change = call_passed(call, "profile_change");
    struct guess guess = { change->username, change->known_hash, in->password.value,
                           change->known_address };
    bool right = true;
    enum err e = change->known_hash.p ? password_guess(call, &guess, &right) : OK;

    return e ? e : right ? OK : refuse_own_password(call);
}

static enum err check_and_hash(struct call *call)
{
    const struct user_patch *in = call->body;
    struct profile_change *change = call_passed(call, "profile_change");
    enum err e = check_password(call);

    if (e)
        return e;
    if (in->new_password.given == GIVEN)
        return password_hash(call->api, call->arena, in->new_password.value, &change->new_hash);
    return OK;
}

static enum err keep_pictures(struct call *call)
{
    const struct user_patch *in = call->body;
    struct profile_change *change = call_passed(call, "profile_change");
    enum err e = picture_keep(call, "avatars", call->caller->id, &in->avatar, &change->avatar);

    return e ? e : picture_keep(call, "banners", call->caller->id, &in->banner, &change->banner);
}

enum err prepare_modify_current_user(struct call *call)
{
    const struct user_patch *in = call->body;
    enum err name = OK, date = OK, email = OK;

    call_pass(call, "profile_change", sizeof(struct profile_change));
    if (in->username.given == GIVEN)
        name = check_username(call, in->username.value);
    if (!is_bot(call)) {
        date = check_date_of_birth(call, in->date_of_birth);
        email = check_email(call, in->email);
    }
    if (is_sensitive(call)) {
        call->look = look_at_password;
        call->hash = check_and_hash;
    }
    if (is_sensitive(call) && !name && !date && !email)
        name = mfa_count_own_try(call, &in->code);
    if (in->avatar.given != ABSENT || in->banner.given != ABSENT)
        call->compute = keep_pictures;
    return name ? name : date ? date : email;
}

/* An absent value leaves the field unchanged; null clears it. */
static void change_text(struct opt_str *field, const struct opt_str *in)
{
    if (in->given != ABSENT)
        *field = *in;
}

static void profile_apply(const struct call *call, struct user *user)
{
    const struct user_patch *in = call->body;
    const struct profile_change *change = call_passed(call, "profile_change");

    if (in->username.given == GIVEN)
        user->username = in->username.value;
    change_text(&user->avatar, &change->avatar);
    change_text(&user->banner, &change->banner);
    if (is_bot(call))
        return;
    change_text(&user->global_name, &in->global_name);
    if (in->bio.given != ABSENT)
        user->bio = in->bio.given == GIVEN ? in->bio.value : STR("");
    if (in->accent_color.given != ABSENT)
        user->accent_color = in->accent_color;
    if (in->email.given == GIVEN)
        user->email = in->email;
    if (in->date_of_birth.given == GIVEN)
        user->date_of_birth = in->date_of_birth.value;
    if (change->new_hash.p)
        user->password_hash = change->new_hash;
}

enum err own_token_renew(struct call *call, struct str *ret)
{
    struct token_grant grant = {
        .kind = CALLER_USER,
        .user_id = call->caller->id,
        .scopes = STR(""),
        .client = http_header(call->exchange->request, STR("User-Agent")),
    };

    enum err e = account_revoke(call, call->caller->id);
    if (!e)
        e = links_void(call, call->caller->id, LINK_RESET);
    if (!e)
        e = addresses_forget(call, call->caller->id);
    if (!e)
        e = address_keep(call, call->caller->id);
    if (e)
        return e;
    return auth_issue(api_options(call->api)->auth, call->tx, &grant, ret);
}

static bool opt_str_eq(struct opt_str a, struct opt_str b)
{
    return (a.given == GIVEN) == (b.given == GIVEN) &&
           (a.given != GIVEN || str_eq(a.value, b.value));
}

static bool looks_different(const struct user *a, const struct user *b)
{
    return !str_eq(a->username, b->username) || !opt_str_eq(a->global_name, b->global_name) ||
           !opt_str_eq(a->avatar, b->avatar);
}

/* A new email address is unverified until its mailed link is used. If the mail cannot be sent now
 * (rate limit), the change is refused. */
static enum err profile_verify(struct call *call, const struct user *before, struct user *user)
{
    const char *taken;
    int64_t wait_ms;

    if (!mail_is_on(call) || is_bot(call) || opt_str_eq(before->email, user->email))
        return OK;
    user->verified = false;
    enum err e = user_update(call->tx, user, &taken);
    if (!e)
        e = link_send(call, user, LINK_VERIFY, &wait_ms);
    return e ? e : wait_ms ? call_wait(call, wait_ms) : OK;
}

enum err modify_current_user(struct call *call)
{
    const struct user_patch *in = call->body;
    const struct profile_change *change = call_passed(call, "profile_change");
    struct user_with_token out = { .token = call->token };
    struct user before;
    const char *taken;

    enum err e = user_find(call->tx, call->caller->id, &out.user);
    if (e)
        return e;
    if (is_sensitive(call) && !str_eq(out.user.password_hash, change->known_hash))
        return refuse_own_password(call);

    if (is_sensitive(call))
        e = mfa_use_own(call, &out.user, &in->code);
    if (e)
        return e;

    before = out.user;
    profile_apply(call, &out.user);
    e = user_update(call->tx, &out.user, &taken);
    if (!e && taken)
        e = refuse_taken(call, taken);
    if (!e)
        e = picture_replace(call, "avatars", before.id, &before.avatar, &out.user.avatar);
    if (!e)
        e = picture_replace(call, "banners", before.id, &before.banner, &out.user.banner);
    if (!e)
        e = profile_verify(call, &before, &out.user);
    if (!e && change->new_hash.p)
        e = own_token_renew(call, &out.token);
    if (e)
        return e;

    call_emit(call, EVENT_USER_UPDATE, to_user(out.user.id), &own_user_schema, &out.user);
    if (looks_different(&before, &out.user))
        e = hook_account_changed(call, &out.user);
    return e ? e : call_reply(call, &out);
}
