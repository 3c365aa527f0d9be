/* The walk of walking.py in C: one pass over Lexbor's tree, one msgpack buffer back.
 *
 * Every result equals the Python walk's; what is awkward here (bytes that are not UTF-8, a body that is not
 * in the tree, a rel beyond ASCII) is answered with NOT_FOR_ME, and Python walks. The tree is only read.
 * Lexbor is reached through the functions in struct setup: nothing is linked, and of Lexbor's structures
 * only one offset is known, which walk_learn finds. No recursion, no global state; buffers grow up to a cap.
 *
 * A tree's way: lexbor.h reads it, found.h walks it and collects, telling.h writes down what was found; text.h, table.h
 * and buffers.h lie below them. majority.h, xxh3.h, lines.h and shingles.h are beside them, and need no tree. One file is compiled.
 */
#define _GNU_SOURCE
#include "majority.h"
#include "telling.h"
#include "lines.h"
#include "shingles.h"

struct result { byte *at; size_t n; };

/* Walk the tree of *html* below *root*; FINE with a buffer for walk_free in *result*, else nothing to free. */
int walk_page(const struct setup *s, node *root, node *body, const byte *html, size_t n, int folded, struct result *result) {
    if (!is_utf8(html, n)) return NOT_FOR_ME;
    walk w;
    memset(&w, 0, sizeof w);
    w.s = s;
    w.body_start = NONE;
    w.hidden = (byte)may_hide(html, n, s->tag_bytes);
    buffer out = {0};
    int failed = room_for(&w.shown, n / 2) && room_for(&out, n / 2) ? go(&w, root, body) : NO_MEMORY;
    if (!failed && body && w.body_start == NONE) failed = NOT_FOR_ME; /* a body that is no longer in the tree */
    if (!failed) failed = write_down(&w, n, folded, &out);
    buffer *all[] = {&w.inner, &w.shown, &w.opens, &w.links, &w.slices, &w.targets, &w.relations, &w.metas, &w.json_ld,
                     &w.times, &w.words, &w.title};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->at);
    free(w.seen.at);
    if (failed) {
        free(out.at);
        return failed;
    }
    *result = (struct result){out.at, out.n};
    return FINE;
}

void walk_free(byte *at) { free(at); }

uint64_t walk_majority(const byte *at, size_t n) { return majority(at, n); }

uint64_t walk_shingled(const byte *at, size_t n, size_t least, size_t most) { return shingled(at, n, least, most); }

uint64_t walk_lined(const byte *at, size_t n, size_t least, size_t most) { return lined(at, n, least, most); }

/* Find where a text node keeps address and length of its text, which is *text*; returns 0 if nowhere.
 * Only a word that is followed by the right length is taken for an address, and only up to *most* bytes. */
size_t walk_learn(node *at, const byte *text, size_t n, size_t most) {
    for (size_t offset = 0; offset + 2 * sizeof(size_t) <= most; offset += sizeof(size_t)) {
        size_t length;
        const byte *found;
        memcpy(&found, (byte *)at + offset, sizeof found);
        memcpy(&length, (byte *)at + offset + sizeof found, sizeof length);
        if (length == n && (uintptr_t)found > 65536 && !memcmp(found, text, n)) return offset;
    }
    return 0;
}
