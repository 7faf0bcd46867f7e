/* config.c - the table of configuration options. */
#include "server/config.h"

#include <stddef.h>

#define CONFIG_OFFSET(member) .offset = offsetof(struct config, member)

const struct option_source config_option_source = { .program = "guildhall",
                                                    .prefix = "GUILDHALL_" };

const struct option_row config_option_rows[] = {
    { "config", OPTION_TEXT, CONFIG_OFFSET(config), .value = "FILE",
      .help = "Read options from an INI file, then from FILE.d/*.conf" },
    { "listen", OPTION_TEXT, CONFIG_OFFSET(listen), .fallback = "127.0.0.1:8080",
      .value = "HOST:PORT", .help = "Address to listen on; port 0: any free port" },
    { "data", OPTION_TEXT, CONFIG_OFFSET(data), .fallback = "data", .value = "DIR",
      .help = "Folder for the embedded database, files and keys. Commands for a running server use "
              "/var/lib/guildhall if ./data does not exist" },
    { "store", OPTION_TEXT, CONFIG_OFFSET(store), .value = "URL",
      .help = "PostgreSQL database (postgres://…) instead of the embedded database" },
    { "store-workers", OPTION_INT, CONFIG_OFFSET(store_workers), .fallback = "8", .min = 1,
      .max = 256,
      .help = "Connections to PostgreSQL for writes and for reads that event loops do not run" },
    { "store-standby", OPTION_TEXT, CONFIG_OFFSET(store_standby), .value = "URL",
      .help = "Streaming standby of the PostgreSQL database (postgres://…) for reads that may be a "
              "moment old" },
    { "store-standby-lag", OPTION_INT, CONFIG_OFFSET(store_standby_lag), .fallback = "2000",
      .min = 100, .max = 60000,
      .help = "With store-standby: maximum age of its data in milliseconds; if it is older, the "
              "database of store runs all reads" },
    { "bus", OPTION_TEXT, CONFIG_OFFSET(bus), .fallback = "off", .value = "off|poll|URL",
      .help =
          "How the nodes of a cluster on one PostgreSQL database exchange events: poll, or NATS "
          "(nats://… or tls://…)" },
    { "bus-ca", OPTION_TEXT, CONFIG_OFFSET(bus_ca), .value = "FILE",
      .help = "With bus tls://…: CA certificates (PEM) for the NATS servers; unset: those of the "
              "system" },
    { "blobs", OPTION_TEXT, CONFIG_OFFSET(blobs), .fallback = "folder",
      .value = "folder|postgres|s3://BUCKET[/PREFIX]",
      .help = "Where files are stored: in the data folder, which all nodes must share; in the "
              "database of store; or in S3-compatible object storage" },
    { "s3-endpoint", OPTION_TEXT, CONFIG_OFFSET(s3_endpoint), .value = "URL",
      .help = "With blobs s3://…: URL of the object storage; unset: Amazon S3 in s3-region" },
    { "s3-region", OPTION_TEXT, CONFIG_OFFSET(s3_region), .fallback = "us-east-1",
      .value = "REGION", .help = "With blobs s3://…: region of the bucket, part of signatures" },
    { "s3-access-key", OPTION_TEXT, CONFIG_OFFSET(s3_access_key), .value = "ID",
      .help = "With blobs s3://…: id of the access key; unset: AWS_ACCESS_KEY_ID" },
    { "s3-secret-file", OPTION_TEXT, CONFIG_OFFSET(s3_secret_file), .value = "FILE",
      .help = "With blobs s3://…: file with the secret of the access key; unset: "
              "AWS_SECRET_ACCESS_KEY of the environment" },
    { "s3-addressing", OPTION_CHOICE, CONFIG_OFFSET(s3_addressing), .fallback = "path",
      .choices = "path|host",
      .help = "With blobs s3://…: the bucket is the first part of the path, or of the host name" },
    { "s3-ca", OPTION_TEXT, CONFIG_OFFSET(s3_ca), .value = "FILE",
      .help = "With blobs s3://…: CA certificates (PEM) of the object storage; unset: those of the "
              "system" },
    { "s3-redirects", OPTION_TEXT, CONFIG_OFFSET(s3_redirects), .fallback = "off",
      .value = "off|on|URL",
      .help = "With blobs s3://…: redirect downloads of attachments to the object storage, at "
              "s3-endpoint or at the URL; clients must reach it" },
    { "blob-cache", OPTION_INT, CONFIG_OFFSET(blob_cache_mib), .fallback = "10240", .min = 0,
      .max = 1024 * 1024 * 1024,
      .help =
          "MiB of copies of files in PostgreSQL or object storage that the data folder may contain; "
          "0: no limit" },
    { "keep-events", OPTION_SWITCH, CONFIG_OFFSET(keep_events), .fallback = "off",
      .help = "Embedded database: store the last events, so that sessions can resume after a crash "
              "of the server" },
    { "ledger", OPTION_TEXT, CONFIG_OFFSET(ledger), .value = "DIR|off",
      .help =
          "With bus or keep-events: folder of the session journal, which records the events sent "
          "to sessions; unset: ledger in the data folder" },
    { "keeper", OPTION_SWITCH, CONFIG_OFFSET(keeper), .fallback = "on",
      .help = "With bus nats://…: replicate the session journal to another node, so that sessions "
              "survive the loss of this machine" },
    { "durability", OPTION_CHOICE, CONFIG_OFFSET(durability), .fallback = "full",
      .choices = "full|off",
      .help =
          "off: writes to the embedded database do not wait for the disk; a power failure loses "
          "the last ones" },
    { "public-url", OPTION_TEXT, CONFIG_OFFSET(public_url), .value = "URL",
      .help = "URL at which clients reach this server, if it is behind a proxy" },
    { "trusted-proxies", OPTION_TEXT, CONFIG_OFFSET(trusted_proxies), .value = "NET,…",
      .help = "Proxies whose X-Forwarded-For or Forwarded header is used: loopback,10.0.0.0/8" },
    { "proxy-protocol", OPTION_SWITCH, CONFIG_OFFSET(proxy_protocol), .fallback = "off",
      .help = "Trusted proxies may start connections with a PROXY protocol v2 header" },
    { "loops", OPTION_INT, CONFIG_OFFSET(loops), .fallback = "0", .min = 0, .max = 256,
      .help = "Event loops (threads that serve connections); 0: one per core" },
    { "node", OPTION_INT, CONFIG_OFFSET(node), .fallback = "0", .min = 0, .max = 1023,
      .help = "Number of this node; part of every id that it creates" },
    { "rate-limits", OPTION_SWITCH, CONFIG_OFFSET(rate_limits), .fallback = "on",
      .help = "Limit the request rate of callers and gateway sessions; off: for tests" },
    { "rate-limit-global", OPTION_INT, CONFIG_OFFSET(rate_limit_global), .fallback = "50", .min = 1,
      .max = 1000000, .help = "Requests per second of one account", .reloadable = true },
    { "rate-limit-anonymous", OPTION_INT, CONFIG_OFFSET(rate_limit_anonymous), .fallback = "20",
      .min = 1, .max = 1000000, .help = "Requests per second of one address without an account",
      .reloadable = true },
    { "rate-limit-percent", OPTION_INT, CONFIG_OFFSET(rate_limit_percent), .fallback = "100",
      .min = 1, .max = 100000, .help = "Percentage by which the limits of single routes are scaled",
      .reloadable = true },
    { "tls-cert", OPTION_TEXT, CONFIG_OFFSET(tls_cert), .value = "FILE",
      .help = "Certificate chain (PEM); the port then also accepts TLS", .reloadable = true },
    { "tls-key", OPTION_TEXT, CONFIG_OFFSET(tls_key), .value = "FILE", .help = "Private key (PEM)",
      .reloadable = true },
    { "tls-self-signed", OPTION_SWITCH, CONFIG_OFFSET(tls_self_signed), .fallback = "off",
      .help = "Create a self-signed certificate for local use in the data folder" },
    { "tls-only", OPTION_SWITCH, CONFIG_OFFSET(tls_only), .fallback = "off",
      .help = "Refuse connections without TLS" },
    { "as-discord", OPTION_SWITCH, CONFIG_OFFSET(as_discord), .fallback = "off",
      .help = "For tests: serve on port 443 under Discord's host names, with certificates of a "
              "private authority; a command after -- runs with these names" },
    { "cors-origin", OPTION_TEXT, CONFIG_OFFSET(cors_origin), .value = "ORIGIN,…",
      .help = "Origins whose web pages may call the API, such as https://fermi.example; * for all, "
              "but then without credentials, which Spacebar's clients need" },
    { "web", OPTION_CHOICE, CONFIG_OFFSET(web), .fallback = "on", .choices = "on|off|operator",
      .help = "Serve web pages at /, /invite/… and /oauth2/authorize; operator: only /workbench" },
    { "web-files", OPTION_TEXT, CONFIG_OFFSET(web_files), .value = "DIR",
      .help =
          "For development: folder from which the files of the web pages are read at each request" },
    { "private-endpoints", OPTION_CHOICE, CONFIG_OFFSET(private_endpoints), .fallback = "auto",
      .choices = "auto|on|off",
      .help = "Whether app endpoints and webhook avatars may have private addresses; auto: for "
              "callers on this machine, if no other machine can reach the server" },
    { "registration", OPTION_CHOICE, CONFIG_OFFSET(registration), .fallback = "auto",
      .choices = "auto|open|invite|guild-invite|closed",
      .help = "Who may register: everyone, people with a code of the operator (guildhall invite "
              "create), also people with a guild invite, or no one; auto: open for this machine, "
              "otherwise invite" },
    { "claim-api", OPTION_TEXT, CONFIG_OFFSET(claim_api), .value = "URL",
      .help = "API of the server from which all guilds were copied, such as "
              "https://discord.com/api/v10: people claim their accounts by logging in there; "
              "requires public-url" },
    { "claim-client-id", OPTION_TEXT, CONFIG_OFFSET(claim_client_id), .value = "ID",
      .help = "With claim-api: id of an application there, with the redirect PUBLIC-URL/claim" },
    { "claim-client-secret-file", OPTION_TEXT, CONFIG_OFFSET(claim_client_secret_file),
      .value = "FILE", .help = "With claim-api: file with the client secret of this application" },
    { "smtp-url", OPTION_TEXT, CONFIG_OFFSET(smtp_url), .value = "URL",
      .help =
          "Mail server for verification and password reset: smtps://user:password@mail.example; "
          "unset: no mail is sent" },
    { "smtp-from", OPTION_TEXT, CONFIG_OFFSET(smtp_from), .value = "ADDRESS",
      .help = "Sender of these mails: a@b, or Name <a@b>" },
    { "web-push-contact", OPTION_TEXT, CONFIG_OFFSET(web_push_contact), .value = "URL",
      .help = "Switch on notifications for closed browsers, which the push services of browser "
              "vendors deliver; they get this address of the operator: mailto:admin@chat.example" },
    { "privileged-intents", OPTION_SWITCH, CONFIG_OFFSET(privileged_intents), .fallback = "on",
      .help = "New applications may use the privileged intents: members, presences and message "
              "content" },
    { "voice-regions", OPTION_TEXT, CONFIG_OFFSET(voice_regions), .fallback = "main:Main",
      .value = "ID:NAME,…", .help = "Voice regions, the optimal one first" },
    { "voice-vip-regions", OPTION_TEXT, CONFIG_OFFSET(voice_vip_regions), .value = "ID:NAME,…",
      .help = "Voice regions only for guilds with the feature VIP_REGIONS" },
    { "voice-near", OPTION_TEXT, CONFIG_OFFSET(voice_near), .value = "NET=ID,…",
      .help = "Nearest voice region of client networks: 10.0.0.0/8=eu,2001:db8::/32=us" },
    { "voice-endpoint", OPTION_TEXT, CONFIG_OFFSET(voice_endpoint), .value = "HOST[/PATH]",
      .help = "Voice server that clients connect to, with TLS on port 443; {region} is replaced by "
              "the region" },
    { "voice-port", OPTION_TEXT, CONFIG_OFFSET(voice_port), .value = "PORT",
      .help = "UDP port of the voice relay, 0: any free port; unset: no voice relay" },
    { "voice-address", OPTION_TEXT, CONFIG_OFFSET(voice_address), .value = "IPV4",
      .help = "IPv4 address to which clients send voice; unset: the address to listen on" },
    { "voice-xsalsa20", OPTION_SWITCH, CONFIG_OFFSET(voice_xsalsa20), .fallback = "on",
      .help = "Allow the voice encryption mode xsalsa20_poly1305, which some old libraries need" },
    { "voice-e2ee", OPTION_CHOICE, CONFIG_OFFSET(voice_e2ee), .fallback = "prefer",
      .choices = "off|prefer|require",
      .help =
          "End-to-end encryption of voice (DAVE), except on stages; prefer: if all clients of a "
          "call support it; require: refuse other clients" },
    { "voice-second-label", OPTION_SWITCH, CONFIG_OFFSET(voice_second_label), .fallback = "on",
      .help = "Accept voice keys signed with the label that current clients use" },
    { "everybody-is-premium", OPTION_SWITCH, CONFIG_OFFSET(everybody_is_premium), .fallback = "on",
      .help = "Premium voice effects are available to everyone" },
    { "automod-words", OPTION_TEXT, CONFIG_OFFSET(automod_words), .value = "FILE",
      .help = "File with the words of the auto moderation presets, one per line below [profanity], "
              "[sexual] or [slurs]" },
    { "gifs", OPTION_CHOICE, CONFIG_OFFSET(gifs), .fallback = "local",
      .choices = "local|upstream|merged|off",
      .help =
          "Source of GIFs: the local catalogue, another server, or both with local ones first" },
    { "gif-rating", OPTION_CHOICE, CONFIG_OFFSET(gif_rating), .fallback = "pg13",
      .choices = "g|pg|pg13|r", .help = "Highest content rating of GIFs" },
    { "gif-categories", OPTION_TEXT, CONFIG_OFFSET(gif_categories), .value = "TAG,…",
      .help = "Categories shown if too few are trending; unset: the tags with the most GIFs" },
    { "gif-blocked-words", OPTION_TEXT, CONFIG_OFFSET(gif_blocked_words), .value = "WORD,…",
      .help = "Searches that contain one of these words are never suggested to others" },
    { "gif-provider", OPTION_TEXT, CONFIG_OFFSET(gif_provider), .value = "URL",
      .help = "URL of the other server, for upstream and merged" },
    { "gif-provider-key", OPTION_TEXT, CONFIG_OFFSET(gif_provider_key), .value = "KEY",
      .help = "API key for the other server; clients never see it" },
    { "gif-media-hosts", OPTION_TEXT, CONFIG_OFFSET(gif_media_hosts), .value = "HOST,…",
      .help = "Hosts from which files of the other server may be loaded; *.example.org for all "
              "subdomains" },
    { "platform-a", OPTION_TEXT, CONFIG_OFFSET(platform_a), .fallback = "local",
      .value = "local|off|URL",
      .help = "Source of platform A accounts: this server, none, or the URL of a provider" },
    { "platform-a-key", OPTION_TEXT, CONFIG_OFFSET(platform_a_key), .value = "KEY",
      .help = "API key for the provider of platform A, or the key that feeds the local platform" },
    { "platform-b", OPTION_TEXT, CONFIG_OFFSET(platform_b), .fallback = "local",
      .value = "local|off|URL",
      .help = "Source of platform B accounts: this server, none, or the URL of a provider" },
    { "platform-b-key", OPTION_TEXT, CONFIG_OFFSET(platform_b_key), .value = "KEY",
      .help = "API key for the provider of platform B, or the key that feeds the local platform" },
    { "integration-words", OPTION_TEXT, CONFIG_OFFSET(integration_words), .value = "TYPE:WORD,…",
      .help =
          "Names of integration types that clients get instead, for libraries that expect them" },
    { "partners-guild", OPTION_TEXT, CONFIG_OFFSET(partners_guild), .value = "ID",
      .help = "The guild that partners of platform A may join" },
    { "partners-account", OPTION_TEXT, CONFIG_OFFSET(partners_account),
      .fallback = "partners:Partners", .value = "ID:NAME",
      .help = "The account of platform A that invites partners" },
    { "password-memory", OPTION_INT, CONFIG_OFFSET(password_memory_mib), .fallback = "19", .min = 1,
      .max = 1024, .help = "MiB of memory for hashing a password (Argon2id)" },
    { "password-passes", OPTION_INT, CONFIG_OFFSET(password_passes), .fallback = "2", .min = 1,
      .max = 20, .help = "Passes for hashing a password (Argon2id)" },
    { "password-threads", OPTION_INT, CONFIG_OFFSET(password_threads), .fallback = "0", .min = 0,
      .max = 64, .help = "Passwords hashed at the same time; 0: half the number of cores" },
    { "password-queue", OPTION_INT, CONFIG_OFFSET(password_queue), .fallback = "64", .min = 1,
      .max = 10000,
      .help = "Log-ins that may wait for a password thread; further ones get status 503" },
    { "metrics-token", OPTION_TEXT, CONFIG_OFFSET(metrics_token), .value = "TOKEN",
      .help = "Bearer token for /metrics; unset: only this machine may read it" },
    { "metrics-listen", OPTION_TEXT, CONFIG_OFFSET(metrics_listen), .value = "HOST:PORT",
      .help =
          "Second address that serves only /metrics, /healthz and /readyz, without authentication" },
    { "workbench", OPTION_CHOICE, CONFIG_OFFSET(workbench), .fallback = "auto",
      .choices = "auto|on|off",
      .help = "For tests: allow moving the clock and injecting faults; auto: only in a demo" },
    { "traffic", OPTION_INT, CONFIG_OFFSET(traffic_mib), .fallback = "0", .min = 0, .max = 4096,
      .help =
          "MiB of requests and events recorded for the console; 0: only while someone watches" },
    { "call-log", OPTION_CHOICE, CONFIG_OFFSET(call_log), .fallback = "auto",
      .choices = "auto|on|off", .help = "Log a line for each request; auto: only in a demo" },
    { "body-memory", OPTION_INT, CONFIG_OFFSET(body_memory_mib), .fallback = "0", .min = 0,
      .max = 1048576,
      .help =
          "MiB for all request bodies together; one caller gets at most a third. 0: a quarter of "
          "the available memory, at most 256" },
    { "upload-quota", OPTION_INT, CONFIG_OFFSET(upload_quota_mib), .fallback = "10240", .min = 0,
      .max = 1024 * 1024 * 1024, .help = "MiB of files that one account may store; 0: no limit" },
    { "upload-quota-daily", OPTION_INT, CONFIG_OFFSET(upload_quota_daily_mib), .fallback = "2048",
      .min = 0, .max = 1024 * 1024 * 1024,
      .help = "MiB of files that one account may upload per day; 0: no limit" },
    { "pending-sessions", OPTION_INT, CONFIG_OFFSET(pending_sessions), .fallback = "64", .min = 1,
      .max = 100000,
      .help = "WebSockets of one client address that may wait for IDENTIFY or RESUME; others are "
              "closed with 4008" },
    { "idle-seconds", OPTION_INT, CONFIG_OFFSET(idle_seconds), .fallback = "75", .min = 1,
      .max = 86400, .help = "Seconds that a connection may be idle between requests" },
    { "shutdown-seconds", OPTION_INT, CONFIG_OFFSET(shutdown_seconds), .fallback = "10", .min = 0,
      .max = 600, .help = "Seconds that running requests may take when the server stops" },
    { "log-level", OPTION_CHOICE, CONFIG_OFFSET(log_level), .fallback = "info",
      .choices = "debug|info|warn|error|off", .help = "Lowest level that is logged",
      .reloadable = true },
    { "log-format", OPTION_CHOICE, CONFIG_OFFSET(log_format), .fallback = "auto",
      .choices = "auto|text|json", .help = "auto: text on a terminal, otherwise JSON lines" },
    { 0 },
};
