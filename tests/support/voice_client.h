/* voice_client.h - people who are connected to voice: a socket of the voice gateway and one of UDP.
 *
 * They encrypt by themselves, from the description of the modes, and not with what the server
 * uses. */
#ifndef TESTS_VOICE_CLIENT_H
#define TESTS_VOICE_CLIENT_H

#include "test_voice.h"

enum voice_client_mode { VOICE_CLIENT_AES, VOICE_CLIENT_CHACHA, VOICE_CLIENT_SALSA };

struct voice_client {
    struct client *client;
    struct gateway_conn *gate;
    int version;
    const char *guild, *session, *token;
    const char *more; /* JSON of Identify, such as ", 'video': true"; NULL: none */
    int fd;           /* UDP; -1: none */
    uint32_t ssrc;
    int port; /* of the server */
    enum voice_client_mode mode;
    unsigned char key[32];
    uint32_t counter, timestamp; /* counter: the next nonce */
    uint16_t sequence;
    bool little_endian;    /* it writes nonces so */
    unsigned char last[4]; /* nonce of the last packet that it received */
};

/* A server that carries voice. */
void with_relay(struct config *config);

/* Joins a channel by op 4 and reads what the voice connection needs; others may be told. */
struct voice_client voice_client_join(const struct test_voice *h, struct client *c,
                                      const char *channel);
/* The same; more is JSON of op 4, such as ", 'flags': 1". */
struct voice_client voice_client_join_with(const struct test_voice *h, struct client *c,
                                           const char *channel, const char *more);
/* Opens the socket, reads Hello, identifies; nothing else is read. */
void voice_client_dial(struct voice_client *p, int version);
/* All of it: until media may flow. */
struct voice_client voice_client_call(const struct test_voice *h, struct client *c,
                                      const char *channel, enum voice_client_mode mode);
/* What follows a dial: Ready, discovery, protocol, description. */
void voice_client_connect(struct voice_client *p, enum voice_client_mode mode);
const struct dom *voice_client_ready(struct voice_client *p);
void voice_client_select(struct voice_client *p, enum voice_client_mode mode);
void voice_client_hang_up(struct voice_client *p);
/* It is closed with this code, whatever it was told before. */
#define expect_cut(p, code) expect_cut_at(__FILE__, __LINE__, (p), (code))
void expect_cut_at(const char *file, int line, struct voice_client *p, int code);

/* The next message with this opcode; others are passed over. Fails when it does not come. */
const struct dom *voice_client_await(struct voice_client *p, int op);
/* No message with this opcode before the answer to a heartbeat. */
void voice_client_expect_none(struct voice_client *p, int op);

/* A packet of audio, sealed; with what was sealed, to be sent again. */
struct str voice_client_seal(struct voice_client *p, struct str frame);
void voice_client_send(struct voice_client *p, struct str datagram);
void voice_client_say(struct voice_client *p, const char *frame);
/* A packet of video, by one of its SSRCs. */
enum { VOICE_CLIENT_VIDEO = 101 };
void voice_client_show(struct voice_client *p, uint32_t ssrc, unsigned type, const char *frame);
/* Op 12 with these streams, a JSON list; op 15, which is known when this returns. */
void voice_client_shows(struct voice_client *p, const char *streams);
void voice_client_wants(struct voice_client *p, const char *wants);
/* A control packet of two words; sent, eight of its bytes are clear. */
struct str control_packet(struct world *w, unsigned type, unsigned format, uint32_t sender,
                          uint32_t about);
void voice_client_control(struct voice_client *p, struct str packet);
/* The next datagram, which is one of them; p NULL: none. */
struct str voice_client_hear_control(struct voice_client *p, int wait_ms);
/* What it has said to the voice gateway is known where media is passed on. */
void voice_client_flush(struct voice_client *p);

/* The next datagram of media that is for this phone: its frame, which was sealed for it. */
struct heard_frame {
    struct str frame; /* p NULL: none came */
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    unsigned type;
};
struct heard_frame voice_client_hear(struct voice_client *p, int wait_ms);
#define expect_heard(p, from, frame) expect_heard_at(__FILE__, __LINE__, (p), (from), (frame))
void expect_heard_at(const char *file, int line, struct voice_client *p,
                     const struct voice_client *from, const char *frame);
#define expect_seen(p, ssrc, frame) expect_seen_at(__FILE__, __LINE__, (p), (ssrc), (frame))
void expect_seen_at(const char *file, int line, struct voice_client *p, uint32_t ssrc,
                    const char *frame);
/* What `from` says now arrives at nobody: a pair that can hear each other shows that it had
 * its time. */
#define expect_deaf(p) expect_deaf_at(__FILE__, __LINE__, (p))
void expect_deaf_at(const char *file, int line, struct voice_client *p);

/* Asks for its address; false: no answer. Another socket may ask for it. */
bool voice_client_discover(struct world *w, int fd, int port, uint32_t ssrc, char address[64],
                           int *ret_port);
/* Everything that was sent until now has been looked at, and what it causes has arrived. */
void voice_clients_settle(struct world *w, int port);
int voice_client_socket(void);

#endif
