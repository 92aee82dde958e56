import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 62^24 is above 2^142: more than the 128 bits at which an unsalted hash is safe.
const SECRET_LENGTH = 24

/**
 * Returns a new random key, `mr_live_<24 base62>_<6 base62 of its CRC>`, to be shown once. Secret scanners recognize
 * it by its prefix and checksum.
 */
export function makeApiKey(): string {
  let secret = ''
  for (let i = 0; i < SECRET_LENGTH; i++) secret += BASE62[randomInt(62)]!
  return `mr_live_${secret}_${checksum(secret)}`
}

/** Returns the SHA-256 hash of a key, which is the only stored form. */
export function hashApiKey(key: string): Uint8Array {
  return Uint8Array.from(hash('sha256', key, 'buffer'))
}

/** Returns the prefix of a key that may be shown and logged: only four characters for a key chosen by an operator. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, key.startsWith('mr_live_') ? 12 : 4)
}

/**
 * Returns a text for the log, with the secret part of each of our keys replaced. A text contains a key if a client sent
 * the key in a path.
 */
export function withoutApiKeys(text: string): string {
  return text.includes('mr_live_') ? text.replace(/(mr_live_[0-9A-Za-z]{0,4})[0-9A-Za-z_]*/g, '$1…') : text
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = BASE62[rest % 62]! + text
    rest = Math.floor(rest / 62)
  }
  return text
}
