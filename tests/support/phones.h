/* phones.h - people who are connected to voice: a socket of the voice gateway and one of UDP.
 *
 * They encrypt by themselves, from the description of the modes, and not with what the server
 * uses. */
#ifndef TESTS_PHONES_H
#define TESTS_PHONES_H

#include "voices.h"

enum phone_mode { PHONE_AES, PHONE_CHACHA, PHONE_SALSA };

struct phone {
    struct client *client;
    struct gate *gate;
    int version;
    const char *guild, *session, *token;
    const char *more; /* JSON of Identify, such as ", 'video': true"; NULL: none */
    int fd;           /* UDP; -1: none */
    uint32_t ssrc;
    int port; /* of the server */
    enum phone_mode mode;
    unsigned char key[32];
    uint32_t counter, timestamp; /* counter: the next nonce */
    uint16_t sequence;
    bool little_endian;    /* it writes nonces so */
    unsigned char last[4]; /* nonce of the last packet that it received */
};

/* A server that carries voice. */
void with_relay(struct config *config);

/* Joins a channel by op 4 and reads what the voice connection needs; others may be told. */
struct phone phone_join(const struct hall *h, struct client *c, const char *channel);
/* The same; more is JSON of op 4, such as ", 'flags': 1". */
struct phone phone_join_with(const struct hall *h, struct client *c, const char *channel,
                             const char *more);
/* Opens the socket, reads Hello, identifies; nothing else is read. */
void phone_dial(struct phone *p, int version);
/* All of it: until media may flow. */
struct phone phone_call(const struct hall *h, struct client *c, const char *channel,
                        enum phone_mode mode);
/* What follows a dial: Ready, discovery, protocol, description. */
void phone_connect(struct phone *p, enum phone_mode mode);
const struct dom *phone_ready(struct phone *p);
void phone_select(struct phone *p, enum phone_mode mode);
void phone_hang_up(struct phone *p);
/* It is closed with this code, whatever it was told before. */
#define expect_cut(p, code) expect_cut_at(__FILE__, __LINE__, (p), (code))
void expect_cut_at(const char *file, int line, struct phone *p, int code);

/* The next message with this opcode; others are passed over. Fails when it does not come. */
const struct dom *phone_await(struct phone *p, int op);
/* No message with this opcode before the answer to a heartbeat. */
void phone_expect_none(struct phone *p, int op);

/* A packet of audio, sealed; with what was sealed, to be sent again. */
struct str phone_seal(struct phone *p, struct str frame);
void phone_send(struct phone *p, struct str datagram);
void phone_say(struct phone *p, const char *frame);
/* A packet of video, by one of its SSRCs. */
enum { PHONE_VIDEO = 101 };
void phone_show(struct phone *p, uint32_t ssrc, unsigned type, const char *frame);
/* Op 12 with these streams, a JSON list; op 15, which is known when this returns. */
void phone_shows(struct phone *p, const char *streams);
void phone_wants(struct phone *p, const char *wants);
/* A control packet of two words; sent, eight of its bytes are clear. */
struct str control_packet(struct world *w, unsigned type, unsigned format, uint32_t sender,
                          uint32_t about);
void phone_control(struct phone *p, struct str packet);
/* The next datagram, which is one of them; p NULL: none. */
struct str phone_hear_control(struct phone *p, int wait_ms);
/* What it has said to the voice gateway is known where media is passed on. */
void phone_flush(struct phone *p);

/* The next datagram of media that is for this phone: its frame, which was sealed for it. */
struct heard_frame {
    struct str frame; /* p NULL: none came */
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    unsigned type;
};
struct heard_frame phone_hear(struct phone *p, int wait_ms);
#define expect_heard(p, from, frame) expect_heard_at(__FILE__, __LINE__, (p), (from), (frame))
void expect_heard_at(const char *file, int line, struct phone *p, const struct phone *from,
                     const char *frame);
#define expect_seen(p, ssrc, frame) expect_seen_at(__FILE__, __LINE__, (p), (ssrc), (frame))
void expect_seen_at(const char *file, int line, struct phone *p, uint32_t ssrc, const char *frame);
/* What `from` says now arrives at nobody: a pair that can hear each other shows that it had
 * its time. */
#define expect_deaf(p) expect_deaf_at(__FILE__, __LINE__, (p))
void expect_deaf_at(const char *file, int line, struct phone *p);

/* Asks for its address; false: no answer. Another socket may ask for it. */
bool phone_discover(struct world *w, int fd, int port, uint32_t ssrc, char address[64],
                    int *ret_port);
/* Everything that was sent until now has been looked at, and what it causes has arrived. */
void phones_settle(struct world *w, int port);
int phone_socket(void);

#endif
