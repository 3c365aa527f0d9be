/* Buffers that grow up to a cap, and msgpack written into them. */
#ifndef WALK_BUFFERS_H
#define WALK_BUFFERS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CAP ((size_t)1 << 30)

typedef unsigned char byte;
typedef struct { const byte *at; size_t n; } bytes;
typedef struct { byte *at; size_t n, room, items; int failed; } buffer;

static int room_for(buffer *b, size_t n) {
    if (b->failed) return 0;
    if (n <= b->room - b->n) return 1;
    if (n > CAP || b->n + n > CAP) { b->failed = 1; return 0; }
    size_t room = b->room ? b->room : 1024;
    while (room < b->n + n) room *= 2;
    byte *at = realloc(b->at, room);
    if (!at) { b->failed = 1; return 0; }
    b->at = at;
    b->room = room;
    return 1;
}

static void put(buffer *b, const void *at, size_t n) {
    if (!n || !room_for(b, n)) return;
    memcpy(b->at + b->n, at, n);
    b->n += n;
}

static void put_byte(buffer *b, byte c) { put(b, &c, 1); }

static void put_size(buffer *b, byte mark, size_t n, int width) {
    byte head[5] = {mark};
    for (int i = width; i > 0; i--, n >>= 8) head[i] = (byte)n;
    put(b, head, (size_t)width + 1);
}

static void put_string(buffer *b, const void *at, size_t n) { /* msgpack's str */
    if (n < 32) put_byte(b, (byte)(0xa0 | n));
    else if (n < 256) put_size(b, 0xd9, n, 1);
    else if (n < 65536) put_size(b, 0xda, n, 2);
    else put_size(b, 0xdb, n, 4);
    put(b, at, n);
}

static void put_bytes(buffer *b, bytes text) { put_string(b, text.at, text.n); }

static void put_section(buffer *b, const buffer *section) { /* msgpack's array of what was collected */
    put_size(b, 0xdd, section->items, 4);
    put(b, section->at, section->n);
    if (section->failed) b->failed = 1;
}

/* Return a new, empty item of a buffer that is an array, or NULL. */
static void *grow(buffer *b, size_t size) {
    if (!room_for(b, size)) return NULL;
    void *item = b->at + b->n;
    memset(item, 0, size);
    b->n += size;
    b->items++;
    return item;
}

#define ITEM(type, b, i) ((type *)(void *)((b).at) + (i))

#endif
