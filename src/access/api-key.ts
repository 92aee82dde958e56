import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 62^24 is above 2^142: more than the 128 bits at which an unsalted hash is safe (spec choices, section 10).
const SECRET_LENGTH = 24

/** A new key, `mr_live_<24 base62>_<6 base62 of its crc>`, to be shown once. */
export function makeApiKey(): string {
  let secret = ''
  for (let i = 0; i < SECRET_LENGTH; i++) secret += BASE62[randomInt(62)]!
  return `mr_live_${secret}_${checksum(secret)}`
}

/** Whether a text has the form and checksum of a key; a mistyped one is told from an unknown one without a look-up. */
export function isWellFormedApiKey(text: string): boolean {
  const match = /^mr_live_([0-9A-Za-z]{22,64})_([0-9A-Za-z]{6})$/.exec(text)
  return match !== null && checksum(match[1]!) === match[2]
}

/** What is stored of a key. */
export function hashApiKey(key: string): Uint8Array {
  return createHash('sha256').update(key).digest()
}

/** The part of a key that may be shown and logged. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, 12)
}

/** Compares two hashes in a time that tells nothing of where they differ. */
export function sameHash(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
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
