/* bodies.h - request and response bodies of the second-factor routes. */
#ifndef PLATFORM_ACCOUNTS_MFA_BODIES_H
#define PLATFORM_ACCOUNTS_MFA_BODIES_H

#include "json/schema.h"

struct mfa_login_request {
    struct str ticket, code;
    struct opt_str login_instance_id;
};
struct mfa_enable_request {
    struct str password;
    struct opt_str secret, code;
};
struct mfa_disable_request {
    struct opt_str code;
};
struct mfa_challenge_request {
    struct str password;
    struct opt_str code;
};
struct mfa_backup_codes_request {
    struct opt_str key;
    struct str nonce;
    bool regenerate;
};
struct backup_code {
    snowflake user_id;
    struct str code;
    bool consumed;
};
struct mfa_enabled_reply {
    struct str token;
    struct list backup_codes;
};
struct mfa_challenge_nonces {
    struct str nonce, regenerate_nonce;
};
struct mfa_backup_codes {
    struct list backup_codes;
};

extern const struct type webauthn_login_body, type_webauthn_response, type_backup_codes;
extern const struct type mfa_login_body, mfa_enable_body, mfa_disable_body, mfa_challenge_body,
    mfa_codes_body, mfa_enabled_reply, mfa_nonces_reply, mfa_codes_reply;

#endif
