import { z } from 'zod'
import type { HintChannel } from '../cluster/coordination.ts'
import {
  READING_CLAIM_MS,
  type ReadingClaim,
  type SharedReading,
  type SharedReadings,
  type StoredReading
} from '../port/readings.ts'
import { storedReading, storedText } from '../reading-text.ts'
import type { RedisConnection } from './connection.ts'
import type { RunScript, Script } from './script.ts'

/**
 * Milliseconds for which a reading is stored: far longer than a node lags. Readings of a chain that was begun anew, whose
 * slots are lower, count after that time.
 */
const TTL_MS = 300_000
/** Maximum readings: the most used tokens and pools of ten large tenants. The oldest are evicted. */
const COUNT_MAX = 50_000
/** Maximum bytes of their texts: 64 MiB, which is 30,000 pools with their vaults. The oldest are evicted. */
const BYTES_MAX = 64 * 2 ** 20

/** Lines that each script begins with: the server's clock, and the text of a reading within its TTL with its age. */
const STORED = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function stored(key, ttl)
  local text = redis.call('HGET', KEYS[2], key)
  local at = text and tonumber(redis.call('ZSCORE', KEYS[1], key) or nil)
  if not at or at > now or now - at >= tonumber(ttl) then return '', 0 end
  return text, now - at
end
`

/**
 * Replies for each key what the caller is to do, and the stored reading with its age. A claim from a time to come is from
 * before the clock was set back.
 */
const CLAIM: Script = {
  name: 'millraceClaimReadings',
  keys: 3,
  lua: `${STORED}
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[3], '(' .. (now + ARGV[2]), '+inf')
local reply = {}
for at = 3, #ARGV, 2 do
  local key = ARGV[at]
  local text, age = stored(key, ARGV[1])
  local state = 'elsewhere'
  if text ~= '' and age < tonumber(ARGV[at + 1]) then
    state = 'stored'
  elseif not redis.call('ZSCORE', KEYS[3], key) then
    redis.call('ZADD', KEYS[3], now + ARGV[2], key)
    state = 'claimed'
  end
  reply[#reply + 1] = state
  reply[#reply + 1] = text
  reply[#reply + 1] = age
end
redis.call('PEXPIRE', KEYS[3], ARGV[2] * 2)
return reply`
}

/**
 * Stores readings, and replies the stored one with its age where it is of a newer slot. Evicts those past their TTL, and the
 * oldest until count and bytes are within their limits.
 */
const PUT: Script = {
  name: 'millracePutReadings',
  keys: 4,
  lua: `${STORED}
local bytes = tonumber(redis.call('GET', KEYS[4]) or 0)
local function evict(key)
  bytes = bytes - redis.call('HSTRLEN', KEYS[2], key)
  redis.call('HDEL', KEYS[2], key)
  redis.call('ZREM', KEYS[1], key)
end
local function evictAll(keys)
  for _, key in ipairs(keys) do evict(key) end
end
evictAll(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1], 'LIMIT', 0, 200))
evictAll(redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf', 'LIMIT', 0, 200))
local reply = {}
for at = 4, #ARGV, 3 do
  local key, slot, text = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local before, age = stored(key, ARGV[1])
  if before ~= '' and tonumber(string.match(before, '^%d+')) > slot then
    reply[#reply + 1] = before
    reply[#reply + 1] = age
  else
    bytes = bytes + #text - redis.call('HSTRLEN', KEYS[2], key)
    redis.call('HSET', KEYS[2], key, text)
    redis.call('ZADD', KEYS[1], now, key)
    reply[#reply + 1] = ''
    reply[#reply + 1] = 0
  end
  redis.call('ZREM', KEYS[3], key)
end
while redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[2]) or bytes > tonumber(ARGV[3]) do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0)
  if #oldest == 0 then
    bytes = 0
    break
  end
  evict(oldest[1])
end
redis.call('SET', KEYS[4], string.format('%.0f', bytes))
for _, key in ipairs({ KEYS[1], KEYS[2], KEYS[4] }) do redis.call('PEXPIRE', key, ARGV[1] * 2) end
return reply`
}

const READ: Script = {
  name: 'millraceReadReadings',
  keys: 2,
  lua: `${STORED}
local reply = {}
for at = 2, #ARGV do
  local text, age = stored(ARGV[at], ARGV[1])
  reply[#reply + 1] = text
  reply[#reply + 1] = age
end
return reply`
}

const RELEASE: Script = {
  name: 'millraceReleaseReadings',
  keys: 1,
  lua: `return redis.call('ZREM', KEYS[1], unpack(ARGV))`
}

const reply = z.array(z.union([z.string(), z.int().nonnegative()]))
const state = z.enum(['stored', 'claimed', 'elsewhere'])

/** Limits of the stored readings, of which each has a default. */
interface ReadingLimits {
  readonly ttlMs?: number
  readonly countMax?: number
  readonly bytesMax?: number
  readonly claimMs?: number
}

/** Readings of accounts in Redis. All times are the server's, so the clocks of the processes do not matter. */
export class RedisSharedReadings implements SharedReadings {
  readonly #connection: RedisConnection
  readonly #hints: HintChannel<readonly string[]>
  readonly #limits: Required<ReadingLimits>
  readonly #claim: RunScript
  readonly #put: RunScript
  readonly #read: RunScript
  readonly #release: RunScript

  constructor(
    connection: RedisConnection,
    hints: HintChannel<readonly string[]>,
    {
      ttlMs = TTL_MS,
      countMax = COUNT_MAX,
      bytesMax = BYTES_MAX,
      claimMs = READING_CLAIM_MS
    }: ReadingLimits = {}
  ) {
    this.#connection = connection
    this.#hints = hints
    this.#limits = { ttlMs, countMax, bytesMax, claimMs }
    this.#claim = connection.define(CLAIM)
    this.#put = connection.define(PUT)
    this.#read = connection.define(READ)
    this.#release = connection.define(RELEASE)
  }

  get available(): boolean {
    return this.#connection.available
  }

  get notifies(): boolean {
    return this.#hints.available
  }

  async claim(
    asks: readonly { readonly key: string; readonly freshMs: number }[]
  ): Promise<readonly ReadingClaim[]> {
    const { ttlMs, claimMs } = this.#limits
    const args = [ttlMs, claimMs, ...asks.flatMap(({ key, freshMs }) => [key, freshMs])]
    const found = reply.parse(await this.#claim(this.#keys('times', 'texts', 'claims'), args))
    return asks.map(({ key }, at) => ({
      state: state.parse(found[3 * at]),
      stored: storedReading(key, found[3 * at + 1], Number(found[3 * at + 2]))
    }))
  }

  async put(readings: readonly SharedReading[]): Promise<readonly (StoredReading | null)[]> {
    const { ttlMs, countMax, bytesMax } = this.#limits
    const written = readings.flatMap((each) => [each.key, each.slot, storedText(each)])
    const found = reply.parse(
      await this.#put(this.#keys('times', 'texts', 'claims', 'bytes'), [
        ttlMs,
        countMax,
        bytesMax,
        ...written
      ])
    )
    const newer = readings.map(({ key }, at) => storedReading(key, found[2 * at], Number(found[2 * at + 1])))
    const changed = readings.flatMap(({ key }, at) => (newer[at] === null ? [key] : []))
    if (changed.length > 0) this.#hints.publish(changed)
    return newer
  }

  async release(keys: readonly string[]): Promise<void> {
    await this.#release(this.#keys('claims'), keys)
  }

  async read(keys: readonly string[]): Promise<readonly (StoredReading | null)[]> {
    const found = reply.parse(await this.#read(this.#keys('times', 'texts'), [this.#limits.ttlMs, ...keys]))
    return keys.map((key, at) => storedReading(key, found[2 * at], Number(found[2 * at + 1])))
  }

  subscribe(heard: (keys: readonly string[] | null) => void): () => void {
    return this.#hints.subscribe(heard)
  }

  #keys(...names: readonly string[]): string[] {
    return names.map((name) => this.#connection.key('readings', name))
  }
}
