/* current_user.c - PATCH /users/@me.
 *
 * Changes of name, email, password and date of birth need the current password, and a code if the
 * account has a second factor. Checking the password, hashing a new one and storing pictures are
 * slow, so worker threads do this before the transaction begins. */
#include "platform/accounts/internal.h"

#include "api/hooks.h"
#include "net/http/server.h"
#include "platform/accounts/mail/mailed_links.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/operator.h"

/* Results of the stages before the handler of PATCH /users/@me. */
struct profile_change {
    struct str
        known_hash; /* hash of the checked password; p is NULL if the account has no password */
    struct str username; /* username before the change */
    bool known_address;
    struct str new_hash;
    struct opt_str avatar, banner; /* hashes of the new pictures, which are already stored */
};

static bool caller_is_bot(const struct call *call)
{
    return call->caller->kind == CALLER_BOT;
}

/* True if the patch changes a field for which the caller must send the current password. */
static bool patch_needs_password(const struct call *call)
{
    const struct user_patch *in = call->body;

    return !caller_is_bot(call) &&
           (in->username.given == GIVEN || in->email.given == GIVEN ||
            in->new_password.given == GIVEN || in->date_of_birth.given == GIVEN);
}

static enum err read_current_password(struct call *call)
{
    const struct user_patch *in = call->body;
    struct profile_change *change = call_get_stage_data(call, "profile_change");
    struct user user;

    enum err e = user_find(call->tx, call->caller->id, &user);
    if (e)
        return e;
    if (user.password_hash.p && in->password.given != GIVEN)
        return call_add_field_error(call, "password", FORM_REQUIRED);
    change->known_hash = user.password_hash;
    change->username = user.username;
    return known_login_address_find(call, user.id, &change->known_address);
}

/* Checks the current password and counts wrong ones: otherwise the thief of a token could guess the
 * password with this route. */
static enum err check_current_password(struct call *call)
{
    const struct user_patch *in = call->body;
    const struct profile_change *change = call_get_stage_data(call, "profile_change");
    struct password_attempt guess = { change->username, change->known_hash, in->password.value,
                                      change->known_address };
    bool right = true;
    enum err e = change->known_hash.p ? password_check_and_count_attempt(call, &guess, &right) : OK;

    return e ? e : right ? OK : refuse_wrong_password(call);
}

static enum err check_and_hash_passwords(struct call *call)
{
    const struct user_patch *in = call->body;
    struct profile_change *change = call_get_stage_data(call, "profile_change");
    enum err e = check_current_password(call);

    if (e)
        return e;
    if (in->new_password.given == GIVEN)
        return password_hash(call->api, call->arena, in->new_password.value, &change->new_hash);
    return OK;
}

static enum err store_profile_pictures(struct call *call)
{
    const struct user_patch *in = call->body;
    struct profile_change *change = call_get_stage_data(call, "profile_change");
    enum err e =
        store_uploaded_picture(call, "avatars", call->caller->id, &in->avatar, &change->avatar);

    return e ? e
             : store_uploaded_picture(call, "banners", call->caller->id, &in->banner,
                                      &change->banner);
}

enum err validate_current_user_patch(struct call *call)
{
    const struct user_patch *in = call->body;
    enum err name = OK, date = OK, email = OK;

    call_store_stage_data(call, "profile_change", sizeof(struct profile_change));
    if (in->username.given == GIVEN)
        name = check_username_is_allowed(call, in->username.value);
    if (!caller_is_bot(call)) {
        date = check_date_of_birth_is_allowed(call, in->date_of_birth);
        email = check_email_is_allowed(call, in->email);
    }
    if (patch_needs_password(call)) {
        call->read = read_current_password;
        call->hash = check_and_hash_passwords;
    }
    if (patch_needs_password(call) && !name && !date && !email)
        name = mfa_count_code_attempt_of_caller(call, &in->code);
    if (in->avatar.given != ABSENT || in->banner.given != ABSENT)
        call->compute = store_profile_pictures;
    return name ? name : date ? date : email;
}

/* An absent value leaves the field unchanged; null clears it. */
static void copy_optional_text_if_given(struct opt_str *field, const struct opt_str *in)
{
    if (in->given != ABSENT)
        *field = *in;
}

static void apply_user_patch(const struct call *call, struct user *user)
{
    const struct user_patch *in = call->body;
    const struct profile_change *change = call_get_stage_data(call, "profile_change");

    if (in->username.given == GIVEN)
        user->username = in->username.value;
    copy_optional_text_if_given(&user->avatar, &change->avatar);
    copy_optional_text_if_given(&user->banner, &change->banner);
    if (caller_is_bot(call))
        return;
    copy_optional_text_if_given(&user->global_name, &in->global_name);
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

enum err replace_all_caller_tokens(struct call *call, struct str *ret)
{
    struct token_to_issue grant = {
        .kind = CALLER_USER,
        .user_id = call->caller->id,
        .scopes = STR(""),
        .client = http_find_header(call->exchange->request, STR("User-Agent")),
    };

    enum err e = account_revoke_tokens(call, call->caller->id);
    if (!e)
        e = mailed_links_invalidate(call, call->caller->id, LINK_RESET);
    if (!e)
        e = known_login_addresses_delete(call, call->caller->id);
    if (!e)
        e = known_login_address_save(call, call->caller->id);
    if (e)
        return e;
    return auth_issue_token(api_get_options(call->api)->auth, call->tx, &grant, ret);
}

static bool optional_texts_are_equal(struct opt_str a, struct opt_str b)
{
    return (a.given == GIVEN) == (b.given == GIVEN) &&
           (a.given != GIVEN || str_eq(a.value, b.value));
}

static bool public_user_fields_differ(const struct user *a, const struct user *b)
{
    return !str_eq(a->username, b->username) ||
           !optional_texts_are_equal(a->global_name, b->global_name) ||
           !optional_texts_are_equal(a->avatar, b->avatar);
}

/* A new email address is unverified until the link mailed to it is opened. If a rate limit prevents
 * sending the mail now, the whole change is refused. */
static enum err send_verification_if_email_changed(struct call *call, const struct user *before,
                                                   struct user *user)
{
    const char *taken;
    int64_t wait_ms;

    if (!mail_is_configured(call) || caller_is_bot(call) ||
        optional_texts_are_equal(before->email, user->email))
        return OK;
    user->verified = false;
    enum err e = user_update(call->tx, user, &taken);
    if (!e)
        e = mailed_link_send(call, user, LINK_VERIFY, &wait_ms);
    return e ? e : wait_ms ? call_refuse_as_rate_limited(call, wait_ms) : OK;
}

enum err modify_current_user(struct call *call)
{
    const struct user_patch *in = call->body;
    const struct profile_change *change = call_get_stage_data(call, "profile_change");
    struct user_with_token out = { .token = call->token };
    struct user before;
    bool verified = true;
    const char *taken;

    enum err e = user_find(call->tx, call->caller->id, &out.user);
    if (e)
        return e;
    if (patch_needs_password(call) && !str_eq(out.user.password_hash, change->known_hash))
        return refuse_wrong_password(call);

    if (patch_needs_password(call))
        e = check_caller_second_factor(call, &out.user, &in->code, &verified);
    if (e || !verified)
        return e;

    before = out.user;
    apply_user_patch(call, &out.user);
    e = user_update(call->tx, &out.user, &taken);
    if (!e && taken)
        e = refuse_username_or_email_in_use(call, taken);
    if (!e)
        e = delete_previous_picture(call, "avatars", before.id, &before.avatar, &out.user.avatar);
    if (!e)
        e = delete_previous_picture(call, "banners", before.id, &before.banner, &out.user.banner);
    if (!e)
        e = send_verification_if_email_changed(call, &before, &out.user);
    if (!e && change->new_hash.p)
        e = replace_all_caller_tokens(call, &out.token);
    if (e)
        return e;

    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(out.user.id), &current_user_schema,
                    &out.user);
    if (public_user_fields_differ(&before, &out.user))
        e = hook_account_changed(call, &out.user);
    return e ? e : call_reply_with_object(call, &out);
}
