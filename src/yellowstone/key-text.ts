import { base58SizeTest } from '../chain/base58.ts'
import { pubkeyFromBase58, type Pubkey } from '../chain/pubkey.ts'
import { MessageFault, type ProtobufReader } from './protobuf.ts'

/** A key given as base58; its bytes are decoded on first use and cached. */
export class KeyText {
  readonly text: string
  #bytes: Pubkey | undefined

  /** Takes a text already checked to have 32 bytes. */
  constructor(text: string) {
    this.text = text
  }

  get bytes(): Pubkey {
    return (this.#bytes ??= pubkeyFromBase58(this.text))
  }
}

const isKeyText = base58SizeTest(32)
const DIGITS_MAX = 44

// The protocol writes mints and owners of token balances as base58, and a few of them repeat. The cache is
// direct-mapped: each of 4,096 slots holds one text, which a later one replaces. A text is checked and decoded once.
// Under 2 MB in all.
const SLOTS = 4096
const lately = new Array<{ readonly digits: Uint8Array; readonly key: KeyText } | undefined>(SLOTS).fill(
  undefined
)

/** Returns the key whose base58 text lies from `start` to `end`; throws MessageFault unless it has 32 bytes. */
export function keyTextAt(from: ProtobufReader, start: number, end: number, field: string): KeyText {
  const { bytes } = from
  const size = end - start
  if (size > DIGITS_MAX || size < 32) throw new MessageFault(field)
  let hash = 0
  // Hashes digits in the middle: keys with a chosen beginning or end are common.
  for (let i = start + 6; i < start + 16; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0
  const slot = (hash ^ (hash >>> 13)) & (SLOTS - 1)
  const known = lately[slot]
  if (known !== undefined && isAt(known.digits, bytes, start, size)) return known.key
  const text = from.text(start, end)
  if (!isKeyText(text)) throw new MessageFault(field)
  const key = new KeyText(text)
  lately[slot] = { digits: bytes.slice(start, end), key }
  return key
}

function isAt(digits: Uint8Array, bytes: Uint8Array, start: number, size: number): boolean {
  if (digits.length !== size) return false
  for (let i = 0; i < size; i++) if (digits[i] !== bytes[start + i]) return false
  return true
}
