const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

const DIGIT = new Int8Array(128).fill(-1)
for (let i = 0; i < 58; i++) DIGIT[ALPHABET.charCodeAt(i)] = i

/** Decodes base58 text; throws a RangeError that names the first bad character. */
export function decodeBase58(text: string): Uint8Array {
  const length = text.length
  let zeros = 0
  while (zeros < length && text.charCodeAt(zeros) === 49) zeros++
  if (zeros === length) return new Uint8Array(zeros)
  return length - zeros <= SHORT_DIGITS ? decodeShort(text, zeros) : decodeLong(text, zeros)
}

// Most texts are short: a key has 44 digits, a token transfer 13. Groups of five digits are multiplied into limbs of 20
// bits from a table of doubles. 9 groups × 58^5 × 2^20 < 2^53, so every sum is exact if overflow beyond 20 bits is
// carried after every eighth group. A big integer takes twice as long for short texts, and less time from about 200
// digits on.
const GROUP_DIGITS = 5
const SHORT_DIGITS = 120
const LIMB = 2 ** 20
const GROUPS = Array.from({ length: SHORT_DIGITS / GROUP_DIGITS }, (_, group) =>
  limbsOf(58n ** BigInt(group * GROUP_DIGITS))
)
const LIMBS = 36
const sums = new Float64Array(LIMBS)
const scratch = new Uint8Array((LIMBS / 2) * 5)

function limbsOf(number: bigint): Float64Array {
  const limbs: number[] = []
  for (let rest = number; rest > 0n; rest /= BigInt(LIMB)) limbs.push(Number(rest % BigInt(LIMB)))
  return Float64Array.from(limbs)
}

function decodeShort(text: string, zeros: number): Uint8Array {
  const groups = Math.ceil((text.length - zeros) / GROUP_DIGITS)
  // The highest group spans up to two limbs more than its unit has. Limbs are written in pairs of five bytes.
  const used = Math.min(LIMBS, (GROUPS[groups - 1]!.length + 3) & ~1)
  for (let i = 0; i < used; i++) sums[i] = 0
  for (let group = 0, end = text.length; group < groups; group++, end -= GROUP_DIGITS) {
    const value = chunkAt(text, Math.max(zeros, end - GROUP_DIGITS), end)
    const limbs = GROUPS[group]!
    for (let i = 0; i < limbs.length; i++) sums[i]! += value * limbs[i]!
    if (group % 8 === 7) carryOn(used)
  }
  carryOn(used)
  let at = scratch.length
  for (let i = 0; i < used; i += 2) {
    const low = sums[i]!
    const high = sums[i + 1]!
    scratch[--at] = low
    scratch[--at] = low >> 8
    scratch[--at] = (low >> 16) | (high << 4)
    scratch[--at] = high >> 4
    scratch[--at] = high >> 12
  }
  while (scratch[at] === 0) at++
  const bytes = new Uint8Array(zeros + scratch.length - at)
  for (let i = zeros; i < bytes.length; i++) bytes[i] = scratch[at++]!
  return bytes
}

/** Carries overflow upward until every limb is below 2^20. */
function carryOn(used: number): void {
  let carry = 0
  for (let i = 0; i < used; i++) {
    const sum = sums[i]! + carry
    carry = Math.floor(sum / LIMB)
    sums[i] = sum - carry * LIMB
  }
}

// A double holds at most nine digits exactly: 58^9 < 2^53. Chunks of nine are joined in pairs, and the pairs in pairs.
// A 383-byte event takes 12 µs; one big integer fed chunk by chunk takes 14, limbs of 24 bits 46, single bytes 257.
const STEP_DIGITS = 9
const STEP = 58n ** BigInt(STEP_DIGITS)
const STEPS: bigint[] = [STEP]

function decodeLong(text: string, zeros: number): Uint8Array {
  let parts: bigint[] = []
  for (let end = text.length; end > zeros; end -= STEP_DIGITS) {
    parts.push(BigInt(chunkAt(text, Math.max(zeros, end - STEP_DIGITS), end)))
  }
  for (let level = 0; parts.length > 1; level++) {
    const step = (STEPS[level] ??= STEPS[level - 1]! ** 2n)
    const joined: bigint[] = []
    for (let i = 0; i < parts.length; i += 2) {
      const high = parts[i + 1]
      joined.push(high === undefined ? parts[i]! : high * step + parts[i]!)
    }
    parts = joined
  }
  const hex = parts[0]!.toString(16)
  return Uint8Array.fromHex('00'.repeat(zeros) + (hex.length % 2 === 1 ? '0' : '') + hex)
}

/** Returns the value of up to nine digits, which a double holds exactly. */
function chunkAt(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i)
    const digit = code < 128 ? DIGIT[code]! : -1
    if (digit < 0) throw strangeCharacter(text)
    value = value * 58 + digit
  }
  return value
}

function strangeCharacter(text: string): RangeError {
  const at = NOT_BASE58.exec(text)!.index
  return new RangeError(`not base58: ${JSON.stringify(text[at])} at position ${at}`)
}

/** Encodes bytes as base58 text. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length === 32) return encodeKey(bytes)
  if (bytes.length === 64) return encodeSignature(bytes)
  return bytes.length <= SHORT_BYTES ? encodeShort(bytes) : encodeLong(bytes)
}

// Nearly everything encoded is a key or a signature. For one size the digits come from a table: the amount that a
// limb of three bytes adds to each group of four digits. 22 limbs × 2^24 × 58^4 < 2^52, so doubles are exact. A key
// takes 0.5 µs and a signature 1, where a big integer takes 2.2 and 5.
const LIMB_BYTES = 3
const UNIT_DIGITS = 4
const UNIT = 58 ** UNIT_DIGITS
// The first and second character of every number below 58², so that two digits are written at a time.
const TENS = Uint8Array.from({ length: 3364 }, (_, pair) => ALPHABET.charCodeAt(Math.floor(pair / 58)))
const ONES = Uint8Array.from({ length: 3364 }, (_, pair) => ALPHABET.charCodeAt(pair % 58))

/** Bytes that are read as ASCII text from an index on. */
interface AsciiBytes {
  [index: number]: number
  readonly length: number
  toString(encoding: 'latin1', start: number, end?: number): string
}

/** The bytes of a platform without Node's buffers, which are read in a third of the time. */
class DecodedBytes extends Uint8Array implements AsciiBytes {
  override toString(_encoding = 'latin1', start = 0, end?: number): string {
    return new TextDecoder().decode(this.subarray(start, end))
  }
}

const asciiBytes = (size: number): AsciiBytes =>
  typeof Buffer === 'undefined' ? new DecodedBytes(size) : Buffer.alloc(size)

const encodeKey = fixedEncoder(32)
const encodeSignature = fixedEncoder(64)

function fixedEncoder(size: number): (bytes: Uint8Array) => string {
  const limbs = Math.ceil(size / LIMB_BYTES)
  const first = size - (limbs - 1) * LIMB_BYTES
  const groups = Math.ceil((size * 8) / Math.log2(UNIT))
  // Weights by group, lowest group first; within a group by limb, highest limb first.
  const weights: number[][] = Array.from({ length: groups }, () => [])
  for (let limb = limbs - 1; limb >= 0; limb--) {
    let rest = 1n << BigInt(8 * LIMB_BYTES * limb)
    for (let group = 0; rest > 0n; group++, rest /= BigInt(UNIT))
      weights[group]!.push(Number(rest % BigInt(UNIT)))
  }
  const values = new Float64Array(limbs)
  const digits = asciiBytes(groups * UNIT_DIGITS)

  return (bytes) => {
    values[0] = 0
    for (let i = 0; i < first; i++) values[0] = values[0] * 256 + bytes[i]!
    for (let limb = 1, at = first; limb < limbs; limb++, at += LIMB_BYTES) {
      values[limb] = bytes[at]! * 65_536 + bytes[at + 1]! * 256 + bytes[at + 2]!
    }
    let carry = 0
    for (let group = 0, end = digits.length; group < groups; group++, end -= UNIT_DIGITS) {
      const row = weights[group]!
      let sum = carry
      for (let limb = 0; limb < row.length; limb++) sum += values[limb]! * row[limb]!
      carry = Math.floor(sum / UNIT)
      const rest = (sum - carry * UNIT) | 0
      const high = (rest / 3364) | 0
      const low = rest - high * 3364
      digits[end - 4] = TENS[high]!
      digits[end - 3] = ONES[high]!
      digits[end - 2] = TENS[low]!
      digits[end - 1] = ONES[low]!
    }
    // A leading zero byte becomes a `1`; leading zero digits are dropped.
    let start = 0
    while (digits[start] === 49) start++
    let zeros = 0
    while (bytes[zeros] === 0) zeros++
    return digits.toString('latin1', start - zeros)
  }
}

// The data of instructions has any size, mostly below that of an event. It is encoded like keys, with one table for all
// sizes. 32 limbs × 2^24 × 58^4 < 2^53, so overflow is carried after that many. 100 bytes take 1.5 µs and 256 take 7, a big
// integer twice as long, and kilobytes of garbage.
const SHORT_BYTES = 400
const EXACT_LIMBS = 32
/** By limb, lowest first: the amount that its unit adds to each group, lowest group first. Filled on first use. */
const LIMB_WEIGHTS: Float64Array[] = []
const groupSums = new Float64Array(Math.ceil((SHORT_BYTES * 8) / Math.log2(UNIT)) + 2)
const shortDigits = asciiBytes(groupSums.length * UNIT_DIGITS)

function limbWeights(limb: number): Float64Array {
  const weights: number[] = []
  for (let rest = 1n << BigInt(8 * LIMB_BYTES * limb); rest > 0n; rest /= BigInt(UNIT))
    weights.push(Number(rest % BigInt(UNIT)))
  return Float64Array.from(weights)
}

function encodeShort(bytes: Uint8Array): string {
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++
  const limbs = Math.ceil((bytes.length - zeros) / LIMB_BYTES)
  let groups = 0
  for (let limb = 0, end = bytes.length; limb < limbs; limb++, end -= LIMB_BYTES) {
    const value =
      bytes[end - 1]! + (end > 1 ? bytes[end - 2]! * 256 : 0) + (end > 2 ? bytes[end - 3]! * 65_536 : 0)
    const weights = (LIMB_WEIGHTS[limb] ??= limbWeights(limb))
    while (groups < weights.length) groupSums[groups++] = 0
    for (let group = 0; group < weights.length; group++) groupSums[group]! += value * weights[group]!
    if (limb % EXACT_LIMBS === EXACT_LIMBS - 1) groups = carryGroups(groups)
  }
  groups = carryGroups(groups)
  let start = groups * UNIT_DIGITS
  for (let group = 0; group < groups; group++) {
    const value = groupSums[group]!
    const high = (value / 3364) | 0
    const low = value - high * 3364
    shortDigits[--start] = ONES[low]!
    shortDigits[--start] = TENS[low]!
    shortDigits[--start] = ONES[high]!
    shortDigits[--start] = TENS[high]!
  }
  const end = groups * UNIT_DIGITS
  while (start < end && shortDigits[start] === 49) start++
  return '1'.repeat(zeros) + shortDigits.toString('latin1', start, end)
}

/** Carries overflow upward until every group is below 58^4; returns the number of groups then. */
function carryGroups(groups: number): number {
  let carry = 0
  for (let group = 0; group < groups; group++) {
    const sum = groupSums[group]! + carry
    carry = Math.floor(sum / UNIT)
    groupSums[group] = sum - carry * UNIT
  }
  for (; carry > 0; groups++) {
    const rest = Math.floor(carry / UNIT)
    groupSums[groups] = carry - rest * UNIT
    carry = rest
  }
  return groups
}

function encodeLong(bytes: Uint8Array): string {
  const size = bytes.length
  let zeros = 0
  while (zeros < size && bytes[zeros] === 0) zeros++
  if (zeros === size) return '1'.repeat(zeros)
  let number = BigInt('0x' + bytes.toHex())
  let text = ''
  while (number > 0n) {
    const rest = number / STEP
    let chunk = Number(number - rest * STEP)
    let digits = ''
    for (let i = 0; i < STEP_DIGITS && (rest > 0n || chunk > 0); i++) {
      const quotient = Math.floor(chunk / 58)
      digits = ALPHABET[chunk - quotient * 58]! + digits
      chunk = quotient
    }
    text = digits + text
    number = rest
  }
  return '1'.repeat(zeros) + text
}

// Searching for a character outside the alphabet takes 60 % of the time of matching the whole text.
const NOT_BASE58 = /[^1-9A-HJ-NP-Za-km-z]/

/** Tells whether a text has only base58 characters; the empty text does. */
export function isBase58(text: string): boolean {
  return !NOT_BASE58.test(text)
}

/**
 * Returns a test for base58 texts of exactly `size` bytes. It compares text instead of decoding, in a tenth of the
 * time: the alphabet is in character order, so texts of one length sort like their numbers.
 */
export function base58SizeTest(size: number): (text: string) => boolean {
  const lowest = encodeBase58(Uint8Array.from({ length: size }, (_, i) => (i === 0 ? 1 : 0)))
  const highest = encodeBase58(new Uint8Array(size).fill(255))
  return (text) => {
    if (text.length > highest.length || NOT_BASE58.test(text)) return false
    // Hashes and curve points rarely begin with a zero byte.
    if (text.charCodeAt(0) === 49) return decodeBase58(text).length === size
    if (text.length < lowest.length || (text.length === lowest.length && text < lowest)) return false
    return text.length < highest.length || text <= highest
  }
}
