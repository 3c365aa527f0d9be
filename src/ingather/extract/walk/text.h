/* Text as walking.py treats it: white space, folding, characters, words of attributes. */
#ifndef WALK_TEXT_H
#define WALK_TEXT_H

#include "buffers.h"

/* Return how many bytes at p are one character of white space as str.split sees it, 0 for none. */
static inline size_t white(const byte *p, const byte *end) {
    byte c = *p;
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
    if (c == 0xc2) return end - p >= 2 && (p[1] == 0x85 || p[1] == 0xa0) ? 2 : 0;
    if (c < 0xe1 || c > 0xe3 || end - p < 3) return 0;
    byte d = p[1], e = p[2];
    if (c == 0xe1) return d == 0x9a && e == 0x80 ? 3 : 0;
    if (c == 0xe3) return d == 0x80 && e == 0x80 ? 3 : 0;
    if (d == 0x81) return e == 0x9f ? 3 : 0;
    return d == 0x80 && (e <= 0x8a || e == 0xa8 || e == 0xa9 || e == 0xaf) ? 3 : 0;
}

static bytes strip(const byte *p, const byte *end) {
    size_t n;
    while (p < end && (n = white(p, end))) p += n;
    while (p < end) {
        if (white(end - 1, end) == 1) end -= 1;
        else if (end - p >= 2 && white(end - 2, end) == 2) end -= 2;
        else if (end - p >= 3 && white(end - 3, end) == 3) end -= 3;
        else break;
    }
    return (bytes){p, (size_t)(end - p)};
}

static void fold(buffer *to, const byte *p, size_t n) {
    const byte *end = p + n;
    size_t start = to->n, w;
    while (p < end) {
        while (p < end && (w = white(p, end))) p += w;
        const byte *word = p;
        while (p < end && !white(p, end)) p++;
        if (p > word) {
            if (to->n > start) put_byte(to, ' ');
            put(to, word, (size_t)(p - word));
        }
    }
}

/* str.strip for each line, empty ones dropped. */
static void fold_lines(buffer *to, const byte *p, size_t n) {
    const byte *end = p + n;
    size_t start = to->n;
    while (p < end) {
        const byte *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        bytes line = strip(p, stop);
        if (line.n) {
            if (to->n > start) put_byte(to, '\n');
            put(to, line.at, line.n);
        }
        p = stop + 1;
    }
}

static size_t characters(const byte *p, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += (p[i] & 0xc0) != 0x80;
    return count;
}

/* Return the bytes that the first *most* characters take. */
static size_t prefix(const byte *p, size_t n, size_t most) {
    if (n <= most) return n;
    for (size_t i = 0; i < n; i++)
        if ((p[i] & 0xc0) != 0x80 && most-- == 0) return i;
    return n;
}

static byte lower(byte c) { return c >= 'A' && c <= 'Z' ? (byte)(c | 32) : c; }

static int alike(const byte *p, const char *word, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (lower(p[i]) != (byte)word[i]) return 0;
    return 1;
}

static int speaks_of(bytes text, const char *word) {
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= text.n; i++)
        if (alike(text.at + i, word, n)) return 1;
    return 0;
}

static int is_word(bytes text, const char *word) { return text.n == strlen(word) && alike(text.at, word, text.n); }

static bytes until(bytes text, int mark) {
    const byte *stop = text.n ? memchr(text.at, mark, text.n) : NULL;
    return (bytes){text.at, stop ? (size_t)(stop - text.at) : text.n};
}

static int is_utf8(const byte *p, size_t n) {
    const byte *end = p + n;
    while (p < end) {
        uint64_t eight;
        while (end - p >= 8 && (memcpy(&eight, p, 8), !(eight & 0x8080808080808080u))) p += 8;
        if (p == end) break;
        byte c = *p++;
        if (c < 0x80) continue;
        int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        if (c < 0xc2 || c > 0xf4 || end - p < more) return 0;
        byte d = *p, least = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80, most = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        if (d < least || d > most) return 0;
        for (p++; --more; p++)
            if ((*p & 0xc0) != 0x80) return 0;
    }
    return 1;
}

#endif
