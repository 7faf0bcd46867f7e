/* config.h - the configuration options of the server. */
#ifndef CONFIG_H
#define CONFIG_H

#include "base/options.h"

struct config {
    const char *listen, *data, *store, *bus, *bus_ca, *blobs, *ledger, *config;
    const char *s3_endpoint, *s3_region, *s3_access_key, *s3_secret_file, *s3_addressing, *s3_ca,
        *s3_redirects;
    bool keep_events, keeper, as_discord;
    const char *public_url, *cors_origin, *voice_regions, *voice_vip_regions, *voice_near,
        *voice_endpoint, *voice_port, *voice_address, *voice_e2ee;
    const char *log_level, *log_format, *durability, *private_endpoints, *registration;
    const char *tls_cert, *tls_key, *metrics_token, *metrics_listen, *smtp_url, *smtp_from;
    const char *web_push_contact;
    bool voice_xsalsa20, voice_second_label, everybody_is_premium;
    const char *automod_words;
    const char *gifs, *gif_rating, *gif_categories, *gif_blocked_words;
    const char *gif_provider, *gif_provider_key, *gif_media_hosts;
    bool tls_self_signed, tls_only, rate_limits, privileged_intents;
    const char *platform_a, *platform_b, *platform_a_key, *platform_b_key;
    const char *claim_api, *claim_client_id, *claim_client_secret_file;
    const char *integration_words, *partners_guild, *partners_account;
    const char *store_standby;
    int64_t loops, store_workers, store_standby_lag, node, shutdown_seconds, idle_seconds;
    int64_t rate_limit_global, rate_limit_anonymous, rate_limit_percent;
    int64_t password_memory_mib, password_passes, password_threads, password_queue;
    int64_t body_memory_mib;
    const char *trusted_proxies;
    bool proxy_protocol;
    const char *web;
    const char *web_files;
    const char *workbench, *call_log;
    int64_t traffic_mib;
    int64_t blob_cache_mib;
    int64_t upload_quota_mib, upload_quota_daily_mib;
    int64_t pending_sessions;
};

extern const struct option_row config_option_rows[];
extern const struct option_source config_option_source;

/* Sets the options of the store that determine where blobs are stored; ret->serves is already set.
 * `blobs` is the value of the option blobs, or the target of a move of the files. The resulting
 * strings live as long as the arena. If an option is invalid, logs an error and returns false. */
struct store_options;
struct object_storage_options;
bool config_get_blob_options(const struct config *c, const char *blobs, struct arena *arena,
                             struct store_options *ret);
/* If the option as-discord is set, sets the options that it implies (server/as_discord.c). */
void config_apply_as_discord_option(struct config *c, struct arena *arena);

/* Passes options to the source folders that use them; they apply to the whole process. If an option
 * is invalid, logs an error and returns false. */
bool config_apply_to_domains(const struct config *c);

#endif
